#include <tollgate/webhooks/publish.hpp>

#include <tollgate/store/memory.hpp>
#include <tollgate/testing/detail/delivering.hpp>
#include <tollgate/testing/detail/samples.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <set>
#include <span>
#include <string>

using namespace tollgate;
using namespace tollgate::testing;
using namespace tollgate::testing::detail;

namespace {

service_catalog two_services() {
    service_catalog services;
    value_of(services.add("sitesmaker", {"site.published", "site.created"}));
    value_of(services.add("itemplatform", {"item.created"}));
    return services;
}

struct no_random {
    bool fill(std::span<std::byte>) const noexcept { return false; }
};

/// An outbox that fails.
struct full_outbox {
    result<std::size_t> append_event(const event&, const message_seed&, instant) { return unavailable("disk full"); }
};

}  // namespace

TEST_CASE("a published event has one delivery per hook, and its own ids") {
    memory_store store;
    const auto services = two_services();
    const auto account = sample_account();
    CHECK(value_of(publish(store, services, sample_event(account), noon)) == 0);
    listen(store, account);
    listen(store, account);
    CHECK(value_of(publish(store, services, sample_event(account), noon)) == 2);
    CHECK(value_of(publish(store, services, sample_event(account), noon)) == 2);
    std::set<public_id> ids;
    for (const due_delivery& each : lease_due_at(store, noon)) {
        CHECK_THAT(std::string{each.message_id.view()}, Catch::StartsWith("msg_"));
        CHECK(ids.insert(each.message_id).second);
        CHECK(each.event->data == sample_event(account).data);
    }
    CHECK(ids.size() == 4);
}

TEST_CASE("an invalid event is refused with the member's name, and nothing is written") {
    memory_store store;
    const auto services = two_services();
    const auto account = sample_account();
    listen(store, account);
    listen(store, sample_account("unheard-of"));
    const auto refused = [&](const event& reported, const std::string& member) {
        const auto result = publish(store, services, reported, noon);
        expect_error(result, error_kind::invalid);
        CHECK_THAT(result.error().message, Catch::StartsWith(member + " "));
        CHECK(lease_due_at(store, noon).empty());
    };
    refused(sample_event(sample_account("unheard-of")), "service");
    refused(sample_event(account, "item.created"), "event");
    refused(sample_event(account, "site.Published"), "event");
    refused(sample_event(account, ""), "event");
    for (const std::string& data :
         {std::string{}, std::string{"{"}, std::string{"{} {}"}, std::string{"nul"}, std::string{"'a'"},
          std::string{"\"\xff\""}, std::string{"\"\xed\xa0\x80\""}, std::string{"1\0", 2},
          std::string{"\xef\xbb\xbf{}"}, std::string{R"({"a": 1, "a": 2})"}, std::string{"[1,]"}, std::string{"NaN"},
          std::string(65, '[') + std::string(65, ']'), std::string(limits::event_data_bytes_max + 1, '7')}) {
        CAPTURE(data.substr(0, 20));
        auto reported = sample_event(account);
        reported.data = data;
        refused(reported, "data");
    }
    for (const std::string& data :
         {std::string{"null"}, std::string{"0"}, std::string{"\"\xe2\x82\xac\""}, std::string{" [1, {\"a\": {}}] "},
          std::string{"-1.5e3"}, '"' + std::string(limits::event_data_bytes_max - 2, 'x') + '"'}) {
        auto reported = sample_event(account);
        reported.data = data;
        CHECK(value_of(publish(store, services, reported, noon)) == 1);
        CHECK(lease_one(store, noon).event->data == data);
    }
}

TEST_CASE("without randomness or capacity nothing is published") {
    memory_store store;
    const auto services = two_services();
    listen(store, sample_account());
    expect_error(publish(store, services, sample_event(sample_account()), noon, no_random{}), error_kind::internal);
    CHECK(lease_due_at(store, noon).empty());
    full_outbox full;
    expect_error(publish(full, services, sample_event(sample_account()), noon), error_kind::unavailable);
}
