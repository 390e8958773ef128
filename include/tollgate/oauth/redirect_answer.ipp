#pragma once

#include <tollgate/oauth/redirect.hpp>
#include <tollgate/oauth/redirect_answer.hpp>

#include <vector>

namespace tollgate::oauth {

namespace detail {

inline std::string url_with(const return_address& to, std::vector<redirect_parameter> parameters) {
    if (to.state) parameters.push_back({"state", *to.state});
    parameters.push_back({"iss", to.issuer});
    return with_parameters(to.redirect, parameters);
}

}  // namespace detail

TOLLGATE_DECL std::string code_url(const return_address& to, std::string_view code) {
    return detail::url_with(to, {{"code", code}});
}

TOLLGATE_DECL std::string failure_url(const return_address& to, const failure& why) {
    return detail::url_with(to, {{"error", to_text(why.code)}, {"error_description", why.description}});
}

}  // namespace tollgate::oauth
