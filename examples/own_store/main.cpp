// A custom storage adapter, and the conformance suite that checks it, which the library's own stores pass.
#include "delivery_tables.hpp"

// [include]
#include <tollgate/testing/store_suite.hpp>
// [/include]
#include <tollgate/tollgate.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace tollgate;

/// An adapter as one would write it for an existing database. Maps and a mutex replace the database: holding the mutex
/// is being in a transaction. Each verb is one transaction, never a read followed by a write.
class table_store {
public:
    // This store never waits. An adapter that waits for a disk or a network declares true and is called on worker
    // threads.
    static constexpr bool blocking = false;

    // [tokens]
    result<std::optional<token_credential>> find_personal_token(std::string_view username) {
        const std::lock_guard transaction{mutex_};
        for (const auto& [id, row] : personal_tokens_)
            if (row.username == username)
                return std::optional{token_credential{row.user, row.secret_digest, row.scopes, row.expires_at, {}}};
        return std::optional<token_credential>{};
    }

    result<token_id> create_personal_token(const new_personal_token& made, std::size_t tokens_per_user_max) {
        const std::lock_guard transaction{mutex_};
        // counted in the transaction that inserts, so that parallel calls cannot exceed the bound
        std::size_t there = 0;
        for (const auto& [id, row] : personal_tokens_) {
            if (row.username == made.username) return error{error_kind::conflict, "The username is taken.", {}};
            if (row.user == made.user) ++there;
        }
        if (there >= tokens_per_user_max) return invalid("You have as many personal tokens as you may.");
        const auto id = token_id{++last_token_};
        personal_tokens_.emplace(id, made);
        return id;
    }
    // [/tokens]

    result<std::vector<personal_token>> personal_tokens_of(user_id user) {
        const std::lock_guard transaction{mutex_};
        std::vector<personal_token> found;
        for (const auto& [id, row] : personal_tokens_)  // in the order of ids, which is the order of creation
            if (row.user == user)
                found.push_back({id, row.user, row.username, row.description, row.scopes, row.created_at, {},
                                 row.expires_at, {}});
        return found;
    }

    result<bool> renew_personal_token(user_id user, token_id id, const personal_token_renewal& renewed) {
        const std::lock_guard transaction{mutex_};
        const auto found = personal_tokens_.find(id);
        if (found == personal_tokens_.end() || found->second.user != user) return false;
        found->second.secret_digest = renewed.secret_digest;
        found->second.created_at = renewed.created_at;
        found->second.expires_at = renewed.expires_at;
        return true;
    }

    result<bool> revoke_personal_token(token_id id) {
        const std::lock_guard transaction{mutex_};
        return personal_tokens_.erase(id) != 0;
    }

    result<std::optional<token_credential>> find_access_token(const digest& token) {
        const std::lock_guard transaction{mutex_};
        const auto found = access_tokens_.find(token.bytes());
        if (found == access_tokens_.end()) return std::optional<token_credential>{};
        const auto& row = found->second.made;
        return std::optional{token_credential{row.user, row.token_digest, row.scopes, row.expires_at, row.application}};
    }

    result<void> create_access_token(const new_access_token& made) {
        const std::lock_guard transaction{mutex_};
        if (!access_tokens_.emplace(made.token_digest.bytes(), access_row{made, {}}).second)
            return error{error_kind::conflict, "The token exists.", {}};
        return {};
    }

    result<bool> revoke_access_token(const digest& token) {
        const std::lock_guard transaction{mutex_};
        return access_tokens_.erase(token.bytes()) != 0;
    }

    result<application_id> create_application(const new_application& made, std::size_t applications_per_user_max) {
        const std::lock_guard transaction{mutex_};
        std::size_t there = 0;
        for (const auto& [id, row] : applications_) {
            if (row.client_id == made.client_id) return error{error_kind::conflict, "The client_id is taken.", {}};
            if (row.owner == made.owner) ++there;
        }
        if (there >= applications_per_user_max) return invalid("You have as many applications as you may.");
        const auto id = application_id{++last_application_};
        applications_.emplace(id, application{id, made.owner, made.client_id, made.secret_digest, made.name,
                                              made.website, made.description, made.redirect_urls, made.created_at,
                                              made.type, {}, false, 0});
        return id;
    }

