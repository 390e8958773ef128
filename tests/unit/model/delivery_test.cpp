#include <tollgate/model/delivery.hpp>

#include <catch2/catch.hpp>

#include <optional>
#include <set>
#include <string>
#include <tuple>

using namespace tollgate;

namespace {

using enum delivery_outcome;

constexpr instant at(int second) { return instant{} + seconds{1'000'000 + second}; }

}  // namespace

TEST_CASE("a webhook-id is determined by its event and hook") {
    message_seed seed{};
    std::set<std::string> seen;
    for (int first = 0; first < 4; ++first) {
        seed[0] = static_cast<std::byte>(first);
        for (std::int64_t hook = 1; hook <= 50; ++hook) {
            const auto id = message_id_of(seed, hook_id{hook});
            CHECK(id == message_id_of(seed, hook_id{hook}));
            CHECK(id.view().starts_with("msg_"));
            CHECK(seen.insert(std::string{id.view()}).second);
        }
    }
}

TEST_CASE("the webhook-id does not change between releases") {
    // Deliveries in a store keep their ids.
    CHECK(message_id_of(message_seed{}, hook_id{7}).view() == "msg_1QHWgP0V15VHpGyKM6ZSdu");
}

TEST_CASE("an outcome decides the state of a delivery, unless it is resent or its hook is disabled") {
    struct row {
        delivery_outcome outcome;
        bool resend_requested, is_disabled;
        delivery_state state;
        instant at;
        unsigned attempts_made;  // after 2
    };
    const instant now = at(10), later = at(60);
    using state = delivery_state;
    for (const row& each : {
             row{delivered, false, false, state::delivered, now, 3},
             row{delivered, false, true, state::delivered, now, 3},
             row{delivered, true, false, state::waiting, now, 0},
             row{delivered, true, true, state::held, now, 0},
             row{retry, false, false, state::waiting, later, 3},
             row{retry, false, true, state::held, now, 3},
             row{retry, true, false, state::waiting, now, 0},
             row{retry, true, true, state::held, now, 0},
             row{given_up, false, false, state::given_up, now, 3},
             row{given_up, false, true, state::given_up, now, 3},
             row{given_up, true, false, state::waiting, now, 0},
             row{given_up, true, true, state::held, now, 0},
             row{gone, false, false, state::given_up, now, 3},
             row{gone, false, true, state::given_up, now, 3},
             row{gone, true, false, state::held, now, 0},
             row{gone, true, true, state::held, now, 0},
             row{not_attempted, false, false, state::waiting, later, 2},
             row{not_attempted, false, true, state::held, now, 2},
             row{not_attempted, true, false, state::waiting, now, 2},
             row{not_attempted, true, true, state::held, now, 2},
         }) {
        CAPTURE(static_cast<int>(each.outcome), each.resend_requested, each.is_disabled);
        leased_delivery before{2, each.resend_requested, {}};
        if (each.is_disabled) before.hook.disabled = hook_disablement{at(1), disable_reason::failing};
        attempt_result ended{.lease = {delivery_id{1}, 1}, .attempt = {.at = at(9)}, .outcome = each.outcome, .retry_at = later};
        const auto after = complete_delivery(before, ended, now);
        CHECK(after.state == each.state);
        CHECK(after.at == each.at);
        CHECK(after.attempts_made == each.attempts_made);
        const bool is_disabled_now = each.outcome == gone && !each.is_disabled;
        CHECK((after.result == (is_disabled_now ? completion::hook_disabled : completion::done)));
        CHECK((after.hook.disabled == (is_disabled_now ? hook_disablement{now, disable_reason::gone} : before.hook.disabled)));
    }
}

