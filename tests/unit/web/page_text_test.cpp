#include <tollgate/web/detail/page.hpp>

#include <catch2/catch.hpp>

#include <string>

using namespace tollgate;
using namespace tollgate::web;

TEST_CASE("waiting times are rounded up") {
    const duration_texts texts;
    CHECK(duration_text(seconds{0}, texts) == "1 second");
    CHECK(duration_text(seconds{1}, texts) == "1 second");
    CHECK(duration_text(seconds{90}, texts) == "90 seconds");
    CHECK(duration_text(seconds{91}, texts) == "2 minutes");
    CHECK(duration_text(seconds{120}, texts) == "2 minutes");
    CHECK(duration_text(seconds{121}, texts) == "3 minutes");
    CHECK(duration_text(seconds{90 * 60}, texts) == "90 minutes");
    CHECK(duration_text(seconds{90 * 60 + 1}, texts) == "2 hours");
}

TEST_CASE("a date is readable for people and programs") {
    std::string text;
    html_writer html{text};
    write_day(html, from_unix_seconds(951'868'799));
    CHECK(text == "<time datetime=\"2000-02-29T23:59:59Z\">29 Feb 2000</time>");
}

TEST_CASE("every status has a text, also unknown ones") {
    const error_texts texts;
    CHECK(&message_for(http::status::not_found, texts) == &texts.not_found);
    CHECK(&message_for(http::status::forbidden, texts) == &texts.forbidden);
    CHECK(&message_for(http::status::bad_request, texts) == &texts.malformed);
    CHECK(&message_for(http::status::method_not_allowed, texts) == &texts.method);
    CHECK(&message_for(http::status::content_too_large, texts) == &texts.too_large);
    CHECK(&message_for(http::status::not_implemented, texts) == &texts.method);
    CHECK(&message_for(http::status::unsupported_media_type, texts) == &texts.media_type);
    CHECK(&message_for(http::status::service_unavailable, texts) == &texts.unavailable);
    CHECK(&message_for(http::status::internal_server_error, texts) == &texts.internal);
    CHECK(&message_for(http::status::conflict, texts) == &texts.other);
}

TEST_CASE("a scope without a text is shown as it is") {
    scope_text_list texts;
    texts.add("a:read", "Read it");
    CHECK(texts.find("a:read") == "Read it");
    CHECK(texts.find("a") == "a");
}
