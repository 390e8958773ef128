#pragma once
#ifndef TOLLGATE_TESTING_DETAIL_SAMPLES_HPP
#define TOLLGATE_TESTING_DETAIL_SAMPLES_HPP

#include <tollgate/model/application.hpp>
#include <tollgate/model/grant.hpp>
#include <tollgate/model/hook.hpp>
#include <tollgate/model/personal_token.hpp>
#include <tollgate/model/session.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0::testing {

/// A time with milliseconds, which a store must keep.
inline constexpr instant noon = from_unix_milliseconds(1'700'000'000'123);

/// Differs for each `seed`, in every byte.
[[nodiscard]] inline digest sample_digest(std::uint64_t seed) {
    std::array<std::uint8_t, digest::size_bytes> bytes{};
    std::uint64_t state = seed + 1;
    for (std::uint8_t& each : bytes) {
        state = state * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX
        each = static_cast<std::uint8_t>(state >> 56);
    }
    return digest::from_bytes(bytes);
}

/// The bound for cases that test something else.
inline constexpr std::size_t tokens_max = limits::personal_tokens_per_user_max;

[[nodiscard]] inline scope_set sample_scopes(std::string_view list) { return scope_set::parse(list).value(); }

[[nodiscard]] inline new_personal_token sample_personal_token(std::string_view username, user_id user = user_id{7}) {
    std::uint64_t seed = 0;
    for (const char c : username) seed = seed * 131 + static_cast<unsigned char>(c);
    return {.user = user,
            .username = token_username::from(username).value(),
            .secret_digest = sample_digest(seed),
            .description = "for the backup script",
            .scopes = sample_scopes("user:balance sitesmaker:read"),
            .created_at = noon};
}

[[nodiscard]] inline new_access_token sample_access_token(std::uint64_t seed, user_id user = user_id{7}) {
    return {.user = user,
            .application = application_id{3},
            .token_digest = sample_digest(seed),
            .scopes = sample_scopes("sitesmaker"),
            .created_at = noon,
            .expires_at = noon + seconds{3600}};
}

[[nodiscard]] inline account_ref sample_account(std::string_view service = "sitesmaker", std::int64_t account = 42) {
    return {service_name::from(service).value(), account_id{account}};
}

[[nodiscard]] inline new_hook sample_hook(const account_ref& account, std::string_view event = "site.published") {
    return {.account = account,
            .event = std::string{event},
            .source = hook_source::api,
            .type = "webhook",
            .target_url = "https://example.com/hook",
            .secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            .created_at = noon};
}

[[nodiscard]] inline new_application sample_application(std::string_view client_id, user_id owner = user_id{3}) {
    return {.owner = owner,
            .client_id = client_id_text::from(client_id).value(),
            .secret_digest = sample_digest(client_id.size()),
            .name = "Backup for sites",
            .website = "https://app.example",
            .description = "Keeps a copy of what you publish.",
            .redirect_urls = {"https://app.example/back?from=1"},
            .created_at = noon};
}

/// Codes, access and refresh tokens of one seed have different digests.
[[nodiscard]] inline digest sample_code_digest(std::uint64_t seed) { return sample_digest(1'000'000 + seed); }
[[nodiscard]] inline digest sample_access_digest(std::uint64_t seed) { return sample_digest(2'000'000 + seed); }
[[nodiscard]] inline digest sample_refresh_digest(std::uint64_t seed) { return sample_digest(3'000'000 + seed); }

[[nodiscard]] inline new_authorization_code sample_code(std::uint64_t seed, application_id application,
                                                        user_id user = user_id{7}) {
    return {.code_digest = sample_code_digest(seed),
            .user = user,
            .application = application,
            .scopes = sample_scopes("user:balance sitesmaker:read"),
            .redirect = "https://app.example/back?from=1",
            .code_challenge = {},
            .created_at = noon,
            .expires_at = noon + seconds{60}};
}

