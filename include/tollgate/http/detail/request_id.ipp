#pragma once
#ifndef TOLLGATE_HTTP_DETAIL_REQUEST_ID_IPP
#define TOLLGATE_HTTP_DETAIL_REQUEST_ID_IPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/system_sources.hpp>
#include <tollgate/http/detail/request_id.hpp>

#include <algorithm>
#include <chrono>
#include <span>

namespace tollgate::inline v0::http {

TOLLGATE_DECL bool is_request_id(std::string_view text) noexcept {
    return !text.empty() && text.size() <= request_id_bytes_max && std::all_of(text.begin(), text.end(), [](char c) {
        return tollgate::detail::is_alphanumeric(c) || c == '.' || c == '_' || c == '-';
    });
}

namespace detail {

[[nodiscard]] inline bool is_hex(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(), [](char c) { return tollgate::detail::is_digit(c) || (c >= 'a' && c <= 'f'); });
}

[[nodiscard]] inline bool is_trace_part(std::string_view text) noexcept {
    return is_hex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

TOLLGATE_DECL void seed(id_sequence& ids) noexcept {
    std::array<std::uint64_t, 2> random{};
    if (!system_random{}.fill(std::as_writable_bytes(std::span{random}))) {
        // Ids need not be secret: time and the address of the thread's own memory tell processes and threads apart.
        random[0] = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
        random[1] = random[0] ^ reinterpret_cast<std::uintptr_t>(&ids);
    }
    put_hex(ids.prefix.data(), random[0] | 1);  // a trace id is not zero
    ids.next = random[1] | 1;
}

}  // namespace detail

TOLLGATE_DECL std::optional<traceparent> traceparent::parse(std::string_view text) noexcept {
    constexpr std::size_t version_00_bytes = 55;
    if (text.size() < version_00_bytes || text[2] != '-' || text[35] != '-' || text[52] != '-') return std::nullopt;
    const auto version = text.substr(0, 2);
    if (!detail::is_hex(version) || version == "ff") return std::nullopt;
    const bool longer = text.size() > version_00_bytes;
    if (longer && (version == "00" || text[version_00_bytes] != '-')) return std::nullopt;
    traceparent parent{text.substr(3, 32), text.substr(36, 16)};
    const auto flags = text.substr(53, 2);
    if (!detail::is_trace_part(parent.trace_id) || !detail::is_trace_part(parent.parent_id) || !detail::is_hex(flags))
        return std::nullopt;
    parent.sampled = (tollgate::detail::hex_value(flags[1]) & 1) != 0;
    return parent;
}

TOLLGATE_DECL std::string make_traceparent(std::string_view trace_id, std::string_view span_id, bool sampled) {
    return std::string{"00-"}.append(trace_id).append("-").append(span_id).append(sampled ? "-01" : "-00");
}

}  // namespace tollgate::http

#endif  // TOLLGATE_HTTP_DETAIL_REQUEST_ID_IPP
