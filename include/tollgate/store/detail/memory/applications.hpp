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
    /// Returns true if the application may get a token for the accounts of its owner, who is this user.
    [[nodiscard]] bool may_act_for(application_id id, user_id user) const noexcept {
        const application* const found = find(id);
        return found != nullptr && found->owner == user && found->acts_for_owner && found->type == client_type::confidential &&
               !found->suspended;
    }
    /// Returns the owner; empty if nothing was changed. Throws std::bad_alloc without effect.
    TOLLGATE_DECL std::optional<user_id> change(const std::optional<user_id>& changed_by, application_id id,
                                                const application_change& change);
    TOLLGATE_DECL bool remove(user_id owner, application_id id) noexcept;

private:
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
