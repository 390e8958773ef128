#pragma once
#ifndef TOLLGATE_WEBHOOKS_VERIFY_IPP
#define TOLLGATE_WEBHOOKS_VERIFY_IPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/webhooks/verify.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tollgate::inline v0 {

namespace detail {

inline error not_genuine(const char* message) { return {error_kind::unauthorized, message, {}}; }

/// The value of a field that occurs once.
inline std::string_view only_line(const http::field_lines& fields, std::string_view name) noexcept {
    std::string_view found;
    std::size_t line_count = 0;
    for (const http::field& line : fields)
        if (detail::ascii_iequals(line.name, name)) {
            found = line.value;
            ++line_count;
        }
    return line_count == 1 ? found : std::string_view{};
}

/// A full stop separates the signed parts, so an id that contains one would make the parts ambiguous.
inline bool is_webhook_id(std::string_view text) noexcept {
    if (text.empty() || text.size() > limits::webhook_id_bytes_max) return false;
    for (const char c : text)
        if (!detail::is_visible_ascii(c) || c == '.') return false;
    return true;
}

/// Digits only, without a leading zero: the text is signed, so it must have one spelling.
inline std::optional<std::int64_t> webhook_timestamp(std::string_view text) noexcept {
    constexpr std::size_t digits_max = 12;  // until the year 33658: the sums below cannot overflow
    if (text.size() > digits_max || text.starts_with('0')) return std::nullopt;
    const auto value = detail::parse_decimal(text);
    return value ? std::optional{static_cast<std::int64_t>(*value)} : std::nullopt;
}

/// The MACs of all `v1` signatures in `version,signature version,signature...`; empty for any other format. Signatures
/// of other versions are skipped.
inline std::optional<std::vector<std::string>> webhook_macs(std::string_view header) {
    constexpr std::size_t signature_bytes_max = 512;  // `v1` has 47; asymmetric signatures of later versions are longer
    std::vector<std::string> macs;
    for (std::size_t count = 0;; ++count) {
        const auto blank = header.find(' ');
        const std::string_view one = header.substr(0, blank);
        const auto comma = one.find(',');
        if (count == limits::webhook_signatures_max || one.size() > signature_bytes_max || comma == 0 ||
            comma == std::string_view::npos || comma + 1 == one.size())
            return std::nullopt;
        if (!std::all_of(one.begin(), one.end(), detail::is_visible_ascii)) return std::nullopt;
        if (one.substr(0, comma) == "v1") {
            auto mac = detail::base64_decode(one.substr(comma + 1));
            if (!mac || mac->size() != digest::size_bytes) return std::nullopt;
            macs.push_back(*std::move(mac));
        }
        if (blank == std::string_view::npos) return macs;
        header.remove_prefix(blank + 1);
    }
}

inline result<void> judge_webhook(std::string_view secret, const webhook_headers& headers, std::string_view body,
                                   instant now, seconds tolerance) {
    const auto key = webhook_key(secret);
    if (!key) return key.error();
    if (!is_webhook_id(headers.id)) return not_genuine("The webhook-id is missing or invalid.");
    const auto timestamp = webhook_timestamp(headers.timestamp);
    if (!timestamp) return not_genuine("The webhook-timestamp is missing or not a number of seconds.");
    const auto macs = webhook_macs(headers.signature);
    if (!macs) return not_genuine("The webhook-signature is missing or not a list of signatures.");

    constexpr std::int64_t tolerance_max = 1'000'000'000'000;  // 31,000 years; larger values could overflow
    const std::int64_t tolerated = std::clamp(std::int64_t{tolerance.count()}, std::int64_t{0}, tolerance_max);
    const std::int64_t age = to_unix_seconds(now) - *timestamp;
    if (age > tolerated) return not_genuine("The webhook-timestamp is too old.");
    if (age < -tolerated) return not_genuine("The webhook-timestamp is too far ahead.");

    const std::string expected = webhook_mac(*key, {headers.id, *timestamp, body});
    bool genuine = false;
    for (const std::string& mac : *macs) genuine = equal_in_constant_time(mac, expected) || genuine;
    if (!genuine) return not_genuine("No signature in webhook-signature matches.");
    return {};
}

}  // namespace detail

TOLLGATE_DECL webhook_headers webhook_headers::from(const http::field_lines& fields) noexcept {
    return {detail::only_line(fields, "webhook-id"), detail::only_line(fields, "webhook-timestamp"),
            detail::only_line(fields, "webhook-signature")};
}

TOLLGATE_DECL result<void> verify_webhook(std::string_view secret, const webhook_headers& headers, std::string_view body,
                                          instant now, seconds tolerance) noexcept {
    try {
        return detail::judge_webhook(secret, headers, body, now, tolerance);
    } catch (...) {  // out of memory: could not be verified
        return error{error_kind::unavailable, {}, {}};
    }
}

}  // namespace tollgate

#endif  // TOLLGATE_WEBHOOKS_VERIFY_IPP
