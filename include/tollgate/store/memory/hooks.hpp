#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/outcome.hpp>
#include <tollgate/domain/hook.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tollgate::memory {

/// The verbs of `hook_store`, in memory.
class hooks {
public:
    explicit hooks(std::size_t hooks_max) : hooks_max_{hooks_max} {}

    TOLLGATE_DECL outcome<hook_id> create(const new_hook& made, std::size_t hooks_per_event_max);
    [[nodiscard]] TOLLGATE_DECL outcome<std::vector<hook>> of(const account_ref& account) const;
    [[nodiscard]] TOLLGATE_DECL outcome<std::optional<account_ref>> account_of(const service_name& service,
                                                                               hook_id id) const;
    TOLLGATE_DECL outcome<bool> replace_secret(const account_ref& account, hook_id id, const std::string& secret,
                                               instant old_valid_until);
    TOLLGATE_DECL outcome<bool> remove(const account_ref& account, hook_id id);

private:
    struct row {
        new_hook made;
        std::string previous_secret;  // signs, too, until ...
        std::optional<instant> previous_secret_until;
    };

    const std::size_t hooks_max_;

    mutable std::mutex mutex_;
    std::int64_t last_id_ = 0;
    std::unordered_map<hook_id, row> hooks_;
    std::map<account_ref, std::vector<hook_id>> of_account_;  // oldest first
};

}  // namespace tollgate::memory

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/memory/hooks.ipp>
#endif
