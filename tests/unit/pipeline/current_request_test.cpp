#include <tollgate/pipeline/current_request.hpp>

#include <tollgate/api/account_api.hpp>

#include <support/shop.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace tollgate;
using namespace tollgate_test;

namespace {

/// Notes the ids of the request for which it is called.
struct logging_directory : shop_directory {
    std::vector<std::string> lines;
    result<balance> balance_of(user_id user) {
        const auto ids = current_request();
        lines.push_back(ids ? std::string{ids->id}.append(" ").append(ids->trace_id).append(" ").append(ids->span_id) : "none");
        return shop_directory::balance_of(user);
    }
};

}  // namespace

TEST_CASE("a directory knows the request for which it is called", "[pipeline][current_request]") {
    CHECK_FALSE(current_request());
    auto shop = make_shop();
    logging_directory users;
    users.people = shop.users.people;
    account_api api{shop_settings(), users, shop.store,
                    balance_routes() + route_table{on_get<"/ids">(open_to_all, [](api_call& call) -> result<void> {
                        call.response().body() = call.ids().id;
                        return {};
                    })}};
    const auto token = shop.personal_token(ann, "user:balance");
    test_request request{http::method::get, "/v1/user/balance"};
    request.basic(token.username, token.secret).field("X-Request-Id", "mine-1");
    request.field("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    CHECK(api.handle(request.view()).find("X-Request-Id") == "mine-1");
    REQUIRE(users.lines.size() == 1);
    CHECK(users.lines[0].starts_with("mine-1 0af7651916cd43dd8448eb211c80319c "));
    CHECK_FALSE(current_request());

    test_request other{http::method::get, "/v1/ids"};
    const auto response = api.handle(other.view());
    CHECK(response.body() == response.find("X-Request-Id"));
    CHECK(response.body().size() == 32);
}

TEST_CASE("a request within another one is the current one until it ends", "[pipeline][current_request]") {
    const auto outer_id = http::unique_id::make();
    const auto inner_id = http::unique_id::make();
    const http::request request;
    const pipeline::request_scope outer{request, outer_id};
    {
        const pipeline::request_scope inner{request, inner_id};
        CHECK(current_request()->id == inner_id.view());
    }
    CHECK(current_request()->id == outer_id.view());
    CHECK(current_request()->span_id == outer_id.span());
}
