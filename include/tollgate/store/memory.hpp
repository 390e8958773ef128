#pragma once

#include <tollgate/contract/hook_store.hpp>
#include <tollgate/contract/token_store.hpp>
#include <tollgate/store/contained.hpp>
#include <tollgate/store/memory/access_tokens.hpp>
#include <tollgate/store/memory/hooks.hpp>
#include <tollgate/store/memory/personal_tokens.hpp>

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace tollgate {

/// How much a `memory_store` takes before it refuses more with a problem (unavailable): no stranger fills the memory of
/// the process it lives in. A row is about 1 to 4 kB.
struct memory_settings {
    std::size_t personal_tokens_max = 100'000;
    std::size_t access_tokens_max = 100'000;
    std::size_t hooks_max = 100'000;
};

/// The store in memory, for tests, for demonstrations, and for those who keep the truth elsewhere; also the reference
/// for what a verb does. Nothing outlives the process.
///
/// Thread rule: any thread. Non-blocking: locks are held for the time of a copy. `find_...` allocate nothing.
class memory_store {
public:
    static constexpr bool blocking = false;

    explicit memory_store(const memory_settings& settings = {})
        : personal_{settings.personal_tokens_max}, access_{settings.access_tokens_max}, hooks_{settings.hooks_max} {}

    outcome<std::optional<token_credential>> find_personal_token(std::string_view username) noexcept {
        return personal_.find(username);
    }
    outcome<token_id> create_personal_token(const new_personal_token& made, std::size_t tokens_per_user_max) noexcept {
        return detail::contained([&] { return personal_.create(made, tokens_per_user_max); });
    }
    outcome<std::vector<personal_token>> personal_tokens_of(user_id user) noexcept {
        return detail::contained([&] { return personal_.of(user); });
    }
    outcome<bool> revoke_personal_token(token_id id) noexcept {
        return detail::contained([&] { return personal_.revoke(id); });
    }
    outcome<void> record_personal_token_use(std::string_view username, instant now) noexcept {
        return personal_.record_use(username, now);
    }

    outcome<std::optional<token_credential>> find_access_token(const digest& token) noexcept {
        return access_.find(token);
    }
    outcome<void> create_access_token(const new_access_token& made) noexcept {
        return detail::contained([&] { return access_.create(made); });
    }
    outcome<bool> revoke_access_token(const digest& token) noexcept {
        return detail::contained([&] { return access_.revoke(token); });
    }

    outcome<hook_id> create_hook(const new_hook& made, std::size_t hooks_per_event_max) noexcept {
        return detail::contained([&] { return hooks_.create(made, hooks_per_event_max); });
    }
    outcome<std::vector<hook>> hooks_of(const account_ref& account) noexcept {
        return detail::contained([&] { return hooks_.of(account); });
    }
    outcome<std::optional<account_ref>> account_of_hook(const service_name& service, hook_id id) noexcept {
        return detail::contained([&] { return hooks_.account_of(service, id); });
    }
    outcome<bool> replace_hook_secret(const account_ref& account, hook_id id, const std::string& secret,
                                      instant old_valid_until) noexcept {
        return detail::contained([&] { return hooks_.replace_secret(account, id, secret, old_valid_until); });
    }
    outcome<bool> delete_hook(const account_ref& account, hook_id id) noexcept {
        return detail::contained([&] { return hooks_.remove(account, id); });
    }

private:
    memory::personal_tokens personal_;
    memory::access_tokens access_;
    memory::hooks hooks_;
};

static_assert(token_store<memory_store>);
static_assert(hook_store<memory_store>);

}  // namespace tollgate
