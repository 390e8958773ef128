#include <tollgate/web/texts.hpp>

#include <tollgate/web/german.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

using namespace tollgate;

namespace {

// The structs of texts consist of string_views only, so that a test can iterate over them without their names.
static_assert(std::is_trivially_copyable_v<page_texts> && sizeof(page_texts) % sizeof(std::string_view) == 0 &&
              alignof(page_texts) == alignof(std::string_view));

std::vector<std::string_view> all_of(const page_texts& texts) {
    std::vector<std::string_view> all(sizeof texts / sizeof(std::string_view));
    std::memcpy(static_cast<void*>(all.data()), &texts, sizeof texts);
    return all;
}

std::size_t places_in(std::string_view text) {
    std::size_t found = 0;
    for (auto at = text.find("{}"); at != std::string_view::npos; at = text.find("{}", at + 2)) ++found;
    return found;
}

/// Texts that are the same in German.
const std::set<std::string_view> shared = {
    "(optional)", "API", "Administrator", "Browser", "Code", "ID", "Name", "URL", "Webhooks", "Website", "{} ms", "{} s",
};

}  // namespace

TEST_CASE("German texts are complete") {
    const auto english = all_of(page_texts{});
    const auto german = all_of(german_texts());
    REQUIRE(english.size() == german.size());
    for (std::size_t i = 0; i < english.size(); ++i) {
        CAPTURE(english[i], german[i]);
        if (english[i].empty()) continue;  // set by the integrator
        CHECK_FALSE(german[i].empty());
        CHECK((german[i] != english[i] || shared.contains(english[i])));
        // A text with fewer placeholders would omit a value.
        CHECK(places_in(german[i]) == places_in(english[i]));
    }
}

TEST_CASE("German texts address the reader formally and are typeset") {
    for (const auto text : all_of(german_texts())) {
        CAPTURE(text);
        for (const auto* informal : {" du ", "dein", "Dein", " dich", " dir "}) CHECK(text.find(informal) == std::string_view::npos);
        // A confirmation says what will happen, and a session is ended, not signed out.
        for (const auto* wrong : {"ab sofort nicht mehr", "wurde abgemeldet", "{}, {}."}) CHECK(text.find(wrong) == std::string_view::npos);
        CHECK(text.find('"') == std::string_view::npos);
        CHECK(text.find("  ") == std::string_view::npos);
    }
}