    result<std::optional<application>> find_application(std::string_view client_id) {
        const std::lock_guard transaction{mutex_};
        for (const auto& [id, row] : applications_)
            if (row.client_id == client_id) return std::optional{row};
        return std::optional<application>{};
    }

    result<std::vector<application>> applications_of(user_id owner) {
        const std::lock_guard transaction{mutex_};
        std::vector<application> found;
        for (const auto& [id, row] : applications_) {
            if (row.owner != owner) continue;
            auto& listed = found.emplace_back(row);
            for (const auto& [number, granted] : grants_) listed.users += granted.application == listed.id ? 1 : 0;
        }
        return found;
    }

    result<bool> update_application(user_id owner, application_id id, const application_change& changed) {
        const std::lock_guard transaction{mutex_};
        application* const found = find_application_of(owner, id);
        if (found == nullptr) return false;
        found->name = changed.name;
        found->website = changed.website;
        found->description = changed.description;
        found->redirect_urls = changed.redirect_urls;
        found->acts_for_owner = changed.acts_for_owner;
        for (auto& [number, row] : grants_)
            if (row.application == id) {
                row.application_name = changed.name;
                row.application_website = changed.website;
            }
        if (!changed.acts_for_owner)
            std::erase_if(access_tokens_, [&](const auto& each) {
                const access_row& row = each.second;
                return row.made.application == id && row.made.user == owner && !row.refresh_token;
            });
        return true;
    }

    result<bool> add_client_secret(user_id owner, application_id id, const digest& secret) {
        const std::lock_guard transaction{mutex_};
        application* const found = find_application_of(owner, id);
        if (found == nullptr) return false;
        found->older_secret_digest = found->secret_digest;
        found->secret_digest = secret;
        return true;
    }

    result<bool> remove_older_secret(user_id owner, application_id id) {
        const std::lock_guard transaction{mutex_};
        application* const found = find_application_of(owner, id);
        if (found == nullptr || !found->older_secret_digest) return false;
        found->older_secret_digest.reset();
        return true;
    }

    result<bool> delete_application(user_id owner, application_id id) {
        const std::lock_guard transaction{mutex_};
        const auto found = applications_.find(id);
        if (found == applications_.end() || found->second.owner != owner) return false;
        applications_.erase(found);
        std::erase_if(device_codes_, [&](const auto& each) { return each.second.found.application == id; });
        std::erase_if(grants_, [&](const auto& each) { return each.second.application == id; });
        forget_of([&](user_id, application_id of) { return of == id; });
        return true;
    }

    result<std::optional<scope_set>> granted_scopes(user_id user, application_id application) {
        const std::lock_guard transaction{mutex_};
        for (const auto& [id, row] : grants_)
            if (row.user == user && row.application == application) return std::optional{row.scopes};
        return std::optional<scope_set>{};
    }

    result<code_result> create_code(const new_authorization_code& made) {
        const std::lock_guard transaction{mutex_};
        const auto there = codes_.find(made.code_digest.bytes());
        if (there != codes_.end()) return there->second.refresh_token ? code_result::spent : code_result::waiting;
        const auto asking = applications_.find(made.application);
        if (asking == applications_.end()) return not_found();

        auto granted = grants_.begin();
        while (granted != grants_.end() &&
               (granted->second.user != made.user || granted->second.application != made.application))
            ++granted;
        scope_set scopes = granted == grants_.end() ? scope_set{} : granted->second.scopes;
        if (made.only_if_granted && (granted == grants_.end() || !scopes.contains_all(made.scopes)))
            return code_result::not_granted;
        if (!made.scopes.for_each([&](std::string_view each) { return scopes.add(each); }))
            return invalid("These are more scopes than can be kept.");
        if (granted == grants_.end()) {
            const auto id = grant_id{++last_grant_};
            const auto& [client, row] = *asking;
            granted =
                grants_.emplace(id, grant{id, made.user, client, row.name, row.website, {}, made.created_at, {}}).first;
        }
        granted->second.scopes = scopes;
        codes_.emplace(made.code_digest.bytes(), code_row{made, {}});
        return code_result::created;
    }

