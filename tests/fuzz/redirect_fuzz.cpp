#include <tollgate/oauth/detail/redirect.hpp>

#include <tollgate/http/detail/form_body.hpp>
#include <tollgate/http/url.hpp>

#include "require.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

using namespace tollgate;

namespace {

/// The origin that a browser would connect to, from the library's own URL parser; none if it refuses the text.
std::optional<std::string> host_of(std::string_view text) {
    const auto url = http::url::parse(text);
    if (!url || url->has_user_info || url->has_fragment) return std::nullopt;
    return url->address ? url->address->to_text() : url->host;
}

}  // namespace

/// A registered URL, a line end, and the requested one. An accepted URL leads to the registered host
/// and keeps everything that a request adds separate from the rest.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input{reinterpret_cast<const char*>(data), size};
    const auto end = input.find('\n');
    if (end == std::string_view::npos) return 0;
    const std::string registered{input.substr(0, end)};
    const std::string requested{input.substr(end + 1)};

    // Text that is not a URL, or has a fragment, cannot be registered. It matches only itself or itself with another port.
    const auto known = http::url::parse(registered);
    if (known && !known->has_fragment && oauth::matches_registered(registered, requested) && registered != requested) {
        const auto parsed = http::url::parse(requested);
        require(parsed.has_value(), "another port or spelling is accepted for valid URLs only");
        require(parsed->scheme == known->scheme && parsed->host == known->host, "another spelling names the same host");
        require(parsed->has_user_info == known->has_user_info, "user information is not ignored");
        if (parsed->port == known->port) require(known->request_target() == parsed->request_target(), "the rest is the same");
        if (parsed->port == known->port) return 0;
        require(parsed->address && parsed->address == known->address, "another port is accepted for one address only");
        require(*host_of(requested) == "127.0.0.1" || *host_of(requested) == "::1", "another port is accepted for loopback addresses only");
        require(known->request_target() == parsed->request_target(), "another port is the only difference");
    }
    if (oauth::matches_website(registered, requested)) {
        require(known && host_of(requested), "an origin is matched for valid URLs only");
        require(http::url::parse(requested)->origin() == known->origin(), "the origin is the website's");
    }

    application client{.id = application_id{1}, .owner = user_id{1}, .client_id = *client_id_text::from("tgi_1"),
                       .secret_digest = {}, .name = "a", .website = registered, .description = {},
                       .redirect_urls = {}, .created_at = {}};
    for (const bool has_redirect : {false, true}) {
        client.redirect_urls.clear();
        if (has_redirect) client.redirect_urls.push_back(registered);
        const auto chosen = oauth::choose_redirect(client, requested);
        if (!chosen) continue;
        require(*chosen == requested, "the chosen URL is the requested one");
        const std::array parameters{oauth::redirect_parameter{"code", "a&b=c#d"}, oauth::redirect_parameter{"state", "%\r\n "}};
        const auto url = oauth::with_parameters(*chosen, parameters);
        require(url.starts_with(*chosen), "the URL is not changed");
        require(url.find('#') == std::string::npos, "nothing becomes a fragment");
        for (char c : url) require(c > ' ' && c <= '~', "it is valid in Location");
        const auto added = http::parse_form(std::string_view{url}.substr(chosen->size()).substr(
            url[chosen->size()] == '?' || url[chosen->size()] == '&' ? 1 : 0));
        require(added && added->size() == 2 && added->value_of("code") == "a&b=c#d" && added->value_of("state") == "%\r\n ",
                "added parameters are parsed again");
    }
    return 0;
}
