#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_OAUTH_PART_HPP
#define TOLLGATE_OAUTH_DETAIL_OAUTH_PART_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/contract/observer.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/limits/window_limiter.hpp>
#include <tollgate/model/settings.hpp>
#include <tollgate/oauth/detail/client_documents.hpp>
#include <tollgate/oauth/detail/failure.hpp>
#include <tollgate/oauth/detail/paths.hpp>
#include <tollgate/oauth/detail/resources.hpp>
#include <tollgate/pipeline/detail/row.hpp>
#include <tollgate/policy/policies.hpp>
#include <tollgate/web/detail/page_part.hpp>
#include <tollgate/web/page_theme.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0::oauth {

/// What observers get to know of an OAuth request.
struct noted_outcome {
    std::string client_id{};            ///< the client_id as sent, cut to the longest possible length
    std::optional<error_code> error{};  ///< the error of the response, or of the redirect to the application

    void note_client(std::string_view sent) { client_id = sent.substr(0, limits::client_id_bytes_max); }
    [[nodiscard]] oauth_outcome outcome() const noexcept { return {client_id, error ? to_text(*error) : std::string_view{}}; }
};

/// The rows of an authorization server.
class oauth_part final : public web::page_part {
public:
    /// Throws std::invalid_argument, as the constructor of `authorization_server` does.
    TOLLGATE_COLD oauth_part(account_service_settings&& settings, const oauth_store_ref& store, const session_source_ref& sessions,
                             tollgate::policies&& policies, any_page_theme&& theme);

    [[nodiscard]] bool serves(const http::request& request) const noexcept override {
        return paths_.find(request.target.path) != endpoint::none || renderer().site().find_asset(request.target.path) != nullptr;
    }
    TOLLGATE_DECL void find_row(pipeline::row_call& call) const override;
    TOLLGATE_COLD void refuse(const http::refusal& refused, http::response& response) const override;
    [[nodiscard]] TOLLGATE_DECL bool may_block() const noexcept override;

    /// The paths for `http::site`.
    [[nodiscard]] TOLLGATE_COLD std::vector<std::string> mounts() const;

    // What endpoints use.

    [[nodiscard]] const oauth_store_ref& store() const noexcept { return store_; }
    [[nodiscard]] const resource_list& resources() const noexcept { return resources_; }
    [[nodiscard]] client_documents& documents() const noexcept { return documents_; }
    [[nodiscard]] window_limiter& page_limiter() const noexcept { return page_limiter_; }
    [[nodiscard]] window_limiter& grant_limiter() const noexcept { return grant_limiter_; }
    [[nodiscard]] window_limiter& registration_limiter() const noexcept { return registration_limiter_; }
    [[nodiscard]] window_limiter& device_limiter() const noexcept { return device_limiter_; }
    [[nodiscard]] std::string_view documentation_url() const noexcept { return documentation_url_; }
    [[nodiscard]] std::string_view form_cookie() const noexcept { return form_cookie_; }
    [[nodiscard]] std::string_view metadata() const noexcept { return metadata_; }

private:
    /// The rows of an endpoint. Those of methods that it does not support have no steps; `refused` is for these and for OPTIONS.
    struct endpoint_rows {
        pipeline::row get, post, remove, refused;
        pipeline::row redirect;  // of a page without a language
    };

    TOLLGATE_COLD void make_rows();

    oauth_store_ref store_;
    paths paths_;
    resource_list resources_;
    mutable client_documents documents_;
    mutable window_limiter page_limiter_{{.users = 64, .addresses = std::size_t{1} << 14}};
    mutable window_limiter grant_limiter_{{.users = std::size_t{1} << 16, .addresses = 64}};  // requests for tokens, and polls
    mutable window_limiter registration_limiter_{{.users = 64, .addresses = std::size_t{1} << 12}};
    mutable window_limiter device_limiter_{{.users = std::size_t{1} << 14, .addresses = std::size_t{1} << 14}};
    std::string documentation_url_;
    std::string form_cookie_;  // the name of the cookie
    std::string metadata_;
    std::array<endpoint_rows, endpoints_count> rows_;
    pipeline::row without_endpoint_;  // of paths that are neither an endpoint nor a page
};

}  // namespace tollgate::oauth

#endif  // TOLLGATE_OAUTH_DETAIL_OAUTH_PART_HPP
