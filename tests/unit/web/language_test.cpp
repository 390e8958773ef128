#include <tollgate/web/detail/language.hpp>

#include <catch2/catch.hpp>

#include <optional>
#include <string_view>

using namespace tollgate::web;

namespace {

constexpr std::string_view offered[] = {"en", "de", "pt-BR"};

std::string_view text_of(std::optional<std::size_t> found) { return found ? offered[*found] : "none"; }

}  // namespace

TEST_CASE("a language tag is a segment of a path") {
    for (const auto* good : {"en", "de", "pt-BR", "zh-Hant-TW", "de-1996"}) CHECK(is_language_tag(good));
    for (const auto* bad : {"", "e", "-en", "en-", "en/", "e n", "..", "en_US", "d\xc3\xa4"}) CHECK_FALSE(is_language_tag(bad));
}

TEST_CASE("a range finds its language, or the less specific one") {
    for (const auto& [range, expected] : {std::pair{"en", "en"}, {"EN", "en"}, {"de-AT", "de"}, {"de-Latn-AT-1996", "de"},
                                          {"pt-br", "pt-BR"}, {"pt-BR-x", "pt-BR"}, {"pt", "none"}, {"fr", "none"},
                                          {"", "none"}, {"d", "none"}, {"den", "none"}, {"*", "none"}}) {
        CAPTURE(range);
        CHECK(text_of(find_language(range, offered)) == expected);
    }
}

TEST_CASE("the language that a browser prefers is chosen") {
    for (const auto& [field, expected] : {
             std::pair{"de", "de"},
             {"de-AT, de;q=0.9, en;q=0.8", "de"},
             {"fr, en;q=0.5, de;q=0.7", "de"},
             {"en;q=0.5,de;q=0.51", "de"},
             {"de;q=0.5, en;q=0.5", "de"},  // the first of equal ones
             {"en;q=0, de;q=0.1", "de"},
             {"en ; q=0.1 , de ; Q=0.2", "de"},
             {"*", "en"},
             {"fr, *;q=0.1", "en"},
             {"de;q=1.000, en", "de"},
             {"", "none"},
             {"fr, it;q=0.9", "none"},
             {"de;q=0", "none"},
             {"de;q=", "none"},
             {"de;q=x, en;q=0.-5", "none"},
             {",,;;,", "none"},
         }) {
        CAPTURE(field);
        CHECK(text_of(accepted_language(field, offered)) == expected);
    }
    CHECK_FALSE(accepted_language("*", {}));
}

TEST_CASE("an application can request a language") {
    for (const auto& [locales, expected] : {std::pair{"de", "de"}, {"fr-CA fr de-CH en", "de"}, {"en de", "en"}, {"  de  ", "de"},
                                            {"", "none"}, {"fr", "none"}}) {
        CAPTURE(locales);
        CHECK(text_of(ui_language(locales, offered)) == expected);
    }
}
