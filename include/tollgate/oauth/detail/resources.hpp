#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_RESOURCES_HPP
#define TOLLGATE_OAUTH_DETAIL_RESOURCES_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/model/resource.hpp>
#include <tollgate/model/settings.hpp>
#include <tollgate/oauth/detail/failure.hpp>
#include <tollgate/oauth/detail/parameters.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tollgate::inline v0::oauth {

/// The protected resources for which an authorization server issues tokens.
class resource_list {
public:
    /// The API's, and those of `settings.oauth.resources`. Throws std::invalid_argument for a resource that is not an absolute URL without
    /// a fragment (RFC 8707 section 2).
    TOLLGATE_COLD explicit resource_list(const account_service_settings& settings);

    /// The `resource` parameters of a request (RFC 8707 section 2), without duplicates. Error: invalid_target for a resource that is not in
    /// the list, and for more than a `resource_set` holds. A server that knows no resources ignores the parameter.
    [[nodiscard]] TOLLGATE_DECL std::variant<resource_set, failure> read(const parameters& sent) const;

    /// The URLs of these resources. A resource that is no longer in the list is left out.
    [[nodiscard]] TOLLGATE_DECL std::vector<std::string_view> urls_of(const resource_set& resources) const;

    /// Returns true if there is a choice, so that users should see it.
    [[nodiscard]] bool has_several() const noexcept { return all_.size() > 1; }

private:
    std::vector<std::pair<resource_id, std::string>> all_;
};

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/resources.ipp>
#endif

#endif  // TOLLGATE_OAUTH_DETAIL_RESOURCES_HPP
