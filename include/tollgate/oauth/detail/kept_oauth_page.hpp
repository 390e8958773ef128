#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_KEPT_OAUTH_PAGE_HPP
#define TOLLGATE_OAUTH_DETAIL_KEPT_OAUTH_PAGE_HPP

#include <tollgate/contract/observer.hpp>
#include <tollgate/http/detail/form_body.hpp>
#include <tollgate/model/application.hpp>
#include <tollgate/oauth/detail/client_documents.hpp>
#include <tollgate/oauth/detail/oauth_part.hpp>
#include <tollgate/oauth/detail/parameters.hpp>
#include <tollgate/oauth/detail/paths.hpp>
#include <tollgate/web/detail/page_part.hpp>

#include <optional>
#include <string>
#include <variant>

namespace tollgate::inline v0::oauth {

/// What a page of OAuth keeps for one request.
struct kept_oauth_page final : web::kept_page {
    [[nodiscard]] oauth_outcome outcome() const noexcept override { return noted.outcome(); }

    oauth::endpoint endpoint = oauth::endpoint::none;
    noted_outcome noted{};
    parameters sent{http::form_fields{{}}};    ///< of the form or the query
    std::optional<std::string> client_id{};    ///< the client_id, if there is exactly one that can exist
    std::optional<application> client{};       ///< the application as the store knows it
    bool is_stopped = false;                   ///< it is suspended, or its owner is not active
    std::optional<std::variant<application, document_failure>> described{};  ///< the application as its document describes it
};

}  // namespace tollgate::oauth

#endif  // TOLLGATE_OAUTH_DETAIL_KEPT_OAUTH_PAGE_HPP
