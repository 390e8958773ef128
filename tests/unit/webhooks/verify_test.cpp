#include <tollgate/webhooks/verify.hpp>

#include <tollgate/base/detail/encoding.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

using namespace tollgate;
using namespace std::string_literals;

namespace {

// The test vector of the Standard Webhooks specification.
constexpr std::string_view secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
constexpr std::string_view body = R"({"test": 2432232314})";
constexpr webhook_headers vector_headers{.id = "msg_p5jXN8AQM9LWM0D4loKWxJek",
                                         .timestamp = "1614265330",
                                         .signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="};
constexpr instant vector_time = from_unix_seconds(1614265330);

result<void> verify(const webhook_headers& headers, instant now = vector_time) {
    return verify_webhook(secret, headers, body, now);
}

webhook_headers with_id(std::string_view id) { return {id, vector_headers.timestamp, vector_headers.signature}; }
webhook_headers with_timestamp(std::string_view text) { return {vector_headers.id, text, vector_headers.signature}; }
webhook_headers with_signature(std::string_view text) { return {vector_headers.id, vector_headers.timestamp, text}; }

void check_refused(const result<void>& outcome, std::string_view names) {
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().kind == error_kind::unauthorized);
    CHECK_THAT(outcome.error().message, Catch::Contains(std::string{names}));
}

}  // namespace

TEST_CASE("the published vector is signed and verified") {
    const auto signed_value = sign_webhook(secret, {vector_headers.id, 1614265330, body});
    REQUIRE(signed_value);
    CHECK(*signed_value == vector_headers.signature);
    CHECK(verify(vector_headers));
}

TEST_CASE("a difference in one byte is detected") {
    const std::string other_body = R"({"test": 2432232315})";
    check_refused(verify_webhook(secret, vector_headers, other_body, vector_time), "webhook-signature");
    check_refused(verify_webhook(secret, vector_headers, "", vector_time), "webhook-signature");
    check_refused(verify_webhook(secret, vector_headers, std::string{body} + "\n", vector_time), "webhook-signature");
    check_refused(verify(with_id("msg_p5jXN8AQM9LWM0D4loKWxJeK")), "webhook-signature");
    check_refused(verify(with_timestamp("1614265331")), "webhook-signature");
    check_refused(verify(with_signature("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OA=")), "webhook-signature");
    check_refused(verify_webhook("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx", vector_headers, body, vector_time),
                  "webhook-signature");
}

TEST_CASE("a timestamp may differ by five minutes in both directions, and no more") {
    CHECK(verify(vector_headers, vector_time + seconds{300}));
    CHECK(verify(vector_headers, vector_time + seconds{300} + milliseconds{999}));
    check_refused(verify(vector_headers, vector_time + seconds{301}), "too old");
    CHECK(verify(vector_headers, vector_time - seconds{300}));
    check_refused(verify(vector_headers, vector_time - seconds{301}), "too far ahead");
    CHECK(verify_webhook(secret, vector_headers, body, vector_time, seconds{0}));
    check_refused(verify_webhook(secret, vector_headers, body, vector_time + seconds{1}, seconds{0}), "too old");
    CHECK(verify_webhook(secret, vector_headers, body, vector_time + seconds{3600}, seconds{3600}));
}

TEST_CASE("one valid signature of several is enough") {
    const std::string good{vector_headers.signature};
    const std::string other = "v1," + tollgate::detail::base64_encode(std::string(32, 'x'));
    for (const std::string& list : {good + " " + other, other + " " + good, other + " " + other + " " + good,
                                    "v2,unknown " + good, good + " v1a,aGVsbG8=", "hmac-sha512,x " + good}) {
        CAPTURE(list);
        CHECK(verify(with_signature(list)));
    }
    for (const std::string& list : {other, other + " " + other, "v2,"s + good.substr(3), "V1,"s + good.substr(3)}) {
        CAPTURE(list);
        check_refused(verify(with_signature(list)), "No signature");
    }
    std::string many = good;
    for (int i = 1; i < 16; ++i) many = other + " " + many;
    CHECK(verify(with_signature(many)));
    check_refused(verify(with_signature(other + " " + many)), "not a list");
}

