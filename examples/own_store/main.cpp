// A storage adapter of one's own, and the tests that say whether it is right: those that the library's own stores pass.
#include <tollgate/tollgate.hpp>

#include <tollgate/store/suite.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace tollgate;

/// An adapter as one writes it for a database that is there already. In the place of the database stand a few maps and
/// one mutex: whoever holds it is in a transaction. Each verb is one, never a read and then a write.
class table_store {
public:
    // Ours waits for nobody. An adapter that waits for a disk or a network says true, and is called on worker threads.
    static constexpr bool blocking = false;

    // [tokens]
    outcome<std::optional<token_credential>> find_personal_token(std::string_view username) {
        const std::lock_guard transaction{mutex_};
        for (const auto& [id, row] : personal_tokens_)
            if (row.username == username)
                return std::optional{token_credential{row.user, row.secret_digest, row.scopes, {}, {}}};
        return std::optional<token_credential>{};
    }

    outcome<token_id> create_personal_token(const new_personal_token& made, std::size_t tokens_per_user_max) {
        const std::lock_guard transaction{mutex_};
        std::size_t there = 0;  // counted in the transaction that adds one, so that no two pass the bound
        for (const auto& [id, row] : personal_tokens_) {
            if (row.username == made.username) return problem{problem_kind::conflict, "The username is taken.", {}};
            if (row.user == made.user) ++there;
        }
        if (there >= tokens_per_user_max) return invalid("You have as many personal tokens as you may.");
        const auto id = token_id{++last_token_};
        personal_tokens_.emplace(id, made);
        return id;
    }
    // [/tokens]

    outcome<std::vector<personal_token>> personal_tokens_of(user_id user) {
        const std::lock_guard transaction{mutex_};
        std::vector<personal_token> found;
        for (const auto& [id, row] : personal_tokens_)  // in the order of ids, which is that of creation
            if (row.user == user)
                found.push_back({id, row.user, row.username, row.description, row.scopes, row.created_at, {}});
        return found;
    }

    outcome<bool> revoke_personal_token(token_id id) {
        const std::lock_guard transaction{mutex_};
        return personal_tokens_.erase(id) != 0;
    }

    outcome<std::optional<token_credential>> find_access_token(const digest& token) {
        const std::lock_guard transaction{mutex_};
        const auto found = access_tokens_.find(token.bytes());
        if (found == access_tokens_.end()) return std::optional<token_credential>{};
        const auto& row = found->second;
        return std::optional{
            token_credential{row.user, row.token_digest, row.scopes, row.expires_at, row.application}};
    }

    outcome<void> create_access_token(const new_access_token& made) {
        const std::lock_guard transaction{mutex_};
        if (!access_tokens_.emplace(made.token_digest.bytes(), made).second)
            return problem{problem_kind::conflict, "The token exists.", {}};
        return {};
    }

    outcome<bool> revoke_access_token(const digest& token) {
        const std::lock_guard transaction{mutex_};
        return access_tokens_.erase(token.bytes()) != 0;
    }

    // [hooks]
    outcome<hook_id> create_hook(const new_hook& made, std::size_t hooks_per_event_max) {
        const std::lock_guard transaction{mutex_};
        std::size_t there = 0;  // counted in the transaction that adds one, so that no two pass the bound
        for (const auto& [id, row] : hooks_)
            if (row.account == made.account && row.event == made.event) ++there;
        if (there >= hooks_per_event_max) return invalid("event has as many webhooks as it may have.");
        const auto id = hook_id{++last_hook_};
        hooks_.emplace(id, made);
        return id;
    }
    // [/hooks]

    outcome<std::vector<hook>> hooks_of(const account_ref& account) {
        const std::lock_guard transaction{mutex_};
        std::vector<hook> found;
        for (const auto& [id, row] : hooks_)
            if (row.account == account)
                found.push_back({id, row.account, row.event, row.source, row.type, row.target_url, row.created_at});
        return found;
    }

    outcome<std::optional<account_ref>> account_of_hook(const service_name& service, hook_id id) {
        const std::lock_guard transaction{mutex_};
        const auto found = hooks_.find(id);
        if (found == hooks_.end() || found->second.account.service != service) return std::optional<account_ref>{};
        return std::optional{found->second.account};
    }

    outcome<bool> replace_hook_secret(const account_ref& account, hook_id id, const std::string& secret,
                                      instant old_valid_until) {
        const std::lock_guard transaction{mutex_};
        const auto found = hooks_.find(id);
        if (found == hooks_.end() || found->second.account != account) return false;
        old_secrets_.insert_or_assign(id, old_secret{found->second.secret, old_valid_until});
        found->second.secret = secret;
        return true;
    }

    outcome<bool> delete_hook(const account_ref& account, hook_id id) {
        const std::lock_guard transaction{mutex_};
        const auto found = hooks_.find(id);
        if (found == hooks_.end() || found->second.account != account) return false;
        hooks_.erase(found);
        old_secrets_.erase(id);
        return true;
    }

private:
    struct old_secret {
        std::string text;
        instant valid_until;
    };
    using digest_bytes = std::array<std::uint8_t, digest::size_bytes>;

    std::mutex mutex_;
    std::int64_t last_token_ = 0;
    std::int64_t last_hook_ = 0;
    std::map<token_id, new_personal_token> personal_tokens_;
    std::map<digest_bytes, new_access_token> access_tokens_;
    std::map<hook_id, new_hook> hooks_;
    std::map<hook_id, old_secret> old_secrets_;
};

static_assert(token_store<table_store>);
static_assert(hook_store<table_store>);

int main() {
    // [suite]
    const bool right = store_suite::run(
        [] { return std::make_unique<table_store>(); },
        [](const store_suite::verdict& each) {
            std::cout << (each.passed ? "passed  " : "FAILED  ") << each.name << ' ' << each.message << '\n';
        });
    // [/suite]
    return right ? 0 : 1;
}
