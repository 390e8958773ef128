#include <tollgate/model/settings.hpp>

#include <tollgate/api/account_service.hpp>

#include <support/shop.hpp>

#include <catch2/catch.hpp>

#include <string>

using namespace tollgate;
using namespace tollgate_test;

namespace {

// GCC 12 failed with an internal error in both templates when a member of the settings had a braced list as its initializer.

template <class Directory>
struct assembled {
    static account_service_settings settings(const std::string& url) {
        return {.base_url = url, .services = {{"shop", {"order.paid"}}}};
    }

    Directory users;
    memory_store store;
    account_service service{settings("https://shop.example/v1"), users, store};
};

template <class Directory>
http::status status_of(Directory& users, const http::request& request) {
    memory_store store;
    account_service service{account_service_settings{.base_url = "https://shop.example/v1", .services = {{"shop", {"order.paid"}}}}, users,
                            store};
    return service.handle(request).status();
}

}  // namespace

TEST_CASE("settings are written in templates", "[api][settings]") {
    test_request request{http::method::get, "/v1/user/balance"};
    assembled<shop_directory> all;
    CHECK(all.service.handle(request.view()).status() == http::status::unauthorized);
    CHECK(status_of(all.users, request.view()) == http::status::unauthorized);
}

TEST_CASE("the origin of the API is the default of auth_url", "[api][settings]") {
    struct {
        const char* base_url;
        const char* auth_url;
        const char* used;
    } const rows[] = {
        {"https://api.example.com/v1", "", "https://api.example.com"},
        {"https://api.example.com:8443/a/v1", "", "https://api.example.com:8443"},
        {"https://api.example.com", "", "https://api.example.com"},
        {"https://api.example.com/v1", "https://example.com/people//", "https://example.com/people"},
        {"", "https://example.com", "https://example.com"},
        {"api", "", "api"},
        {"", "", ""},
    };
    for (const auto& row : rows) {
        CAPTURE(row.base_url, row.auth_url);
        CHECK(with_auth_url({.base_url = row.base_url, .auth_url = row.auth_url}).auth_url == row.used);
    }
}

TEST_CASE("what a user wrote in the settings of a part is used", "[api][settings]") {
    const account_service_settings written{.base_url = "https://shop.example/v1",
                                           .documentation_url = "https://help.example/",
                                           .oauth = {.access_token_lifetime = seconds{7}},
                                           .pages = {.tokens_per_user_max = 3}};
    shop_directory users;
    memory_store store;
    const account_service service{written, users, store};
    CHECK(service.settings().documentation_url == "https://help.example/");
    CHECK(service.settings().oauth.access_token_lifetime == seconds{7});
    CHECK(service.settings().pages.tokens_per_user_max == 3);
    CHECK_FALSE(service.settings().has_authorization_server);
}