TEST_CASE("a series of failures lasts until a success or a long pause, and disables a hook that fails for too long") {
    struct row {
        const char* name;
        std::optional<instant> failing_since, last_failure_at;
        delivery_outcome outcome;
        instant made_at;
        std::optional<instant> disable_if_failing_since;
        std::optional<instant> since_after, last_after;
        std::optional<disable_reason> disabled{};
    };
    const std::optional<instant> none;
    const disable_reason failing = disable_reason::failing;
    for (const row& each : {
             row{"success without failures", none, none, delivered, at(9), at(5), none, none},
             row{"success after failures", at(2), at(3), delivered, at(9), at(5), none, at(3)},
             row{"first failure", none, none, retry, at(9), at(5), at(9), at(9)},
             row{"first failure after a success", none, at(3), retry, at(9), none, at(9), at(9)},
             row{"first failure that is given up", none, none, given_up, at(9), at(5), at(9), at(9)},
             row{"first failure that is over the bound alone", none, none, retry, at(4), at(5), at(4), at(4), failing},
             row{"another failure, no bound", at(2), at(3), retry, at(9), none, at(2), at(9)},
             row{"another failure, within the bound", at(6), at(7), retry, at(9), at(5), at(6), at(9)},
             row{"another failure, at the bound", at(5), at(7), retry, at(9), at(5), at(5), at(9), failing},
             row{"another failure, beyond the bound", at(2), at(7), given_up, at(9), at(5), at(2), at(9), failing},
             row{"the last failure at the bound", at(2), at(5), retry, at(9), at(5), at(2), at(9), failing},
             row{"the last failure before the bound", at(2), at(4), retry, at(9), at(5), at(9), at(9)},
             row{"unknown last failure", at(2), none, retry, at(9), at(5), at(9), at(9)},
             row{"an attempt that began earlier", at(6), at(9), retry, at(8), at(5), at(6), at(9)},
             row{"gone", none, none, gone, at(9), none, at(9), at(9), disable_reason::gone},
             row{"gone, and failing for too long", at(2), at(7), gone, at(9), at(5), at(2), at(9), disable_reason::gone},
             row{"not attempted", at(2), at(7), not_attempted, at(9), at(5), at(2), at(7)},
         })
        for (const bool was_disabled : {false, true}) {
            CAPTURE(each.name, was_disabled);
            leased_delivery before{.hook = {{}, each.failing_since, each.last_failure_at}};
            if (was_disabled) before.hook.disabled = hook_disablement{at(1), disable_reason::gone};
            const attempt_result ended{.lease = {delivery_id{1}, 1}, .attempt = {.at = each.made_at}, .outcome = each.outcome,
                                       .retry_at = at(60), .disable_if_failing_since = each.disable_if_failing_since};
            const auto after = complete_delivery(before, ended, at(10));
            CHECK(after.hook.failing_since == each.since_after);
            CHECK(after.hook.last_failure_at == each.last_after);
            if (was_disabled || !each.disabled) {
                CHECK((after.result == completion::done));
                CHECK((after.hook.disabled == before.hook.disabled));
            } else {
                CHECK((after.result == completion::hook_disabled));
                CHECK((after.hook.disabled == hook_disablement{at(10), *each.disabled}));
                CHECK((after.state == (each.outcome == retry ? delivery_state::held : delivery_state::given_up)));
            }
        }
}

TEST_CASE("an attempt to another target than the hook has now leaves the hook's status as it is") {
    struct row {
        delivery_outcome outcome;
        delivery_state state;
        instant at;
    };
    const instant now = at(10), later = at(60);
    for (const row& each : {row{delivered, delivery_state::delivered, now}, row{retry, delivery_state::waiting, later},
                            row{given_up, delivery_state::given_up, now}, row{gone, delivery_state::waiting, now}})
        for (const auto& [sent_to, target, counts] : {std::tuple{"https://old.example/", "https://new.example/", false},
                                                      {"https://new.example/", "https://new.example/", true},
                                                      {"", "https://new.example/", true},
                                                      {"https://old.example/", "", true}}) {
            CAPTURE(static_cast<int>(each.outcome), sent_to, target);
            const leased_delivery before{2, false, {{}, at(2), at(3)}, target};
            const attempt_result ended{.lease = {delivery_id{1}, 1}, .target_url = sent_to, .attempt = {.at = at(9)},
                                       .outcome = each.outcome, .retry_at = later};
            const auto after = complete_delivery(before, ended, now);
            CHECK((after.hook == before.hook) == !counts);
            CHECK(after.attempts_made == 3);
            if (counts && each.outcome == gone) {
                CHECK((after.result == completion::hook_disabled));
                continue;
            }
            CHECK((after.result == completion::done));
            CHECK(after.state == each.state);
            CHECK(after.at == each.at);
        }
}
