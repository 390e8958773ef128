#include <tollgate/pages/detail/page.hpp>

#include <catch2/catch.hpp>

#include <string>

using namespace tollgate;
using namespace tollgate::pages;

TEST_CASE("each page has a path, and each path its page") {
    for (const auto where : {page::sign_in, page::sign_out, page::tokens, page::applications, page::authorizations,
                             page::webhooks, page::activity, page::overview, page::start}) {
        const auto path = std::string{find_path(where).path()};
        CAPTURE(path);
        CHECK(find_page(path).page == where);
        CHECK_FALSE(find_page(path).slash_missing);
        const auto without_slash = path.substr(0, path.size() - 1);
        CHECK(find_page(without_slash).page == where);
        CHECK(find_page(without_slash).slash_missing);
        CHECK(find_page("/x" + path).page == page::none);
        CHECK(find_page(path + "x").page == page::none);
    }
    CHECK(find_path(page::tokens).pattern == "/{language}/user/settings/tokens/");
}

TEST_CASE("a local target cannot be read as another host") {
    for (const auto* good : {"/", "/a", "/a?b=//c", "/a//b", "/%2F%2Fevil.example", "/a?b={[c]}|^`\\"}) CHECK(is_local_target(good));
    for (const auto* bad :
         {"", "a", "//a", "///a", "/\\a", "\\a", "/a\\b", "/a b", "/a\n", "/\ta", "/\x7f", "/\xc3\xa4", "https://a"})
        CHECK_FALSE(is_local_target(bad));
    CHECK_FALSE(is_local_target("/" + std::string(8 * 1024, 'a')));
}