TEST_CASE("malformed header fields are refused by name") {
    const std::string good{vector_headers.signature};
    const std::vector<std::string> signatures = {"",
                                                 " ",
                                                 ",",
                                                 "v1",
                                                 "v1,",
                                                 ",g0hM",
                                                 good + " ",
                                                 " " + good,
                                                 good + "  " + good,
                                                 good + "," + good,
                                                 good.substr(3),
                                                 "v1," + good,
                                                 "v1 " + good.substr(3),
                                                 "v1,%%%",
                                                 good.substr(0, good.size() - 1),
                                                 good + "=",
                                                 "v1,g0hM9SsE-OTPJTGt_tmIKtSyZlE3uFJELVlNIOLJ1OE=",
                                                 "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OF=",
                                                 "v1," + tollgate::detail::base64_encode(std::string(31, 'x')),
                                                 "v1," + tollgate::detail::base64_encode(std::string(33, 'x')),
                                                 good + "\t" + good,
                                                 good + "\n",
                                                 good + "\0"s,
                                                 good + " v2,\xc3\xa9",
                                                 good + " v2," + std::string(600, 'a')};
    for (const std::string& each : signatures) {
        CAPTURE(each);
        const auto result = verify(with_signature(each));
        REQUIRE_FALSE(result);
        CHECK(result.error().kind == error_kind::unauthorized);
        CHECK_THAT(result.error().message, Catch::Contains("webhook-signature"));
    }
    const std::vector<std::string> timestamps = {
        "", " ", "0", "01614265330", "+1614265330", "-1614265330", "1614265330 ", " 1614265330", "1614265330.0", "1e9",
        "0x60379db2", "1614265330\n", "16142653300000", "99999999999999999999999999", "2021-02-25T15:02:10Z", "now",
        "\xd9\xa1", "1614265330\0"s};
    for (const std::string& each : timestamps) {
        CAPTURE(each);
        check_refused(verify(with_timestamp(each)), "webhook-timestamp is missing");
    }
    const std::vector<std::string> ids = {"", " ", "msg 1", "msg.1", "msg_1\n", "msg\t1", "\xc3\xa9", "a\0"s,
                                          std::string(257, 'a')};
    for (const std::string& each : ids) {
        CAPTURE(each);
        check_refused(verify(with_id(each)), "webhook-id");
    }
    const std::string longest(256, 'a');
    const auto signature = sign_webhook(secret, {longest, 1614265330, body});
    CHECK(verify({longest, "1614265330", *signature}));
}

TEST_CASE("bytes cannot move from one signed part to another") {
    // A payload signed as (id, timestamp, "1614265331.rest") must not be accepted as ("id.timestamp", 1614265331, "rest").
    const auto signature = sign_webhook(secret, {"msg_a", 1614265330, "1614265331.rest"});
    REQUIRE(signature);
    CHECK(verify_webhook(secret, {"msg_a", "1614265330", *signature}, "1614265331.rest", vector_time));
    check_refused(verify_webhook(secret, {"msg_a.1614265330", "1614265331", *signature}, "rest", vector_time),
                  "webhook-id");
}

TEST_CASE("an invalid secret is an internal error and is not quoted") {
    const std::vector<std::string> secrets = {
        "", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS", "whsec_ " + std::string{secret},
        "WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_" + tollgate::detail::base64_encode(std::string(23, 'k')),
        "whsec_" + tollgate::detail::base64_encode(std::string(65, 'k')), std::string{secret} + "\n"};
    for (const std::string& each : secrets) {
        CAPTURE(each);
        const auto result = verify_webhook(each, vector_headers, body, vector_time);
        REQUIRE_FALSE(result);
        CHECK(result.error().kind == error_kind::internal);
        CHECK(result.error().cause.find("MfKQ") == std::string::npos);
        CHECK_FALSE(sign_webhook(each, {vector_headers.id, 1614265330, body}));
    }
    for (const std::size_t bytes : {24U, 32U, 64U}) {
        const auto fitting = "whsec_" + tollgate::detail::base64_encode(std::string(bytes, 'k'));
        const auto signature = sign_webhook(fitting, {"msg_a", 1614265330, body});
        REQUIRE(signature);
        CHECK(verify_webhook(fitting, {"msg_a", "1614265330", *signature}, body, vector_time));
    }
}

TEST_CASE("header fields are read case-insensitively, and ignored if repeated") {
    http::field_lines fields;
    fields.add("Host", "receiver.example");
    fields.add("Webhook-Id", vector_headers.id);
    fields.add("WEBHOOK-TIMESTAMP", vector_headers.timestamp);
    fields.add("webhook-signature", vector_headers.signature);
    CHECK(verify(webhook_headers::from(fields)));
    fields.add("webhook-id", vector_headers.id);
    check_refused(verify(webhook_headers::from(fields)), "webhook-id");
    check_refused(verify(webhook_headers::from(http::field_lines{})), "webhook-id");
}

TEST_CASE("extreme clock values are handled") {
    for (const instant now : {instant::min(), instant::max(), from_unix_seconds(0)}) CHECK_FALSE(verify(vector_headers, now));
    CHECK_FALSE(verify(with_timestamp("999999999999"), vector_time));
    CHECK(verify_webhook(secret, vector_headers, body, from_unix_seconds(9'000'000'000), seconds::max()));
    CHECK_FALSE(verify_webhook(secret, vector_headers, body, vector_time + seconds{1}, seconds::min()));
}
