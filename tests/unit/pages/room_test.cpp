#include <tollgate/pages/detail/page.hpp>

#include <catch2/catch.hpp>

#include <string>

using namespace tollgate;
using namespace tollgate::pages;

TEST_CASE("each room has a path, and each path its room") {
    for (const auto where : {room::sign_in, room::sign_out, room::tokens, room::applications, room::authorizations,
                             room::webhooks, room::start}) {
        const auto path = std::string{path_of(where)};
        CAPTURE(path);
        CHECK(find_room(path, "").where == where);
        CHECK_FALSE(find_room(path, "").slash_missing);
        CHECK(find_room("/account" + path, "/account").where == where);
        CHECK(find_room("/account" + path, "").where == room::none);
        CHECK(find_room(path, "/account").where == room::none);
        const auto bare = path.substr(0, path.size() - 1);
        CHECK(find_room("/account" + bare, "/account").where == where);
        CHECK(find_room("/account" + bare, "/account").slash_missing);
    }
    CHECK(find_room("/accountant/en/", "/account").where == room::none);
}

TEST_CASE("a target of this site is a path that no browser reads as another host") {
    for (const auto* good : {"/", "/a", "/a?b=//c", "/a//b", "/%2F%2Fevil.example"}) CHECK(is_local_target(good));
    for (const auto* bad :
         {"", "a", "//a", "///a", "/\\a", "\\a", "/a\\b", "/a b", "/a\n", "/\ta", "/\x7f", "/\xc3\xa4", "https://a"})
        CHECK_FALSE(is_local_target(bad));
    CHECK_FALSE(is_local_target("/" + std::string(8 * 1024, 'a')));
}
