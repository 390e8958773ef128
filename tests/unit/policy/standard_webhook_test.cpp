#include <tollgate/policy/standard_webhook.hpp>

#include <tollgate/http/json_body.hpp>

#include <catch2/catch.hpp>

#include <memory>
#include <string>

using namespace tollgate;

namespace {

constexpr const char* secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
constexpr const char* older = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

due_delivery sample(std::string data = R"({"a": [1, "b"]})") {
    return {.lease = {delivery_id{1}, 1},
            .hook = hook_id{7},
            .event = std::make_shared<const event>(event{{*service_name::from("sitesmaker"), account_id{42}},
                                                        "site.published",
                                                        std::move(data),
                                                        from_unix_milliseconds(1'700'000'000'999)}),
            .message_id = *public_id::from("msg_0123456789012345678901"),
            .type = "webhook",
            .target_url = "https://example.com/",
            .secret = secret,
            .previous_secrets = {}};
}

struct written {
    http::field_block fields;
    std::string body;
};

written write(const due_delivery& delivery, instant now) {
    written output;
    REQUIRE(standard_webhook{}.write(delivery, now, output.fields, output.body));
    return output;
}

}  // namespace

TEST_CASE("body and fields follow the specification") {
    const instant now = from_unix_milliseconds(1'700'000'100'500);
    const auto output = write(sample(), now);
    CHECK(output.body == R"({"type":"site.published","timestamp":"2023-11-14T22:13:20Z","service":"sitesmaker",)"
                       R"("account":42,"data":{"a": [1, "b"]}})");
    const auto signature = sign_webhook(secret, {"msg_0123456789012345678901", 1'700'000'100, output.body});
    REQUIRE(signature);
    CHECK(output.fields.view() == "Content-Type: application/json\r\n"
                                "webhook-id: msg_0123456789012345678901\r\n"
                                "webhook-timestamp: 1700000100\r\n"
                                "webhook-signature: " + *signature + "\r\n");
}

TEST_CASE("a retry keeps id and body, with a new timestamp and signature") {
    const auto first = write(sample(), from_unix_seconds(1'700'000'100));
    const auto second = write(sample(), from_unix_seconds(1'700'000'105));
    CHECK(first.body == second.body);
    CHECK(first.fields.view() != second.fields.view());
    CHECK(second.fields.view().find("webhook-id: msg_0123456789012345678901\r\n") != std::string_view::npos);
    CHECK(second.fields.view().find("webhook-timestamp: 1700000105\r\n") != std::string_view::npos);
}

TEST_CASE("valid previous secrets sign too, newest first") {
    auto delivery = sample();
    const std::string oldest = "whsec_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB";
    delivery.previous_secrets = {older, oldest};
    const auto output = write(delivery, from_unix_seconds(1'700'000'100));
    const signed_webhook parts{"msg_0123456789012345678901", 1'700'000'100, output.body};
    CHECK_THAT(std::string{output.fields.view()},
               Catch::Contains("webhook-signature: " + *sign_webhook(secret, parts) + " " + *sign_webhook(older, parts) +
                               " " + *sign_webhook(oldest, parts) + "\r\n"));
}

TEST_CASE("data of any kind is unchanged") {
    for (const std::string data : {"null", "-0.10", "\"text \\u0000\"", "[]", " {\"b\" : 1.0, \"a\":2} ", "10000000000000000.01"}) {
        const auto output = write(sample(data), from_unix_seconds(1));
        CHECK_THAT(output.body, Catch::EndsWith("\"data\":" + data + "}"));
        CHECK(http::check_json(output.body));
    }
}

TEST_CASE("an invalid secret is an error") {
    for (const bool current : {true, false}) {
        auto delivery = sample();
        delivery.previous_secrets = {older};
        (current ? delivery.secret : delivery.previous_secrets[0]) = "whsec_x";
        written output;
        const auto done = standard_webhook{}.write(delivery, from_unix_seconds(1), output.fields, output.body);
        REQUIRE_FALSE(done);
        CHECK(done.error().kind == error_kind::internal);
    }
}