[[nodiscard]] inline issued_tokens sample_tokens(std::uint64_t seed) {
    return {.access_digest = sample_access_digest(seed),
            .access_expires_at = noon + seconds{3600},
            .refresh_digest = sample_refresh_digest(seed),
            .refresh_expires_at = noon + seconds{30 * 86'400},
            .refresh_ends_at = noon + seconds{365 * 86'400}};
}

/// Redeems the code of one seed for the tokens of the same seed.
[[nodiscard]] inline code_redemption sample_redemption(std::uint64_t seed, application_id application) {
    return {.code_digest = sample_code_digest(seed),
            .application = application,
            .now = noon + seconds{1},
            .tokens = sample_tokens(seed)};
}

/// The replacement of the refresh token of one seed by that of another.
[[nodiscard]] inline token_rotation sample_rotation(std::uint64_t family, std::uint64_t successor) {
    return {.family_digest = sample_digest(5'000'000 + family),
            .successor_digest = sample_refresh_digest(successor),
            .successor_seed = sample_digest(6'000'000 + successor),
            .grace = seconds{30}};
}

/// Uses the refresh token of one seed for the access token of another.
[[nodiscard]] inline token_refresh sample_refresh(std::uint64_t seed, std::uint64_t access,
                                                  application_id application) {
    return {.refresh_digest = sample_refresh_digest(seed),
            .application = application,
            .now = noon + seconds{2},
            .access_digest = sample_access_digest(access),
            .access_expires_at = noon + seconds{3602},
            .refresh_lifetime = seconds{30 * 86'400}};
}

[[nodiscard]] inline new_device_code sample_device_code(std::uint64_t seed, application_id application) {
    return {.device_digest = sample_digest(7'000'000 + seed),
            .user_digest = sample_digest(8'000'000 + seed),
            .application = application,
            .scopes = sample_scopes("user:balance sitesmaker:read"),
            .requested_from = "2001:db8::1",
            .created_at = noon,
            .expires_at = noon + seconds{600}};
}

/// The answer of a user to the request of one seed, a second after it was made.
[[nodiscard]] inline device_decision sample_decision(std::uint64_t seed, device_code_state answer, user_id user = user_id{7}) {
    return {.user_digest = sample_digest(8'000'000 + seed),
            .user = user,
            .answer = answer,
            .redirect = "urn:example:device",
            .now = noon + seconds{1}};
}

[[nodiscard]] inline stored_session sample_session(std::uint64_t seed, user_id user = user_id{7}) {
    return {.cookie_digest = sample_digest(4'000'000 + seed),
            .user = user,
            .login = "ann@example.com",
            .created_at = noon,
            .last_seen_at = noon + seconds{1}};
}

/// Text that stores are known to damage.
[[nodiscard]] inline std::vector<std::string> difficult_texts() {
    return {"",
            " ",
            " leading and trailing ",
            "'; DROP TABLE tokens; --",
            "\"double\" 'single' `back` \\backslash\\ %s %00 $1 ?1 :name @name",
            "line\nbreak\r\n\ttab",
            "Zo\xc3\xab \xe2\x82\xac \xf0\x9f\x94\x91 \xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d",
            "e\xcc\x81 is not \xc3\xa9",  // not normalized
            "12", "1e5", "0x10", "NULL", "null", "true", "{}", "{1,2}", "\\N",
            std::string(255, 'x')};
}

/// Bytes that a store may refuse but must not change.
[[nodiscard]] inline std::vector<std::string> refusable_texts() {
    return {std::string{"a\0b", 3}, std::string{"a\0", 2}};
}

/// Names that are not `prefix` + "Abc", but that a store may take for it.
[[nodiscard]] inline std::vector<std::string> names_like_abc(const std::string& prefix) {
    return {"", prefix + "abc", prefix + "Ab", prefix + "Abcd", prefix + "Abc ", " " + prefix + "Abc",
            prefix + std::string{"Abc\0", 4}, "%", prefix + "___"};
}

[[nodiscard]] inline std::vector<instant> difficult_times() {
    return {from_unix_milliseconds(0),
            from_unix_milliseconds(1),
            from_unix_milliseconds(999),
            from_unix_milliseconds(2'147'483'647'999),       // the last millisecond of 32-bit seconds
            from_unix_milliseconds(4'294'967'296'001),
            from_unix_milliseconds(253'402'300'799'999)};    // the last of the year 9999
}

}  // namespace tollgate::testing

#endif  // TOLLGATE_TESTING_DETAIL_SAMPLES_HPP
