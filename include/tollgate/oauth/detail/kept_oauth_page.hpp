#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_KEPT_OAUTH_PAGE_HPP
#define TOLLGATE_OAUTH_DETAIL_KEPT_OAUTH_PAGE_HPP

#include <tollgate/contract/observer.hpp>
#include <tollgate/http/detail/form_body.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/model/application.hpp>
#include <tollgate/model/grant.hpp>
#include <tollgate/oauth/detail/client_documents.hpp>
#include <tollgate/oauth/detail/oauth_part.hpp>
#include <tollgate/oauth/detail/parameters.hpp>
#include <tollgate/oauth/detail/paths.hpp>
#include <tollgate/web/detail/form.hpp>
#include <tollgate/web/detail/page_part.hpp>

#include <optional>
#include <string>
#include <variant>

namespace tollgate::inline v0::oauth {

/// What the code of a form with sign-in is derived from.
struct signed_in_form {
    std::string key;
    web::form_nonce nonce;
    user_id user;
};

/// What a page of OAuth keeps for one request.
struct kept_oauth_page final : web::kept_page {
    [[nodiscard]] oauth_outcome outcome() const noexcept override { return noted.outcome(); }
    void forget() noexcept override {
        client.reset();
        is_stopped = false;
        described.reset();
        wants_sign_out = false;
        code.reset();
        owner.reset();
    }

    /// Returns true if the application is described by a document, or unknown, so that it may be.
    [[nodiscard]] bool may_have_document() const noexcept {
        return !client || client->registration == registration_kind::metadata_document;
    }

    oauth::endpoint endpoint = oauth::endpoint::none;
    noted_outcome noted{};
    parameters sent{http::form_fields{{}}};    ///< of the form or the query
    std::optional<std::string> client_id{};    ///< the client_id, if there is exactly one that can exist
    std::optional<application> client{};       ///< the application as the store knows it
    bool is_stopped = false;                   ///< it is suspended, or its owner is not active
    std::optional<std::variant<application, document_failure>> described{};  ///< the application as its document describes it
    std::optional<signed_in_form> just_signed_in{};                          ///< the form signed its user in
    bool wants_sign_out = false;                                             ///< the user wants to be somebody else

    // Only the page of devices has these.
    std::optional<std::optional<device_code>> code{};  ///< the code of the request, once it was looked up
    std::optional<user_id> owner{};                    ///< the owner of the application, if they have to be looked up
};

}  // namespace tollgate::oauth

#endif  // TOLLGATE_OAUTH_DETAIL_KEPT_OAUTH_PAGE_HPP