    // [codes]
    result<redeemed_code> redeem_code(const code_redemption& shown) {
        // of two simultaneous calls, the second sees the effect of the first
        const std::lock_guard transaction{mutex_};
        const auto found = codes_.find(shown.code_digest.bytes());
        if (found == codes_.end() || found->second.made.application != shown.application) return redeemed_code{};
        auto& [code, refresh_token] = found->second;
        if (refresh_token) {  // reused, perhaps by a thief: the tokens made from it are revoked
            revoke_refresh_token(*refresh_token);
            return redeemed_code{redemption_result::reused, {}, {}};
        }
        if (code.expires_at <= shown.now) return redeemed_code{redemption_result::expired, {}, {}};
        if (shown.redirect_uri && *shown.redirect_uri != code.redirect)
            return redeemed_code{redemption_result::redirect_mismatch, {}, {}};
        if (shown.code_challenge != code.code_challenge)
            return redeemed_code{redemption_result::verifier_mismatch, {}, {}};

        const auto& tokens = shown.tokens;
        const auto refresh_digest = tokens.refresh_digest.bytes(), access_digest = tokens.access_digest.bytes();
        if (refresh_tokens_.contains(refresh_digest) || access_tokens_.contains(access_digest))
            return error{error_kind::conflict, "The token exists.", {}};
        const auto expires_at = std::min(tokens.refresh_expires_at, tokens.refresh_ends_at);
        const auto id = ++last_refresh_token_;
        refresh_tokens_.emplace(refresh_digest, refresh_row{id, code.user, code.application, code.scopes, expires_at,
                                                            tokens.refresh_ends_at});
        access_tokens_.emplace(access_digest, access_row{{code.user, code.application, tokens.access_digest,
                                                          code.scopes, shown.now, tokens.access_expires_at},
                                                         id});
        refresh_token = id;  // spent, and kept so that reuse is detected
        return redeemed_code{redemption_result::redeemed, code.user, code.scopes};
    }
    // [/codes]

    result<refreshed_token> refresh_access_token(const token_refresh& shown) {
        const std::lock_guard transaction{mutex_};
        const auto& rotation = shown.rotation;
        auto found = refresh_tokens_.find(shown.refresh_digest.bytes());
        const bool is_current = found != refresh_tokens_.end();
        if (!is_current && rotation) found = find_family(rotation->family_digest);
        if (found == refresh_tokens_.end() || found->second.application != shown.application ||
            found->second.expires_at <= shown.now)
            return refreshed_token{};
        refresh_row& token = found->second;
        if (!is_current &&
            (token.replaced != shown.refresh_digest || shown.now >= token.replaced_at + rotation->grace)) {
            revoke_all_of(user_id{token.user}, shown.application);  // somebody has it who should not
            return refreshed_token{refresh_result::reused, {}};
        }
        const scope_set scopes = shown.narrowed.value_or(token.scopes);
        if (!scopes.for_each([&](std::string_view each) { return token.scopes.contains(each); }))
            return refreshed_token{refresh_result::too_wide, {}};
        if (rotation && is_current && refresh_tokens_.contains(rotation->successor_digest.bytes()))
            return error{error_kind::conflict, "The token exists.", {}};
        const bool is_new =
            access_tokens_
                .emplace(shown.access_digest.bytes(), access_row{{token.user, token.application, shown.access_digest,
                                                                  scopes, shown.now, shown.access_expires_at},
                                                                 token.id})
                .second;
        if (!is_new) return error{error_kind::conflict, "The token exists.", {}};
        token.expires_at = std::min<instant>(shown.now + shown.refresh_lifetime, token.ends_at);
        if (!rotation) return refreshed_token{refresh_result::refreshed, scopes, {}};
        if (is_current) {
            token.family = rotation->family_digest;
            token.replaced = shown.refresh_digest;
            token.replaced_at = shown.now;
            token.successor_seed = rotation->successor_seed;
            auto row = refresh_tokens_.extract(found);
            row.key() = rotation->successor_digest.bytes();
            refresh_tokens_.insert(std::move(row));
        }
        return refreshed_token{refresh_result::refreshed, scopes, token.successor_seed};
    }

