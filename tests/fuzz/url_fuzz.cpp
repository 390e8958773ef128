#include <tollgate/http/url.hpp>

#include <tollgate/base/limits.hpp>
#include <tollgate/policy/public_targets.hpp>

#include "require.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

using namespace tollgate;

namespace {

bool is_visible(std::string_view text) {
    for (char c : text)
        if (c <= ' ' || c > '~' || c == '\\') return false;
    return true;
}

}  // namespace

/// A text that is accepted as a URL must be safe to send, be equal after it is written and parsed, and lead to a private
/// address only if the rule refuses it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const auto parsed = http::url::parse(text);
    if (!parsed) return 0;

    require(is_visible(text), "a character that a browser would repair was taken");
    require(parsed->host.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_.:") == std::string::npos,
            "a host has odd characters");
    require(!parsed->host.empty() && parsed->port != 0 && parsed->path.front() == '/', "a part is missing");
    require(parsed->path.find_first_of("?#") == std::string::npos && parsed->query.find('#') == std::string::npos,
            "a part was cut badly");

    const std::string_view last = std::string_view{parsed->host}.substr(parsed->host.rfind('.') + 1);
    const bool looks_like_ipv4 = last.find_first_not_of("0123456789") == std::string_view::npos;
    require(!looks_like_ipv4 || parsed->address, "a host that ends in a number is no address");
    require(!parsed->address || ip_address::parse(parsed->host) == parsed->address,
            "an address is not in canonical text");

    const std::string rewritten = parsed->origin() + parsed->request_target();
    const auto again = http::url::parse(rewritten);  // a complete address may exceed the limit
    require(!again == (rewritten.size() > limits::target_url_bytes_max), "the written text is not a URL");
    require(!again ||
                (again->scheme == parsed->scheme && again->host == parsed->host && again->address == parsed->address &&
                 again->port == parsed->port && again->path == parsed->path && again->query == parsed->query &&
                 again->has_query == parsed->has_query && !again->has_user_info && !again->has_fragment),
            "written again, it means something else");

    const public_targets rule;
    if (rule.check(*parsed)) {
        require(!parsed->has_user_info && !parsed->has_fragment, "a forbidden part was allowed");
        require(!parsed->address || rule.allows(*parsed->address),
                "a forbidden address was allowed");
    }
    return 0;
}
