#include <tollgate/oauth/detail/authorization_request.hpp>

#include <tollgate/http/detail/form_body.hpp>
#include <tollgate/oauth/detail/redirect.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

using namespace tollgate;

namespace {

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "broken: %s\n", what);
    std::abort();
}

constexpr std::string_view issuer = "https://shop.example";

application known_client() {
    return {.id = application_id{1}, .owner = user_id{1}, .client_id = *client_id_text::from("tgi_1"), .secret_digest = {},
            .name = "Kite", .website = "https://kite.example", .description = {},
            .redirect_urls = {"https://kite.example/cb?keep=1"}, .created_at = {}};
}

/// The answer goes where it was registered, keeps its query, and carries the state as it came.
void check_url(const std::string& url, const std::optional<std::string>& state, std::string_view name) {
    const std::string redirect = known_client().redirect_urls.front();
    require(url.starts_with(redirect + "&"), "an answer goes to what was registered");
    for (char c : url) require(c > ' ' && c <= '~' && c != '#', "an answer can stand in Location");
    const auto query = http::parse_form(std::string_view{url}.substr(url.find('?') + 1));
    require(query && query->value_of("keep") == "1" && query->value_of("iss") == issuer, "query and issuer are there");
    require(query->count(name) == 1, "the answer is there once");
    require(query->count("state") == (state ? 1U : 0U), "a state is returned exactly if one was sent");
    if (state) require(query->value_of("state") == *state, "a state comes back byte for byte");
}

}  // namespace

/// The query of a request to the authorization page, for an application that exists.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto services = [] {
        service_catalog made;
        if (!made.add("sitesmaker", {"site.created"}) || !made.add("itemplatform", {"item.created"})) std::abort();
        return made;
    }();
    auto read = oauth::parameters::from_form({reinterpret_cast<const char*>(data), size});
    if (std::holds_alternative<oauth::failure>(read)) return 0;
    const auto& sent = std::get<oauth::parameters>(read);
    static_cast<void>(oauth::client_id_of(sent));

    const auto judged = oauth::judge_request_of(known_client(), sent, services);
    if (const auto* request = std::get_if<oauth::authorization_request>(&judged)) {
        require(sent.find("response_type") == "code", "only codes are given");
        require(!request->scopes.empty(), "a request asks for something");
        require(request->scopes.for_each([&](std::string_view each) { return services.has_scope(each); }), "scopes exist");
        require(!sent.find("code_challenge") || request->code_challenge == sent.find("code_challenge"), "a challenge is kept");
        require(!sent.find("state") || request->state == sent.find("state"), "a state is kept");
        check_url(oauth::code_url({request->redirect, request->state, issuer}, "tgc_x"), request->state, "code");
        // The form carries the whole request: read again, it is the same.
        const auto again = oauth::parameters::from_form(oauth::to_query(*request));
        require(std::holds_alternative<oauth::parameters>(again), "a request comes back");
        const auto second = oauth::judge_request_of(known_client(), std::get<oauth::parameters>(again), services);
        const auto* same = std::get_if<oauth::authorization_request>(&second);
        require(same && same->scopes == request->scopes && same->state == request->state &&
                    same->redirect == request->redirect && same->code_challenge == request->code_challenge,
                "what a form carries is what was asked");
    } else if (const auto* no = std::get_if<oauth::redirect_failure>(&judged)) {
        require(no->why.description.find_first_of("\"\\") == std::string::npos, "descriptions are RFC 6749's characters");
        check_url(oauth::failure_url({no->redirect, no->state, issuer}, no->why), no->state, "error");
    }
    return 0;
}