    result<void> revoke_oauth_token(application_id application, const digest& token) {
        const std::lock_guard transaction{mutex_};
        auto refresh = refresh_tokens_.find(token.bytes());
        if (refresh == refresh_tokens_.end()) refresh = find_family(token);
        if (refresh != refresh_tokens_.end() && refresh->second.application == application)
            revoke_refresh_token(refresh->second.id);
        const auto access = access_tokens_.find(token.bytes());
        if (access != access_tokens_.end() && access->second.made.application == application)
            access_tokens_.erase(access);
        return {};
    }

    result<std::optional<oauth_token>> find_oauth_token(const digest& token) {
        const std::lock_guard transaction{mutex_};
        std::optional<oauth_token> found_token;
        if (const auto found = access_tokens_.find(token.bytes()); found != access_tokens_.end()) {
            const auto& is = found->second.made;
            found_token = oauth_token{false, is.user, is.application, {}, is.scopes, is.created_at, is.expires_at};
        } else if (const auto refresh = refresh_tokens_.find(token.bytes()); refresh != refresh_tokens_.end()) {
            const auto& is = refresh->second;
            found_token = oauth_token{true, is.user, is.application, {}, is.scopes, {}, is.expires_at};
        }
        if (!found_token) return found_token;
        const auto of = applications_.find(found_token->application);
        if (of != applications_.end()) found_token->client_id = of->second.client_id;
        return found_token;
    }

    result<bool> create_owner_token(const new_access_token& made) {
        const std::lock_guard transaction{mutex_};
        const application* const of = find_application_of(made.user, made.application);
        if (of == nullptr || !of->acts_for_owner || of->type != client_type::confidential) return false;
        if (!access_tokens_.emplace(made.token_digest.bytes(), access_row{made, {}}).second)
            return error{error_kind::conflict, "The token exists.", {}};
        return true;
    }

    result<void> create_device_code(const new_device_code& made) {
        const std::lock_guard transaction{mutex_};
        const auto of = applications_.find(made.application);
        if (of == applications_.end()) return not_found();
        if (find_device(made.device_digest) != device_codes_.end() || find_device(made.user_digest) != device_codes_.end())
            return error{error_kind::conflict, "The code exists.", {}};
        device_codes_.emplace(made.device_digest.bytes(),
                              device_row{made.user_digest,
                                         {made.device_digest, made.application, of->second.client_id, made.scopes,
                                          made.requested_from, made.created_at, made.expires_at}});
        return {};
    }

    result<std::optional<device_code>> find_device_code(const digest& code) {
        const std::lock_guard transaction{mutex_};
        const auto found = find_device(code);
        return found == device_codes_.end() ? std::nullopt : std::optional{found->second.found};
    }

    result<bool> answer_device_code(const digest& user_code, device_code_state answer) {
        const std::lock_guard transaction{mutex_};
        const auto found = find_device(user_code);
        if (found == device_codes_.end() || found->second.user_digest != user_code ||
            found->second.found.state != device_code_state::pending)
            return false;
        found->second.found.state = answer;
        return true;
    }

    result<std::vector<grant>> grants_of(user_id user) {
        const std::lock_guard transaction{mutex_};
        std::vector<grant> found;
        for (const auto& [id, row] : grants_)
            if (row.user == user) found.push_back(row);
        return found;
    }

    result<bool> revoke_grant(user_id user, application_id application) {
        const std::lock_guard transaction{mutex_};
        return revoke_all_of(user, application);
    }

    result<std::size_t> sweep_expired(instant now, std::size_t rows_max) {
        const std::lock_guard transaction{mutex_};
        std::size_t swept = 0;
        const auto sweep = [&](auto& table, auto end_of) {
            for (auto each = table.begin(); each != table.end() && swept < rows_max;) {
                if (end_of(each->second) > now) {
                    ++each;
                    continue;
                }
                each = table.erase(each);
                ++swept;
            }
        };
        sweep(codes_, [](const code_row& each) {
            return each.made.expires_at + seconds{each.refresh_token ? limits::spent_code_seconds : 0};
        });
        sweep(access_tokens_, [](const access_row& each) { return each.made.expires_at; });
        sweep(refresh_tokens_, [](const refresh_row& each) { return each.expires_at; });
        sweep(device_codes_, [](const device_row& each) { return each.found.expires_at; });
        return swept;
    }

