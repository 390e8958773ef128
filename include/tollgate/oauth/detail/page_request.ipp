#pragma once

#include <tollgate/oauth/detail/page_request.hpp>
#include <tollgate/web/detail/form.hpp>

namespace tollgate::inline v0::oauth {

TOLLGATE_DECL std::variant<parameters, http::status> read_page_request(const http::request& asked,
                                                                       const pipeline::page_site& site) {
    if (asked.method == http::method::post) {
        if (pipeline::is_cross_site(asked, site)) return http::status::forbidden;
        auto form = pipeline::read_form(asked);
        if (const auto* status = std::get_if<http::status>(&form)) return *status;
        return parameters{std::get<http::form_fields>(form)};
    }
    auto query = parameters::from_form(asked.target.query);
    if (std::holds_alternative<failure>(query)) return http::status::bad_request;
    return std::get<parameters>(std::move(query));
}

TOLLGATE_DECL decision read_decision(const parameters& sent) {
    const auto said = sent.find("decision");
    if (!said || sent.is_repeated("decision")) return decision::none;
    return *said == "allow" ? decision::allow : *said == "deny" ? decision::deny : decision::none;
}

TOLLGATE_DECL const message_texts& texts_for(page_failure why, const consent_texts& texts) noexcept {
    switch (why) {
        case page_failure::no_client: return texts.no_client;
        case page_failure::unknown_client: return texts.unknown_client;
        case page_failure::wrong_redirect: break;
    }
    return texts.wrong_redirect;
}

}  // namespace tollgate::oauth
