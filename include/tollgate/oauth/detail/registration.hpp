#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_REGISTRATION_HPP
#define TOLLGATE_OAUTH_DETAIL_REGISTRATION_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/oauth/detail/client_rows.hpp>
#include <tollgate/pipeline/detail/row.hpp>

namespace tollgate::inline v0::oauth {

/// The functions of the rows where applications register themselves (RFC 7591), read their registration and delete it (RFC 7592).
struct registration_rules {
    using row_call = pipeline::row_call;
    using progress = pipeline::progress;

    // The callers have the initial access token, if the settings want one.
    static TOLLGATE_DECL void read_initial_token(row_call& call);
    static constexpr pipeline::caller_rule new_applications{.read = &read_initial_token};
    // The callers have the token of their registration.
    static TOLLGATE_DECL void read_registration_token(row_call& call);
    static TOLLGATE_DECL progress find_registration(row_call& call);
    static constexpr pipeline::caller_rule registered_applications{
        .work = http::work_kind::credentials, .read = &read_registration_token, .find = &find_registration};
    /// Counts a wrong token against the window of the client's address, like a wrong client secret.
    static TOLLGATE_DECL progress count(row_call& call);
    static constexpr pipeline::limit_rule wrong_tokens{&count};

    static TOLLGATE_DECL progress check_body(row_call& call);
    static constexpr pipeline::body_rule body{.check = &check_body};

    static TOLLGATE_DECL void reject(row_call& call, const pipeline::rejection& reason);
    static constexpr pipeline::response_form form{&reject, &client_rules::fail, &client_rules::add_fields};

    static TOLLGATE_DECL result<progress> create(row_call& call);
    static TOLLGATE_DECL result<progress> respond(row_call& call);
    static TOLLGATE_DECL result<progress> remove(row_call& call);
    static constexpr pipeline::step create_steps[]{{http::work_kind::token_endpoint, &create}};
    static constexpr pipeline::step get_steps[]{{http::work_kind::other, &respond}};
    static constexpr pipeline::step delete_steps[]{{http::work_kind::token_endpoint, &remove}};
};

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/registration.ipp>
#endif

#endif  // TOLLGATE_OAUTH_DETAIL_REGISTRATION_HPP