    // [hooks]
    result<hook_id> create_hook(const new_hook& made, std::size_t hooks_per_event_max) {
        const std::lock_guard transaction{mutex_};
        // counted in the transaction that inserts, so that parallel calls cannot exceed the bound
        std::size_t there = 0;
        for (const auto& [id, row] : hooks_)
            if (row.made.account == made.account && row.made.event == made.event) ++there;
        if (there >= hooks_per_event_max) return invalid("event has as many webhooks as it may have.");
        const auto id = hook_id{++last_hook_};
        hooks_.emplace(id, hook_row{made});
        return id;
    }
    // [/hooks]

    result<std::vector<hook>> hooks_of(const account_ref& account) {
        const std::lock_guard transaction{mutex_};
        std::vector<hook> found;
        for (const auto& [id, row] : hooks_)
            if (const new_hook& made = row.made; made.account == account)
                found.push_back({id, made.account, made.event, made.source, made.type, made.target_url, made.created_at,
                                 row.disabled, row.failing_since});
        return found;
    }

    result<std::optional<account_ref>> account_of_hook(const service_name& service, hook_id id) {
        const std::lock_guard transaction{mutex_};
        const auto found = hooks_.find(id);
        if (found == hooks_.end() || found->second.made.account.service != service) return std::optional<account_ref>{};
        return std::optional{found->second.made.account};
    }

    result<bool> replace_hook_secret(const account_ref& account, hook_id id, const std::string& secret,
                                      instant old_valid_until) {
        const std::lock_guard transaction{mutex_};
        hook_row* const found = find_hook(account, id);
        if (found == nullptr) return false;
        found->old_secrets.insert(found->old_secrets.begin(), {found->made.secret, old_valid_until});
        if (found->old_secrets.size() > limits::previous_secrets_max) found->old_secrets.pop_back();
        found->made.secret = secret;
        return true;
    }

    result<bool> update_hook(const account_ref& account, hook_id id, const hook_change& changed,
                             std::size_t hooks_per_event_max) {
        const std::lock_guard transaction{mutex_};
        hook_row* const found = find_hook(account, id);
        if (found == nullptr) return false;
        std::size_t there = 0;
        for (const auto& [other, row] : hooks_)
            if (row.made.account == account && row.made.event == changed.event && other != id) ++there;
        if (changed.event != found->made.event && there >= hooks_per_event_max)
            return invalid("event has as many webhooks as it may have.");
        found->made.event = changed.event;
        found->made.target_url = changed.target_url;
        return true;
    }

    result<bool> delete_hook(const account_ref& account, hook_id id) {
        const std::lock_guard transaction{mutex_};
        if (find_hook(account, id) == nullptr) return false;
        deliveries_.remove_of(id);
        hooks_.erase(id);
        return true;
    }

