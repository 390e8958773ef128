#pragma once

#include <tollgate/base/outcome.hpp>
#include <tollgate/http/json_writer.hpp>

#include <initializer_list>
#include <string_view>

namespace tollgate {

/// An array of strings, for programs that want to see whether they reach the API at all.
[[nodiscard]] inline outcome<void> show_strings(std::initializer_list<std::string_view> strings, http::json_writer out) {
    out.begin_array();
    for (const auto each : strings) out.string(each);
    out.end_array();
    return {};
}

}  // namespace tollgate
