#include <tollgate/oauth/detail/authorization_request.hpp>

#include <tollgate/http/detail/form_body.hpp>
#include <tollgate/oauth/detail/redirect.hpp>

#include "require.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

using namespace tollgate;

namespace {

constexpr std::string_view issuer = "https://shop.example";

application known_client() {
    return {.id = application_id{1}, .owner = user_id{1}, .client_id = *client_id_text::from("tgi_1"), .secret_digest = {},
            .name = "Kite", .website = "https://kite.example", .description = {},
            .redirect_urls = {"https://kite.example/cb?keep=1"}, .created_at = {}};
}

/// The response goes to the registered URL, keeps its query, and has the state unchanged.
void check_url(const std::string& url, const std::optional<std::string>& state, std::string_view name) {
    const std::string redirect = known_client().redirect_urls.front();
    require(url.starts_with(redirect + "&"), "a response goes to the registered URL");
    for (char c : url) require(c > ' ' && c <= '~' && c != '#', "a response is valid in Location");
    const auto query = http::parse_form(std::string_view{url}.substr(url.find('?') + 1));
    require(query && query->value_of("keep") == "1" && query->value_of("iss") == issuer, "query and issuer are present");
    require(query->count(name) == 1, "the parameter is present once");
    require(query->count("state") == (state ? 1U : 0U), "a state is returned if and only if one was sent");
    if (state) require(query->value_of("state") == *state, "a state is returned byte for byte");
}

}  // namespace

/// The query of a request to the authorization page, for an existing application.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto services = [] {
        service_catalog catalog;
        if (!catalog.add("sitesmaker", {"site.created"}) || !catalog.add("itemplatform", {"item.created"})) std::abort();
        return catalog;
    }();
    static const auto resources = [] {
        account_service_settings settings{.base_url = "https://api.example/v1"};
        settings.oauth.resources = {"https://api.example/v1/mcp"};
        return oauth::resource_list{settings};
    }();
    auto read = oauth::parameters::from_form({reinterpret_cast<const char*>(data), size});
    if (std::holds_alternative<oauth::failure>(read)) return 0;
    const auto& parameters = std::get<oauth::parameters>(read);
    static_cast<void>(oauth::client_id_of(parameters));

    const auto judged = oauth::judge_request_of(known_client(), parameters, services, resources);
    if (const auto* request = std::get_if<oauth::authorization_request>(&judged)) {
        require(parameters.find("response_type") == "code", "only codes are issued");
        require(!request->scopes.empty(), "a request has a scope");
        require(request->scopes.for_each([&](std::string_view each) { return services.has_scope(each); }), "scopes exist");
        require(!parameters.find("code_challenge") || request->code_challenge == parameters.find("code_challenge"),
                "a challenge is preserved");
        require(!parameters.find("state") || request->state == parameters.find("state"), "a state is preserved");
        check_url(oauth::code_url({request->redirect, request->state, issuer}, "tgc_x"), request->state, "code");
        // The form has the whole request: parsed again, it is the same.
        const auto again = oauth::parameters::from_form(oauth::to_query(*request));
        require(std::holds_alternative<oauth::parameters>(again), "a request is parsed again");
        const auto second = oauth::judge_request_of(known_client(), std::get<oauth::parameters>(again), services, resources);
        const auto* same = std::get_if<oauth::authorization_request>(&second);
        require(same && same->scopes == request->scopes && same->state == request->state &&
                    same->redirect == request->redirect && same->code_challenge == request->code_challenge &&
                    same->resources == request->resources,
                "a form has the parameters of the request");
    } else if (const auto* no = std::get_if<oauth::redirect_failure>(&judged)) {
        require(no->failure.description.find_first_of("\"\\") == std::string::npos, "descriptions have RFC 6749's characters only");
        check_url(oauth::failure_url({no->redirect, no->state, issuer}, no->failure), no->state, "error");
    }
    return 0;
}