    // The outbox: see delivery_tables.hpp.
    result<std::size_t> append_event(const event& happened, const message_seed& seed, instant now) {
        const std::lock_guard transaction{mutex_};
        return deliveries_.append_event(happened, seed, now);
    }
    result<bool> append_event_to(hook_id to, const event& happened, const message_seed& seed, instant now) {
        const std::lock_guard transaction{mutex_};
        const hook_row* const found = find_hook(happened.account, to);
        if (found == nullptr) return false;
        if (found->disabled) return error{error_kind::conflict, "The webhook is disabled.", {}};
        deliveries_.append_event_to(to, happened, seed, now);
        return true;
    }
    result<due_hook_page> due_hooks(instant now, std::size_t rows_max) {
        const std::lock_guard transaction{mutex_};
        return deliveries_.due_hooks(now, rows_max);
    }
    result<std::vector<due_delivery>> lease(std::span<const lease_request> requests, const lease_time& time) {
        const std::lock_guard transaction{mutex_};
        return deliveries_.lease(requests, time);
    }
    result<std::vector<completion>> complete(std::span<const attempt_result> ended, instant now) {
        const std::lock_guard transaction{mutex_};
        return deliveries_.complete(ended, now);
    }
    result<std::vector<delivery>> deliveries_of(const account_ref& account, hook_id of, std::size_t rows_max,
                                                std::optional<delivery_id> before,
                                                std::optional<delivery_state> state) {
        const std::lock_guard transaction{mutex_};
        if (find_hook(account, of) == nullptr) return std::vector<delivery>{};
        return deliveries_.deliveries_of(of, rows_max, before, state);
    }
    result<std::vector<recorded_attempt>> attempts_of(const account_ref& account, hook_id of, std::size_t rows_max,
                                                      std::optional<delivery_id> made_for) {
        const std::lock_guard transaction{mutex_};
        if (find_hook(account, of) == nullptr) return std::vector<recorded_attempt>{};
        return deliveries_.attempts_of(of, rows_max, made_for);
    }
    result<bool> resend(const account_ref& account, delivery_id id, instant now) {
        const std::lock_guard transaction{mutex_};
        return deliveries_.resend(account, id, now);
    }
    result<std::size_t> resend_given_up(const account_ref& account, hook_id of, instant since, std::size_t rows_max,
                                        instant now) {
        const std::lock_guard transaction{mutex_};
        const hook_row* const found = find_hook(account, of);
        if (found == nullptr) return std::size_t{0};
        if (found->disabled) return error{error_kind::conflict, "The webhook is disabled.", {}};
        return deliveries_.resend_given_up(of, since, rows_max, now);
    }
    result<bool> enable_hook(const account_ref& account, hook_id id, instant now) {
        const std::lock_guard transaction{mutex_};
        hook_row* const found = find_hook(account, id);
        if (found == nullptr) return false;
        deliveries_.enable(id, *found, now);
        return true;
    }
    result<std::size_t> sweep_deliveries(instant ended_before, std::size_t rows_max) {
        const std::lock_guard transaction{mutex_};
        return deliveries_.sweep(ended_before, rows_max);
    }

    result<void> create_session(const stored_session& made) {
        const std::lock_guard transaction{mutex_};
        if (!sessions_.emplace(made.cookie_digest.bytes(), made).second)
            return error{error_kind::conflict, "The session exists.", {}};
        return {};
    }
    result<std::optional<stored_session>> find_session(const digest& cookie) {
        const std::lock_guard transaction{mutex_};
        const auto found = sessions_.find(cookie.bytes());
        return found == sessions_.end() ? std::optional<stored_session>{} : std::optional{found->second};
    }
    result<void> touch_session(const digest& cookie, instant now) {
        const std::lock_guard transaction{mutex_};
        if (const auto found = sessions_.find(cookie.bytes()); found != sessions_.end())
            found->second.last_seen_at = std::max(found->second.last_seen_at, now);
        return {};
    }
    result<bool> end_session(const digest& cookie) {
        const std::lock_guard transaction{mutex_};
        return sessions_.erase(cookie.bytes()) != 0;
    }
    result<std::vector<stored_session>> sessions_of(user_id user) {
        const std::lock_guard transaction{mutex_};
        std::vector<stored_session> found;
        for (const auto& [cookie, row] : sessions_)
            if (row.user == user) found.push_back(row);
        std::sort(found.begin(), found.end(),
                  [](const auto& a, const auto& b) { return a.last_seen_at > b.last_seen_at; });
        return found;
    }
    result<void> end_sessions_of(user_id user, const std::optional<digest>& kept) {
        const std::lock_guard transaction{mutex_};
        std::erase_if(sessions_, [&](const auto& each) {
            return each.second.user == user && each.second.cookie_digest != kept;
        });
        return {};
    }
    result<std::size_t> sweep_sessions(instant created_before, instant seen_before, std::size_t rows_max) {
        const std::lock_guard transaction{mutex_};
        std::size_t swept = 0;
        return std::erase_if(sessions_, [&](const auto& each) {
            const auto& row = each.second;
            return (row.created_at < created_before || row.last_seen_at < seen_before) && swept++ < rows_max;
        });
    }

private:
    using digest_bytes = std::array<std::uint8_t, digest::size_bytes>;

