#include <tollgate/web/detail/page.hpp>

#include <tollgate/web/german.hpp>

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
    write_day(html, from_unix_seconds(951'868'799), page_texts{}.dates);
    CHECK(text == "<time datetime=\"2000-02-29T23:59:59Z\" title=\"29 Feb 2000, 23:59:59 UTC\">29 Feb 2000</time>");
    text.clear();
    write_moment(html, from_unix_seconds(951'868'799), german_texts().dates);
    CHECK(text == "<time datetime=\"2000-02-29T23:59:59Z\">29. Feb. 2000, 23:59:59 UTC</time>");
}

TEST_CASE("an age is rounded down and has its time in a tooltip") {
    const date_texts texts;
    const auto at = from_unix_seconds(951'868'799);
    const auto age = [&](seconds old) {
        std::string text;
        html_writer html{text};
        write_age(html, at, at + old, texts);
        CHECK(text.starts_with("<time datetime=\"2000-02-29T23:59:59Z\" title=\"29 Feb 2000, 23:59:59 UTC\">"));
        const auto begin = text.find('>') + 1;
        return text.substr(begin, text.find('<', begin) - begin);
    };
    for (const auto& [old, expected] : {std::pair{0, "Just now"},
                                        {59, "Just now"},
                                        {60, "1 minute ago"},
                                        {119, "1 minute ago"},
                                        {59 * 60 + 59, "59 minutes ago"},
                                        {60 * 60, "1 hour ago"},
                                        {24 * 3600 - 1, "23 hours ago"},
                                        {24 * 3600, "1 day ago"},
                                        {30 * 24 * 3600, "30 days ago"},
                                        {30 * 24 * 3600 + 1, "29 Feb 2000"},
                                        {-1, "29 Feb 2000"}}) {
        CAPTURE(old);
        CHECK(age(seconds{old}) == expected);
    }
}

TEST_CASE("scopes are sentences with their names beside them") {
    scope_text_list texts;
    texts.add("a:read", "Read <it>");
    std::string text;
    html_writer html{text};
    write_scopes(html, *scope_set::parse("a:read b"), texts);
    CHECK(text == "<ul class=\"scopes\">\n<li>Read &lt;it&gt; <code>a:read</code></li>\n<li>b <code>b</code></li>\n</ul>\n");
}

TEST_CASE("the placeholders of a text are replaced by its arguments unchanged") {
    CHECK(fill_in("{} asks {}.", "{}", "b") == "{} asks b.");
    CHECK(fill_in("{} asks.", "a", "b") == "a asks.");
    CHECK(fill_in("Nobody asks.", "a", "b") == "Nobody asks.");
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

TEST_CASE("a scope without a text is shown unchanged") {
    scope_text_list texts;
    texts.add("a:read", "Read it");
    CHECK(texts.find("a:read") == "Read it");
    CHECK(texts.find("a") == "a");
}
