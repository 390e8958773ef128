#include <tollgate/pipeline/page_text.hpp>

#include <catch2/catch.hpp>

#include <string>

using namespace tollgate;
using namespace tollgate::pipeline;

TEST_CASE("how long to wait is never said too short") {
    const duration_words words;
    CHECK(duration_text(seconds{0}, words) == "one second");
    CHECK(duration_text(seconds{1}, words) == "one second");
    CHECK(duration_text(seconds{90}, words) == "90 seconds");
    CHECK(duration_text(seconds{91}, words) == "2 minutes");
    CHECK(duration_text(seconds{120}, words) == "2 minutes");
    CHECK(duration_text(seconds{121}, words) == "3 minutes");
    CHECK(duration_text(seconds{90 * 60}, words) == "90 minutes");
    CHECK(duration_text(seconds{90 * 60 + 1}, words) == "2 hours");
}

TEST_CASE("a day is there for people and for programs") {
    std::string text;
    http::html_writer html{text};
    write_day(html, from_unix_seconds(951'868'799));
    CHECK(text == "<time datetime=\"2000-02-29T23:59:59Z\">29 Feb 2000</time>");
}

TEST_CASE("every status that pages answer with has words of its own, and others have some") {
    const error_words words;
    CHECK(&message_for(http::status::not_found, words) == &words.not_found);
    CHECK(&message_for(http::status::forbidden, words) == &words.forbidden);
    CHECK(&message_for(http::status::bad_request, words) == &words.malformed);
    CHECK(&message_for(http::status::method_not_allowed, words) == &words.method);
    CHECK(&message_for(http::status::content_too_large, words) == &words.too_large);
    CHECK(&message_for(http::status::unsupported_media_type, words) == &words.media_type);
    CHECK(&message_for(http::status::service_unavailable, words) == &words.unavailable);
    CHECK(&message_for(http::status::internal_server_error, words) == &words.internal);
    CHECK(&message_for(http::status::conflict, words) == &words.other);
}

TEST_CASE("a scope without words stands for itself") {
    scope_texts texts;
    texts.add("a:read", "Read it");
    CHECK(texts.find("a:read") == "Read it");
    CHECK(texts.find("a") == "a");
}
