#include <tollgate/store/detail/key_value/codec.hpp>
#include <tollgate/store/detail/key_value/records.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace tollgate;
using namespace tollgate::key_value_detail;

namespace {

const instant noon = from_unix_milliseconds(1'780'000'000'123);
const instant before_1970 = from_unix_milliseconds(-1);
const digest some = sha256("some");
const digest other = sha256("other");

/// A record of each kind with optional fields set, and one without.
template <class Check>
void for_each_sample(Check check) {
    check(personal_token_record<std::string>{user_id{1}, token_id{INT64_MAX}, some, noon, before_1970, "a b", noon, "mine", "203.0.113.0/24"});
    check(personal_token_record<std::string>{user_id{1}, token_id{2}, other, {}, {}, "", noon, std::string{"\0\xff", 2}, ""});
    check(access_token_record<std::string>{user_id{1}, application_id{2}, noon, noon, before_1970, UINT64_MAX, "a"});
    check(hook_record{*service_name::from("shop"), account_id{7}, "order.paid", "webhook", "https://example.com/", 9, "whsec_x", some,
                      hook_source::manual, noon, {{"whsec_y", noon}, {"", before_1970}}, other, noon, noon, noon, disable_reason::gone, true});
    check(hook_record{});
    check(event_record{20, *service_name::from("shop"), account_id{7}, noon, "order.paid", std::string(256 * 1024, 'x')});
    check(outbox_delivery_record{some, "order.paid", *public_id::from("msg_0"), noon, noon, delivery_state::held, 5, true, true, 3, 4, 5});
    check(outbox_delivery_record{});
    check(attempt_record<std::string>{noon, milliseconds{15}, attempt_end::bad_response, attempt_cause::certificate_invalid, 599, "no", "POST /"});
    check(history_record{10'000, 77});
    check(application_record{user_id{3}, *client_id_text::from("app_1"), some, "n", "w", "d", {"https://a", ""}, noon,
                             client_type::resource_server, other, true, suspension::owner_disabled});
    check(grant_record{grant_id{1}, "a b", noon, noon, 3});
    check(code_record{user_id{1}, application_id{2}, "a", "https://a", "challenge", 3, noon, noon, noon, some});
    check(refresh_token_record{user_id{1}, application_id{2}, 3, 4, "a", noon, noon, some, other, noon, some});
    check(device_list_record{1, 2});
    check(device_code_record{some, application_id{2}, 3, "a", "203.0.113.7", noon, noon, device_code_state::denied, user_id{4}});
    check(session_record{user_id{1}, "ada", "203.0.113.0/24", "browser", noon, noon});
}

struct two_fields {
    std::uint32_t number = 0;
    std::string text;

    template <class Self, class Visit>
    static void fields(Self& r, Visit&& visit) {
        visit(r.number, r.text);
    }
};

}  // namespace

TEST_CASE("a record is read as it was written") {
    for_each_sample([]<class R>(const R& written) {
        std::string bytes, again;
        encode(written, bytes);
        R read;
        REQUIRE(decode(bytes, read));
        encode(read, again);
        CHECK(bytes == again);
    });
}

TEST_CASE("the form of a record is fixed") {
    std::string bytes = "used before";
    encode(two_fields{0x01020304, "ab"}, bytes);
    CHECK(bytes == std::string{"\x01\x01\x02\x03\x04\x00\x00\x00\x02"
                               "ab",
                               11});
}

TEST_CASE("a record that is truncated, has further bytes or another version is refused") {
    for_each_sample([]<class R>(const R& written) {
        std::string bytes;
        encode(written, bytes);
        R read;
        const std::size_t step = bytes.size() > 1000 ? 1000 : 1;
        for (std::size_t size = 0; size < bytes.size(); size += step) {
            CAPTURE(size);
            CHECK_FALSE(decode(std::string_view{bytes}.substr(0, size), read));
        }
        CHECK_FALSE(decode(std::string_view{bytes}.substr(0, bytes.size() - 1), read));
        CHECK_FALSE(decode(bytes + '\0', read));
        for (const char version : {'\0', '\2', '\xff'}) {
            std::string changed = bytes;
            changed[0] = version;
            CHECK_FALSE(decode(changed, read));
        }
        CHECK(decode(bytes, read));
    });
}

TEST_CASE("a value that does not exist is refused") {
    const auto is_read = []<class R>(R written, std::size_t place, char value) {
        std::string bytes;
        encode(written, bytes);
        REQUIRE(decode(bytes, written));
        bytes[place] = value;
        return decode(bytes, written);
    };
    const attempt_record<std::string> attempt{noon, milliseconds{15}, attempt_end::answered, attempt_cause::none, 200, "", ""};
    constexpr std::size_t end_place = 17, cause_place = 18;
    CHECK(is_read(attempt, end_place, static_cast<char>(attempt_end::bad_response)));
    CHECK_FALSE(is_read(attempt, end_place, static_cast<char>(attempt_end::bad_response) + 1));
    CHECK(is_read(attempt, cause_place, static_cast<char>(attempt_cause::certificate_invalid)));
    CHECK_FALSE(is_read(attempt, cause_place, static_cast<char>(attempt_cause::certificate_invalid) + 1));
    const grant_record grant{grant_id{1}, "", noon, {}};
    CHECK(is_read(grant, 8, '\2'));        // another id
    CHECK_FALSE(is_read(grant, 8, '\0'));  // no id is 0
    CHECK_FALSE(is_read(grant, 1, '\x80'));
    CHECK_FALSE(is_read(grant, 21, '\2'));       // neither without nor with a value
    CHECK_FALSE(is_read(grant, 9, '\xff'));      // a text longer than the record
    hook_record hook;
    CHECK_FALSE(is_read(hook, 4, '\x21'));  // a service of 33 bytes
}
