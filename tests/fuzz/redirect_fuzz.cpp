#include <tollgate/oauth/detail/redirect.hpp>

#include <tollgate/http/detail/form_body.hpp>
#include <tollgate/http/url.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

using namespace tollgate;

namespace {

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "broken: %s\n", what);
    std::abort();
}

/// Where a browser would connect to, told by the library's own reader of URLs; none for what it does not take.
std::optional<std::string> host_of(std::string_view text) {
    const auto url = http::url::parse(text);
    if (!url || url->has_user_info || url->has_fragment) return std::nullopt;
    return url->address ? url->address->to_text() : url->host;
}

}  // namespace

/// What an application registered, a line end, and where a request asks to be sent. Whatever is taken leads to the host
/// that was registered, and keeps everything that a request adds to it apart from what was there.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input{reinterpret_cast<const char*>(data), size};
    const auto end = input.find('\n');
    if (end == std::string_view::npos) return 0;
    const std::string registered{input.substr(0, end)};
    const std::string asked{input.substr(end + 1)};

    // What is no URL, or has a fragment, cannot be registered. It matches nothing but itself with another port.
    const auto known = http::url::parse(registered);
    if (known && !known->has_fragment && oauth::matches_registered(registered, asked) && registered != asked) {
        const auto taken = http::url::parse(asked);
        require(taken.has_value(), "another port is for what can be read");
        require(taken->address && taken->address == known->address, "another port is for one address");
        require(*host_of(asked) == "127.0.0.1" || *host_of(asked) == "::1", "another port is for a loopback address");
        require(known->request_target() == taken->request_target(), "another port is the only difference");
    }
    if (oauth::matches_website(registered, asked)) {
        require(known && host_of(asked), "an origin is of what can be read");
        require(http::url::parse(asked)->origin() == known->origin(), "the origin is the website's");
    }

    application client{.id = application_id{1}, .owner = user_id{1}, .client_id = *client_id_text::from("tgi_1"),
                       .secret_digest = {}, .name = "a", .website = registered, .description = {},
                       .redirect_urls = {}, .created_at = {}};
    for (const bool has_redirect : {false, true}) {
        client.redirect_urls.clear();
        if (has_redirect) client.redirect_urls.push_back(registered);
        const auto chosen = oauth::choose_redirect(client, asked);
        if (!chosen) continue;
        require(*chosen == asked, "the browser goes where the request says, or nowhere");
        const std::array parameters{oauth::redirect_parameter{"code", "a&b=c#d"}, oauth::redirect_parameter{"state", "%\r\n "}};
        const auto url = oauth::with_parameters(*chosen, parameters);
        require(url.starts_with(*chosen), "the URL stays as it is");
        require(url.find('#') == std::string::npos, "nothing becomes a fragment");
        for (char c : url) require(c > ' ' && c <= '~', "it can stand in Location");
        const auto added = http::parse_form(std::string_view{url}.substr(chosen->size()).substr(
            url[chosen->size()] == '?' || url[chosen->size()] == '&' ? 1 : 0));
        require(added && added->size() == 2 && added->value_of("code") == "a&b=c#d" && added->value_of("state") == "%\r\n ",
                "what is added comes back");
    }
    return 0;
}
