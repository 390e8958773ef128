#include <tollgate/webhooks/retry_schedule.hpp>

#include <catch2/catch.hpp>

#include <string>

using namespace tollgate;

namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr instant now = from_unix_seconds(1'700'000'000);
constexpr std::uint32_t least = 0, middle = 0x7fffffff, most = 0xffffffff;

attempt_result judge(unsigned attempts_made, unsigned status, std::uint32_t chance = middle, std::string_view retry_after = {},
                 attempt_end end = attempt_end::answered) {
    const due_delivery delivery{.lease = {delivery_id{7}, 3}, .hook = hook_id{1}, .event = nullptr, .message_id = {}, .type = {},
                                .target_url = "https://shop.example/hook", .secret = {}, .previous_secrets = {}, .attempts_made = attempts_made};
    return judge_attempt({}, delivery, {{.at = now, .end = end, .status = status, .response = "text"}, retry_after}, now, chance);
}

/// Within the rounding error of a double.
bool is_about(instant at, milliseconds wait) {
    const milliseconds off = at - (now + wait);
    return off >= milliseconds{-1} && off <= milliseconds{1};
}

}  // namespace

TEST_CASE("a 2xx delivers, whichever attempt it was") {
    for (const unsigned status : {200U, 201U, 202U, 204U, 299U})
        for (const unsigned attempts_made : {0U, 3U, 7U, 100U}) {
            const auto result = judge(attempts_made, status);
            CHECK(result.outcome == delivery_outcome::delivered);
            CHECK(result.lease == delivery_lease{delivery_id{7}, 3});
            CHECK(result.target_url == "https://shop.example/hook");
            CHECK(result.attempt.status == status);
            CHECK(result.attempt.response == "text");
        }
}

TEST_CASE("a status counts only if there was a response") {
    for (const auto end : {attempt_end::timed_out, attempt_end::broken_off, attempt_end::bad_response}) {
        CHECK(judge(0, 200, middle, {}, end).outcome == delivery_outcome::retry);
        CHECK(judge(0, 410, middle, {}, end).outcome == delivery_outcome::retry);
    }
}

TEST_CASE("410 disables the hook") {
    for (const unsigned attempts_made : {0U, 7U}) CHECK(judge(attempts_made, 410).outcome == delivery_outcome::gone);
}

TEST_CASE("other results are retried as planned, seven times, and then given up") {
    const milliseconds planned[] = {seconds{5}, minutes{5}, minutes{30}, hours{2}, hours{5}, hours{10}, hours{10}};
    for (const unsigned status : {0U, 199U, 300U, 301U, 302U, 307U, 308U, 400U, 401U, 404U, 408U, 429U, 500U, 503U, 599U, 999U}) {
        const auto end = status == 0 ? attempt_end::no_connection : attempt_end::answered;
        for (unsigned i = 0; i < 7; ++i) {
            const auto result = judge(i, status, middle, {}, end);
            CHECK(result.outcome == delivery_outcome::retry);
            CHECK(is_about(result.retry_at, planned[i]));
            CHECK(result.disable_if_failing_since == now - hours{120});
        }
        const auto last = judge(7, status, middle, {}, end);
        CHECK(last.outcome == delivery_outcome::given_up);
        CHECK(last.disable_if_failing_since == now - hours{120});
    }
}

TEST_CASE("a wait varies randomly by a fifth") {
    CHECK(is_about(judge(1, 500, least).retry_at, minutes{4}));
    CHECK(is_about(judge(1, 500, most).retry_at, minutes{6}));
    for (std::uint32_t chance = 1; chance < 4'000'000'000U; chance += 199'999'999U) {
        const instant at = judge(1, 500, chance).retry_at;
        CHECK(at >= now + minutes{4});
        CHECK(at <= now + minutes{6});
    }
}

TEST_CASE("Retry-After is honored up to 24 hours, and a little later by chance, but not later than the next planned attempt") {
    struct row {
        unsigned attempts_made;
        const char* header;
        milliseconds earliest, latest;
    };
    // After the second attempt the planned waits end: in 5 min, 35 min, 2 h 35 min, 7 h 35 min, 17 h 35 min, 27 h 35 min.
    for (const auto& [attempts_made, header, earliest, latest] :
         {row{1, "1", minutes{5}, minutes{6}}, {1, "0", minutes{5}, minutes{6}}, {1, "300", minutes{5}, minutes{6}},
          {1, "420", minutes{7}, seconds{504}}, {1, "601", seconds{601}, milliseconds{721'200}},
          {1, "1920", minutes{32}, minutes{35}}, {1, "2100", minutes{35}, minutes{42}}, {1, "7200", minutes{120}, minutes{144}},
          {1, "9000", minutes{150}, minutes{155}}, {1, "82800", hours{23}, hours{24}}, {1, "86400", hours{24}, hours{24}},
          {1, "999999999", hours{24}, hours{24}}, {6, "39600", hours{11}, minutes{792}}, {6, "36000", hours{10}, hours{12}},
          {1, "Tue, 14 Nov 2023 22:20:20 GMT", minutes{7}, seconds{504}},
          {1, "Sun, 06 Nov 1994 08:49:37 GMT", minutes{5}, minutes{6}}, {1, "soon", minutes{4}, minutes{6}},
          {1, "-1", minutes{4}, minutes{6}}}) {
        INFO(header);
        for (const unsigned status : {429U, 503U}) {
            CHECK(is_about(judge(attempts_made, status, least, header).retry_at, earliest));
            CHECK(is_about(judge(attempts_made, status, most, header).retry_at, latest));
            CHECK(judge(attempts_made, status, middle, header).retry_at >= now + earliest);
        }
    }
    CHECK(judge(7, 429, middle, "1").outcome == delivery_outcome::given_up);
}

TEST_CASE("a planned wait of more than 24 hours is not shortened by Retry-After") {
    retry_schedule schedule;
    schedule.waits = {hours{48}, hours{1}};
    const due_delivery delivery{.lease = {delivery_id{7}, 3}, .hook = hook_id{1}, .event = nullptr, .message_id = {}, .type = {},
                                .target_url = {}, .secret = {}, .previous_secrets = {}, .attempts_made = 0};
    const attempt finished{.at = now, .end = attempt_end::answered, .status = 429, .response = {}};
    for (const char* header : {"1", "172000", "999999999"})
        CHECK(judge_attempt(schedule, delivery, {finished, header}, now, least).retry_at >= now + hours{48});
}
