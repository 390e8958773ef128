#include <tollgate/pipeline/detail/identify.hpp>

#include <catch2/catch.hpp>

using namespace tollgate;

TEST_CASE("an Authorization field is a scheme and what follows its spaces", "[pipeline][identify]") {
    struct row {
        const char* value;
        const char* scheme;
        const char* credentials;
    };
    const auto each = GENERATE(row{"Basic abc", "Basic", "abc"}, row{"Basic   abc", "Basic", "abc"}, row{"Basic", "Basic", ""},
                               row{"Basic ", "Basic", ""}, row{"", "", ""}, row{"Bearer a b", "Bearer", "a b"},
                               row{"Bearer\tabc", "Bearer\tabc", ""});
    const auto split = pipeline::split_authorization(each.value);
    CHECK(split.scheme == each.scheme);
    CHECK(split.credentials == each.credentials);
}
