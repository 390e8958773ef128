#pragma once
#ifndef TOLLGATE_STORE_DETAIL_MEMORY_APPLICATIONS_HPP
#define TOLLGATE_STORE_DETAIL_MEMORY_APPLICATIONS_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/application.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace tollgate::inline v0::memory {

/// The verbs of `application_store`, in memory, except for what is deleted together with an application.
///
/// Thread rule: callers hold the lock of the store's OAuth part.
class applications {
public:
    explicit applications(std::size_t applications_max) : applications_max_{applications_max} {}

    TOLLGATE_DECL result<application_id> create(const new_application& created, std::size_t applications_per_user_max);
    [[nodiscard]] TOLLGATE_DECL std::optional<application> find(std::string_view client_id) const;
    /// Null if there is none.
    [[nodiscard]] TOLLGATE_DECL const application* find(application_id id) const noexcept;
    /// Returns false also if there is none.
    [[nodiscard]] bool may_get_tokens(application_id id) const noexcept {
        const application* const found = find(id);
        return found != nullptr && !found->suspended;
    }
    [[nodiscard]] TOLLGATE_DECL std::vector<application> of(user_id owner) const;
    TOLLGATE_DECL bool update(user_id owner, application_id id, const application_change& changed);
    TOLLGATE_DECL bool add_secret(user_id owner, application_id id, const digest& secret,
                                  const std::optional<digest>& replaced) noexcept;
    TOLLGATE_DECL bool remove_older_secret(user_id owner, application_id id) noexcept;
    TOLLGATE_DECL bool set_suspension(application_id id, const std::optional<suspension>& suspended) noexcept;
    TOLLGATE_DECL bool remove(user_id owner, application_id id) noexcept;

private:
    /// Null when the owner has no such application.
    [[nodiscard]] TOLLGATE_DECL application* find_of(user_id owner, application_id id) noexcept;

    const std::size_t applications_max_;
    std::int64_t last_id_ = 0;
    std::map<application_id, application> rows_;
    std::map<client_id_text, application_id, std::less<>> by_client_id_;  // not hashed: clients choose the keys
    std::set<std::pair<user_id, application_id>> of_owner_;
};

}  // namespace tollgate::memory

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/memory/applications.ipp>
#endif

#endif  // TOLLGATE_STORE_DETAIL_MEMORY_APPLICATIONS_HPP