    struct access_row {
        new_access_token made;
        std::optional<std::int64_t> refresh_token;  // the number of the one that it was issued with
    };
    struct refresh_row {
        std::int64_t id = 0;  // stays where its use replaces the token
        user_id user;
        application_id application;
        scope_set scopes;
        instant expires_at;
        instant ends_at;
        // Of the last replacement.
        std::optional<digest> family = {};
        digest replaced = {};
        instant replaced_at = {};
        digest successor_seed = {};
    };
    struct device_row {
        digest user_digest;
        device_code found;
    };
    struct code_row {
        new_authorization_code made;
        std::optional<std::int64_t> refresh_token;  // made from it when it was redeemed
    };

    application* find_application_of(user_id owner, application_id id) {
        const auto found = applications_.find(id);
        return found == applications_.end() || found->second.owner != owner ? nullptr : &found->second;
    }

    auto find_device(const digest& code) -> std::map<digest_bytes, device_row>::iterator {
        auto found = device_codes_.find(code.bytes());
        if (found != device_codes_.end()) return found;
        found = device_codes_.begin();
        while (found != device_codes_.end() && found->second.user_digest != code) ++found;
        return found;
    }

    hook_row* find_hook(const account_ref& account, hook_id id) {
        const auto found = hooks_.find(id);
        return found == hooks_.end() || found->second.made.account != account ? nullptr : &found->second;
    }

    auto find_family(const digest& family) -> std::map<digest_bytes, refresh_row>::iterator {
        auto found = refresh_tokens_.begin();
        while (found != refresh_tokens_.end() && found->second.family != family) ++found;
        return found;
    }

    void revoke_refresh_token(std::int64_t id) {
        std::erase_if(access_tokens_, [&](const auto& each) { return each.second.refresh_token == id; });
        std::erase_if(refresh_tokens_, [&](const auto& each) { return each.second.id == id; });
    }

    bool revoke_all_of(user_id user, application_id application) {
        forget_of([&](user_id whose, application_id of) { return whose == user && of == application; });
        return std::erase_if(grants_, [&](const auto& each) {
                   return each.second.user == user && each.second.application == application;
               }) != 0;
    }

    /// Deletes the codes and tokens for which `chosen` returns true.
    template <class Chosen>
    void forget_of(Chosen chosen) {
        std::erase_if(codes_,
                      [&](const auto& each) { return chosen(each.second.made.user, each.second.made.application); });
        std::erase_if(access_tokens_,
                      [&](const auto& each) { return chosen(each.second.made.user, each.second.made.application); });
        std::erase_if(refresh_tokens_,
                      [&](const auto& each) { return chosen(each.second.user, each.second.application); });
    }

    std::mutex mutex_;
    std::int64_t last_token_ = 0;
    std::int64_t last_hook_ = 0;
    std::map<token_id, new_personal_token> personal_tokens_;
    std::map<digest_bytes, access_row> access_tokens_;
    std::int64_t last_application_ = 0;
    std::int64_t last_grant_ = 0;
    std::int64_t last_refresh_token_ = 0;
    std::map<application_id, application> applications_;
    std::map<grant_id, grant> grants_;
    std::map<digest_bytes, code_row> codes_;
    std::map<digest_bytes, refresh_row> refresh_tokens_;
    std::map<digest_bytes, device_row> device_codes_;
    std::map<hook_id, hook_row> hooks_;
    delivery_tables deliveries_{hooks_};
    std::map<digest_bytes, stored_session> sessions_;
};

static_assert(token_store<table_store>);
static_assert(hook_store<table_store>);
static_assert(oauth_store<table_store>);
static_assert(outbox<table_store>);
static_assert(session_store<table_store>);

int main() {
    // [suite]
    namespace contracts = testing::contracts;
    const bool right = testing::run<contracts::token_store, contracts::hook_store, contracts::outbox, contracts::oauth_store,
                                    contracts::session_store>(
        [] { return std::make_unique<table_store>(); },
        [](const testing::case_result& each) {
            std::cout << (each.passed ? "passed  " : "FAILED  ") << each.name << ' ' << each.message << '\n';
        });
    // [/suite]
    return right ? 0 : 1;
}
