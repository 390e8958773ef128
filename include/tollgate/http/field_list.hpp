#pragma once

#include <tollgate/base/ascii.hpp>

#include <string_view>

namespace tollgate::http::detail {

/// Whether a comma-separated field value holds this member, in any case (RFC 9110 section 5.6.1).
[[nodiscard]] constexpr bool list_holds(std::string_view list, std::string_view member) noexcept {
    for (;;) {
        const auto comma = list.find(',');
        if (ascii_iequals(trim_ows(list.substr(0, comma)), member)) return true;
        if (comma == std::string_view::npos) return false;
        list.remove_prefix(comma + 1);
    }
}

}  // namespace tollgate::http::detail
