#include <tollgate/model/delivery.hpp>

#include <catch2/catch.hpp>

#include <set>
#include <string>

using namespace tollgate;

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
