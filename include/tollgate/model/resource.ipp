#pragma once
#ifndef TOLLGATE_MODEL_RESOURCE_IPP
#define TOLLGATE_MODEL_RESOURCE_IPP

#include <tollgate/base/digest.hpp>
#include <tollgate/model/resource.hpp>

namespace tollgate::inline v0 {

TOLLGATE_DECL resource_id resource_id_of(std::string_view url) {
    if (url.ends_with('/')) url.remove_suffix(1);
    const auto bytes = sha256(url).bytes();
    resource_id id;
    for (std::size_t i = 0; i < sizeof id.value; ++i) id.value = id.value << 8U | bytes[i];
    return id;
}

TOLLGATE_DECL std::string resource_set::text() const {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const resource_id each : *this)
        for (unsigned shift = 64; shift != 0;) text.push_back(digits[each.value >> (shift -= 4) & 15U]);
    return text;
}

TOLLGATE_DECL std::optional<resource_set> resource_set::parse(std::string_view text) noexcept {
    constexpr std::size_t digits = 16;
    resource_set read;
    for (; !text.empty(); text.remove_prefix(digits)) {
        if (text.size() < digits) return std::nullopt;
        resource_id id;
        for (const char c : text.substr(0, digits)) {
            if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f')) return std::nullopt;
            id.value = id.value << 4U | static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
        }
        if ((!read.empty() && !(*(read.end() - 1) < id)) || !read.add(id)) return std::nullopt;
    }
    return read;
}

}  // namespace tollgate

#endif  // TOLLGATE_MODEL_RESOURCE_IPP
