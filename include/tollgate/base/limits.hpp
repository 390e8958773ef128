#pragma once
#ifndef TOLLGATE_BASE_LIMITS_HPP
#define TOLLGATE_BASE_LIMITS_HPP

#include <tollgate/base/config.hpp>

#include <cstddef>
#include <string_view>

/// The fixed bounds of the library, each with its reason.
namespace tollgate::inline v0::limits {

inline constexpr std::size_t target_bytes_max = 8 * 1024;        // RFC 9112 section 3 requires at least 8000
inline constexpr std::size_t header_bytes_default = 16 * 1024;   // nginx, h11: 8-16 KiB for the whole header section
inline constexpr std::size_t field_count_max = 100;              // Apache's LimitRequestFields; browsers send about 20
inline constexpr std::size_t body_bytes_default = 64 * 1024;     // the largest legitimate body is a target_url of 2 KiB
inline constexpr std::size_t chunk_line_bytes_max = 256;         // a size of 16 hex digits and an extension
inline constexpr std::size_t chunk_overhead_bytes_max = 16 * 1024;  // chunk lines and trailers of one body

inline constexpr std::size_t json_depth_max = 64;                // the order of magnitude of Go, Rails and GitHub
inline constexpr std::size_t form_members_max = 256;             // the form of a personal token has a member for each scope

inline constexpr std::size_t target_url_bytes_max = 2048;        // what all browsers and proxies accept
inline constexpr std::size_t event_name_bytes_max = 128;         // noun.verb; svix and Gitea stay below it
inline constexpr std::size_t event_data_bytes_max = 256 * 1024;  // the payload bound of svix and Stripe
inline constexpr std::size_t token_description_bytes_max = 255;  // a line of text on a page
inline constexpr std::size_t service_name_bytes_max = 32;        // a path segment
inline constexpr std::size_t scope_description_bytes_max = 200;  // a line on a consent page
inline constexpr std::size_t scope_text_bytes_max = 1024;        // all scopes of a credential: 30 services, read and write
inline constexpr std::size_t scope_list_bytes_max = 4 * 1024;        // a list in a request, with duplicates and separators
inline constexpr std::size_t secret_text_bytes_max = 55;         // a SHA-256 block with its padding
/// The public part of a personal token. Generated user names are shorter.
inline constexpr std::size_t token_username_bytes_max = 32;
inline constexpr std::size_t imported_secret_bytes_max = 255;    // of an older system: GitHub reserves 255 characters for its tokens
inline constexpr std::size_t client_id_bytes_max = 200;          // generated ids have 26; the URL of a metadata document is longer
inline constexpr std::size_t decimal_text_bytes_max = 40;        // 38 digits as in NUMERIC(38), a sign, a point
inline constexpr std::size_t query_parameters_max = 8;           // declared by one route
inline constexpr std::size_t path_parameters_max = 8;            // captures of one route
inline constexpr std::size_t path_segments_max = 12;             // of a route; the router finds no route for a longer path
inline constexpr std::size_t store_key_bytes_max = 255;           // of a key_value_store; LMDB allows 511, FoundationDB 10,000
inline constexpr std::size_t store_value_bytes_max = 320 * 1024;  // of a key_value_store: an event with its largest data
inline constexpr int full_host_retry_seconds_max = 60;            // while a host is full, a due webhook may be unlisted for this time
inline constexpr int delivery_wait_days_max = 7;                  // until a retry, and until the end of a lease; see `has_come`
inline constexpr std::size_t hooks_per_event_max = 20;           // per account and event: GitHub's bound

inline constexpr std::size_t attempt_request_bytes_max = 4 * 1024;  // stored of a request: its head, and most bodies whole
inline constexpr std::size_t attempt_response_bytes_max = 4 * 1024;  // stored of a response, to recognize an error page
// Stored per delivery: 8 attempts of the retry schedule, and those that users start.
inline constexpr std::size_t attempts_per_delivery_max = 100;
inline constexpr std::size_t resent_deliveries_max = 1000;          // per form: some seconds of work for a receiver
inline constexpr std::size_t ended_deliveries_per_hook_max = 10'000;  // stored per hook: a delivery every four minutes for a month
inline constexpr std::size_t webhook_id_bytes_max = 256;           // accepted from a sender; generated ids have 26
inline constexpr std::size_t previous_secrets_max = 4;             // still sign, beside the current secret: enough retries for a rotation
inline constexpr std::size_t webhook_signatures_max = 16;          // per delivery: one for each secret that signs

inline constexpr std::size_t personal_tokens_per_user_max = 100;  // what fits on a page; GitHub allows 50
inline constexpr std::size_t applications_per_user_max = 100;     // GitHub's bound on OAuth applications per owner
inline constexpr std::size_t redirect_urls_max = 20;              // per application: its environments and platforms
// Codes per user, application and hour: more than any user needs for signing in.
inline constexpr std::size_t codes_per_grant_max = 100;
inline constexpr std::size_t refresh_tokens_per_grant_max = 100;  // Google's bound: one for each device
inline constexpr std::size_t access_tokens_per_grant_max = 1000;  // a client that requests a new one for every call
inline constexpr std::size_t sessions_per_user_max = 100;         // browsers in which one user is signed in
inline constexpr std::size_t device_codes_per_application_max = 10'000;  // pending at once: 1000 devices a minute
inline constexpr int code_hours_max = 24;                         // the lifetime of a code and of a device code: see `has_come`
inline constexpr int code_seconds_left_min = 30;                  // left for a code that is sent again: an exchange may be slow
inline constexpr int approved_device_code_seconds = 60;            // at least, so that the device can poll once more
inline constexpr int expired_device_code_seconds = 600;            // after expiry: a polling device gets the reason (RFC 8628 section 3.5)
inline constexpr int spent_code_seconds = 3600;                   // reuse is detected within minutes or not at all

inline constexpr std::size_t session_user_agent_bytes_max = 255;  // browsers send 70 to 200
inline constexpr std::size_t login_bytes_max = 254;               // the longest e-mail address (RFC 5321, erratum 1690)
inline constexpr std::size_t password_characters_min = 8;         // NIST SP 800-63B section 5.1.1.2
inline constexpr std::size_t password_bytes_max = 1024;           // a long passphrase; more only costs hashing time
inline constexpr std::size_t application_name_bytes_max = 100;    // a line of the consent page
inline constexpr std::size_t application_description_bytes_max = 255;  // a line of text on a page

/// Returns the number of characters of a UTF-8 text, for bounds in characters. Takes linear time.
[[nodiscard]] constexpr std::size_t count_characters(std::string_view text) noexcept {
    std::size_t count = 0;
    for (char c : text)
        if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) ++count;  // any byte but a continuation byte
    return count;
}

}  // namespace tollgate::limits

#endif  // TOLLGATE_BASE_LIMITS_HPP
