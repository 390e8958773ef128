#pragma once

#include <string_view>

namespace tollgate::http {

/// A request target (RFC 9112 section 3.2) as it was sent: nothing is decoded and no dot segment is removed, so that what
/// a router compares is what the client wrote.
struct target {
    std::string_view path;       ///< begins with `/`, or is `*` (OPTIONS); of an absolute-form target only its path
    std::string_view query;      ///< behind the `?`, without it
    bool has_query = false;      ///< tells `/a?` from `/a`
    std::string_view authority;  ///< of an absolute-form target, which then replaces `Host`; otherwise empty

    /// Origin-form and asterisk-form text cut at the first `?`.
    static constexpr target from(std::string_view text) noexcept {
        const auto mark = text.find('?');
        if (mark == std::string_view::npos) return {text, {}, false, {}};
        return {text.substr(0, mark), text.substr(mark + 1), true, {}};
    }
};

}  // namespace tollgate::http
