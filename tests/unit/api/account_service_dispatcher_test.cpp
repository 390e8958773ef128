#include <tollgate/api/account_service.hpp>
#include <tollgate/webhooks/hook_dispatcher.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <support/shop.hpp>
#include <tollgate/account/issue_hook.hpp>
#include <tollgate/webhooks/publish.hpp>

#include <functional>

using namespace tollgate;
using namespace tollgate_test;

TEST_CASE("a dispatcher shares the policies of a service", "[api][account_service]") {
    instant now = from_unix_seconds(1'700'000'000);
    shop_directory users;
    memory_store store;
    account_service service{{.base_url = "https://shop.example/v1", .services = {{"sitesmaker", {"site.created"}}}}, users, store,
                            default_policies().with_clock(fake_clock{&now})};
    hook_dispatcher dispatcher{store, {.lease_max = 8}, service.policies()};

    const account_ref account{*service_name::from("sitesmaker"), account_id{1}};
    REQUIRE(issue_hook(store, service.services(), {account, "site.created", "https://hooks.example/"}, now));
    const auto deliveries =
        publish(dispatcher, service.services(), {.account = account, .name = "site.created", .data = "{}", .at = now}, now);
    REQUIRE(deliveries);
    CHECK(*deliveries == 1);
    CHECK_FALSE(publish(dispatcher, service.services(), {.account = account, .name = "site.other", .data = "{}", .at = now}, now));

    asio::io_context context;
    hook_dispatcher on_executor{context.get_executor(), store, {.lease_max = 8}, service.policies()};
    CHECK(on_executor.start());
}
