#pragma once

#include <tollgate/oauth/detail/page_request.hpp>
#include <tollgate/web/detail/form.hpp>

namespace tollgate::inline v0::oauth {

TOLLGATE_DECL std::variant<parameters, http::status> read_page_request(const http::request& request,
                                                                       const web::page_site& site) {
    if (request.method == http::method::post) {
        if (web::is_cross_site(request, site)) return http::status::forbidden;
        auto form = web::read_form(request);
        if (const auto* status = std::get_if<http::status>(&form)) return *status;
        return parameters{std::get<http::form_fields>(form)};
    }
    auto query = parameters::from_form(request.target.query);
    if (std::holds_alternative<failure>(query)) return http::status::bad_request;
    return std::get<parameters>(std::move(query));
}

TOLLGATE_DECL decision read_decision(const parameters& sent) {
    const auto value = sent.find("decision");
    if (!value || sent.is_repeated("decision")) return decision::none;
    return *value == "allow" ? decision::allow : *value == "deny" ? decision::deny : decision::none;
}

TOLLGATE_DECL const message_texts& texts_for(page_failure why, const consent_texts& texts) noexcept {
    switch (why) {
        case page_failure::missing_client_id: return texts.missing_client;
        case page_failure::unknown_client: return texts.unknown_client;
        case page_failure::unregistered_redirect: break;
    }
    return texts.unregistered_redirect;
}

}  // namespace tollgate::oauth
