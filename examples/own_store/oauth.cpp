// The verbs of oauth_store: applications, grants, codes, tokens and device codes.
#include "table_store.hpp"

#include <tollgate/base/limits.hpp>

#include <algorithm>
#include <variant>

namespace own_store {

auto table_store::find_device(const digest& code) -> std::map<digest_bytes, device_row>::iterator {
    auto found = device_codes_.find(code.bytes());
    if (found != device_codes_.end()) return found;
    found = device_codes_.begin();
    while (found != device_codes_.end() && found->second.user_digest != code) ++found;
    return found;
}

auto table_store::find_family(const digest& family) -> std::map<digest_bytes, refresh_row>::iterator {
    auto found = refresh_tokens_.begin();
    while (found != refresh_tokens_.end() && found->second.family != family) ++found;
    return found;
}

bool table_store::revoke_refresh_token(std::int64_t id) {
    const auto access = std::erase_if(access_tokens_, [&](const auto& each) { return each.second.refresh_token == id; });
    const auto refresh = std::erase_if(refresh_tokens_, [&](const auto& each) { return each.second.id == id; });
    return access + refresh != 0;
}

template <class Chosen>
void table_store::forget_of(Chosen chosen) {
    std::erase_if(codes_,
                  [&](const auto& each) { return chosen(each.second.code.user, each.second.code.application); });
    std::erase_if(access_tokens_,
                  [&](const auto& each) { return chosen(each.second.token.user, each.second.token.application); });
    std::erase_if(refresh_tokens_,
                  [&](const auto& each) { return chosen(each.second.user, each.second.application); });
}

bool table_store::revoke_all_of(user_id user, application_id application) {
    forget_of([&](user_id owner, application_id client) { return owner == user && client == application; });
    return std::erase_if(grants_, [&](const auto& each) {
               return each.second.user == user && each.second.application == application;
           }) != 0;
}

result<application_id> table_store::create_application(const new_application& registered, std::size_t applications_per_user_max) {
    const std::lock_guard transaction{mutex_};
    std::size_t count = 0;
    for (const auto& [id, row] : applications_) {
        if (row.client_id == registered.client_id) {
            if (row.owner == registered.owner && row.secret_digest == registered.secret_digest) return id;  // the call is repeated
            return error{error_kind::conflict, "The client_id is taken.", {}};
        }
        if (row.owner == registered.owner) ++count;
    }
    if (count >= applications_per_user_max) return invalid("You have reached the maximum number of applications.");
    const auto id = application_id{++last_application_};
    applications_.emplace(id, application{id, registered.owner, registered.client_id, registered.secret_digest, registered.name,
                                          registered.website, registered.description, registered.redirect_urls, registered.created_at,
                                          registered.type, {}, false, 0});
    return id;
}

result<std::optional<application>> table_store::find_application(std::string_view client_id) {
    const std::lock_guard transaction{mutex_};
    for (const auto& [id, row] : applications_)
        if (row.client_id == client_id) return std::optional{row};
    return std::optional<application>{};
}

result<std::vector<application>> table_store::applications_of(user_id owner) {
    const std::lock_guard transaction{mutex_};
    std::vector<application> found;
    for (const auto& [id, row] : applications_) {
        if (row.owner != owner) continue;
        auto& listed = found.emplace_back(row);
        for (const auto& [number, granted] : grants_) listed.users += granted.application == listed.id ? 1 : 0;
    }
    return found;
}

result<bool> table_store::change_application(const std::optional<user_id>& changed_by, application_id id,
                                             const application_change& change) {
    const std::lock_guard transaction{mutex_};
    const auto found = applications_.find(id);
    if (found == applications_.end() || (changed_by && found->second.owner != *changed_by)) return false;
    application& row = found->second;
    const auto forget_access_if = [&](auto chosen) {
        std::erase_if(access_tokens_, [&](const auto& each) { return each.second.token.application == id && chosen(each.second); });
    };
    if (const auto* const fields = std::get_if<application_fields>(&change)) {
        row.name = fields->name;
        row.website = fields->website;
        row.description = fields->description;
        row.redirect_urls = fields->redirect_urls;
        row.acts_for_owner = fields->acts_for_owner;
        for (auto& [number, granted] : grants_)
            if (granted.application == id) {
                granted.application_name = fields->name;
                granted.application_website = fields->website;
            }
        if (!fields->acts_for_owner)
            forget_access_if([&](const access_row& each) { return each.token.user == row.owner && !each.refresh_token; });
    } else if (const auto* const added = std::get_if<client_secret_addition>(&change)) {
        if (row.secret_digest == added->secret_digest) return true;  // the call is repeated
        if (added->replaced && row.secret_digest != *added->replaced) return false;
        row.older_secret_digest = row.secret_digest;
        row.secret_digest = added->secret_digest;
    } else if (const auto* const suspension = std::get_if<suspension_change>(&change)) {
        row.suspended = suspension->suspended;
        if (row.suspended) forget_access_if([](const access_row&) { return true; });
    } else {  // older_secret_removal
        if (!row.older_secret_digest) return false;
        row.older_secret_digest.reset();
    }
    return true;
}

bool table_store::may_get_tokens(application_id id) const {
    const auto found = applications_.find(id);
    return found != applications_.end() && !found->second.suspended;
}

result<bool> table_store::delete_application(user_id owner, application_id id) {
    const std::lock_guard transaction{mutex_};
    const auto found = applications_.find(id);
    if (found == applications_.end() || found->second.owner != owner) return false;
    applications_.erase(found);
    std::erase_if(device_codes_, [&](const auto& each) { return each.second.code.application == id; });
    std::erase_if(grants_, [&](const auto& each) { return each.second.application == id; });
    forget_of([&](user_id, application_id client) { return client == id; });
    return true;
}

result<code_result> table_store::create_code(const new_authorization_code& code) {
    const std::lock_guard transaction{mutex_};
    return add_code(code);
}

result<code_result> table_store::add_code(const new_authorization_code& code) {
    const auto client = applications_.find(code.application);
    if (client != applications_.end() && client->second.suspended) return code_result::suspended;
    const auto existing = codes_.find(code.code_digest.bytes());
    if (existing != codes_.end()) {
        if (existing->second.refresh_token) return code_result::spent;
        if (!code.replaces(existing->second.code.expires_at)) return code_result::waiting;
        codes_.erase(existing);
    }
    if (client == applications_.end()) return not_found();

    auto granted = grants_.begin();
    while (granted != grants_.end() &&
           (granted->second.user != code.user || granted->second.application != code.application))
        ++granted;
    scope_set scopes = granted == grants_.end() ? scope_set{} : granted->second.scopes;
    if (code.only_if_granted && (granted == grants_.end() || !scopes.contains_all(code.scopes)))
        return code_result::not_granted;
    if (!code.scopes.for_each([&](std::string_view each) { return scopes.add(each); }))
        return invalid("These are more scopes than can be kept.");
    if (granted == grants_.end()) {
        const auto id = grant_id{++last_grant_};
        const auto& [number, row] = *client;
        granted =
            grants_.emplace(id, grant{id, code.user, number, row.name, row.website, {}, code.created_at, {}}).first;
    }
    granted->second.scopes = scopes;
    codes_.emplace(code.code_digest.bytes(), code_row{code, {}});
    return code_result::created;
}

// [codes]
result<redeemed_code> table_store::redeem_code(const code_redemption& redemption) {
    // of two simultaneous calls, the second sees the effect of the first
    const std::lock_guard transaction{mutex_};
    const auto found = codes_.find(redemption.code_digest.bytes());
    if (found == codes_.end() || found->second.code.application != redemption.application) return redeemed_code{};
    if (!may_get_tokens(redemption.application)) return redeemed_code{};
    auto& [code, refresh_token, redeemed_at] = found->second;
    std::optional<digest> created;
    for (const auto& [bytes, row] : refresh_tokens_)
        if (row.id == refresh_token) created = digest::from_bytes(bytes);
    const auto judged = judge_redemption({redeemed_at, code.expires_at, code.redirect, code.code_challenge, created}, redemption);
    // The code may have been stolen, so revoke the tokens that were issued for it.
    if (judged == redemption_result::reused)
        return redeemed_code{judged, revoke_refresh_token(*refresh_token) ? std::optional{code.user} : std::nullopt, {}};
    if (judged != redemption_result::redeemed) return redeemed_code{judged, {}, {}};
    if (redeemed_at) return redeemed_code{judged, code.user, code.scopes};  // the call is repeated

    const auto& tokens = redemption.tokens;
    const auto refresh_digest = tokens.refresh_digest.bytes(), access_digest = tokens.access_digest.bytes();
    if (refresh_tokens_.contains(refresh_digest) || access_tokens_.contains(access_digest))
        return error{error_kind::conflict, "The token exists.", {}};
    const auto expires_at = tokens.refresh_token_end();
    const auto id = ++last_refresh_token_;
    refresh_tokens_.emplace(refresh_digest, refresh_row{id, code.user, code.application, code.scopes, expires_at,
                                                        tokens.refresh_ends_at});
    access_tokens_.emplace(access_digest, access_row{{code.user, code.application, tokens.access_digest,
                                                      code.scopes, redemption.now, tokens.access_expires_at},
                                                     id});
    refresh_token = id;  // spent, and kept so that reuse is detected
    redeemed_at = redemption.now;
    return redeemed_code{redemption_result::redeemed, code.user, code.scopes};
}
// [/codes]

result<refreshed_token> table_store::refresh_access_token(const token_refresh& refresh) {
    const std::lock_guard transaction{mutex_};
    const auto& rotation = refresh.rotation;
    auto found = refresh_tokens_.find(refresh.refresh_digest.bytes());
    const bool is_current = found != refresh_tokens_.end();
    if (!is_current && rotation) found = find_family(rotation->family_digest);
    if (found == refresh_tokens_.end() || found->second.application != refresh.application ||
        found->second.expires_at <= refresh.now || !may_get_tokens(refresh.application))
        return refreshed_token{};
    refresh_row& token = found->second;
    const auto current = digest::from_bytes(found->first);
    const auto access_token = access_tokens_.find(refresh.access_digest.bytes());
    const stored_refresh_token stored{current, token.family ? &token.replaced : nullptr, token.replaced_at, token.scopes,
                                      access_token != access_tokens_.end() && access_token->second.refresh_token == token.id};
    const auto judged = judge_refresh(stored, refresh);
    if (judged == refresh_result::reused) {  // someone else has a copy
        const user_id user = token.user;
        revoke_all_of(user, refresh.application);
        return refreshed_token{judged, {}, {}, user};
    }
    if (judged != refresh_result::refreshed) return refreshed_token{judged, {}};
    const scope_set scopes = refresh.narrowed.value_or(token.scopes);
    if (is_repeated(stored, refresh))
        return refreshed_token{judged, scopes, rotation ? std::optional{token.successor_seed} : std::nullopt};
    if (rotation && is_current && refresh_tokens_.contains(rotation->successor_digest.bytes()))
        return error{error_kind::conflict, "The token exists.", {}};
    const new_access_token access{token.user, token.application, refresh.access_digest, scopes, refresh.now, refresh.access_expires_at};
    if (!access_tokens_.emplace(refresh.access_digest.bytes(), access_row{access, token.id}).second)
        return error{error_kind::conflict, "The token exists.", {}};
    token.expires_at = refresh.refresh_token_end(token.ends_at);
    if (!rotation) return refreshed_token{refresh_result::refreshed, scopes, {}};
    if (is_current) {
        token.family = rotation->family_digest;
        token.replaced = refresh.refresh_digest;
        token.replaced_at = refresh.now;
        token.successor_seed = rotation->successor_seed;
        auto replaced = refresh_tokens_.extract(found);
        replaced.key() = rotation->successor_digest.bytes();
        refresh_tokens_.insert(std::move(replaced));
    }
    return refreshed_token{refresh_result::refreshed, scopes, token.successor_seed};
}

bool table_store::revoke_oauth_token(const oauth_token_revocation& revoked) {
    const auto is_meant = [&](const auto& row) { return !revoked.application || row.application == *revoked.application; };
    auto refresh = refresh_tokens_.find(revoked.token_digest.bytes());
    if (refresh == refresh_tokens_.end()) refresh = find_family(revoked.token_digest);
    if (refresh != refresh_tokens_.end()) return is_meant(refresh->second) && revoke_refresh_token(refresh->second.id);
    const auto access = access_tokens_.find(revoked.token_digest.bytes());
    if (access == access_tokens_.end() || !is_meant(access->second.token)) return false;
    access_tokens_.erase(access);
    return true;
}

result<std::optional<oauth_token>> table_store::find_oauth_token(const digest& token) {
    const std::lock_guard transaction{mutex_};
    std::optional<oauth_token> found_token;
    if (const auto found = access_tokens_.find(token.bytes()); found != access_tokens_.end()) {
        const auto& row = found->second.token;
        found_token = oauth_token{false, row.user, row.application, {}, row.scopes, row.created_at, row.expires_at};
    } else {
        auto refresh = refresh_tokens_.find(token.bytes());
        if (refresh == refresh_tokens_.end()) refresh = find_family(token);
        if (refresh == refresh_tokens_.end()) return found_token;
        const auto& row = refresh->second;
        found_token = oauth_token{true, row.user, row.application, {}, row.scopes, {}, row.expires_at};
    }
    const auto client = applications_.find(found_token->application);
    if (client != applications_.end()) found_token->client_id = client->second.client_id;
    return found_token;
}

result<bool> table_store::create_access_token(const new_access_token& token) {
    const std::lock_guard transaction{mutex_};
    if (token.for_owner) {
        const auto found = applications_.find(token.application);
        if (found == applications_.end() || !may_get_tokens(token.application)) return false;
        const application& client = found->second;
        if (client.owner != token.user || !client.acts_for_owner || client.type != client_type::confidential) return false;
    }
    const auto& row = access_tokens_.emplace(token.token_digest.bytes(), access_row{token, {}}).first->second;
    if (row.token.user != token.user || row.token.application != token.application || row.refresh_token)
        return error{error_kind::conflict, "The token exists.", {}};
    return true;
}

result<void> table_store::create_device_code(const new_device_code& code) {
    const std::lock_guard transaction{mutex_};
    const auto client = applications_.find(code.application);
    if (client == applications_.end()) return not_found();
    if (const auto found = find_device(code.device_digest); found != device_codes_.end() && found == find_device(code.user_digest) &&
                                                             found->second.code.application == code.application)
        return {};  // the call is repeated
    if (find_device(code.device_digest) != device_codes_.end() || find_device(code.user_digest) != device_codes_.end())
        return error{error_kind::conflict, "The code exists.", {}};
    device_codes_.emplace(code.device_digest.bytes(),
                          device_row{code.user_digest,
                                     {code.device_digest, code.application, client->second.client_id, code.scopes,
                                      code.requested_from, code.created_at, code.expires_at}});
    return {};
}

result<std::optional<device_code>> table_store::find_device_code(const digest& code) {
    const std::lock_guard transaction{mutex_};
    const auto found = find_device(code);
    return found == device_codes_.end() ? std::nullopt : std::optional{found->second.code};
}

result<std::optional<device_answer>> table_store::answer_device_code(const device_decision& decision) {
    const std::lock_guard transaction{mutex_};
    const auto found = find_device(decision.user_digest);
    if (found == device_codes_.end() || found->second.user_digest != decision.user_digest) return std::optional<device_answer>{};
    device_code& request = found->second.code;
    const auto answer = judge_answer(request, decision);
    if (!answer || !answer->is_new) return answer;
    if (answer->state == device_code_state::approved) {
        const auto created = add_code(code_of(request, decision));
        if (!created) return created.error();
        if (*created != code_result::created) return std::optional<device_answer>{};
    }
    request.state = answer->state;
    request.answered_by = answer->user;
    return answer;
}

result<std::vector<grant>> table_store::grants_of(user_id user) {
    const std::lock_guard transaction{mutex_};
    std::vector<grant> found;
    for (const auto& [id, row] : grants_)
        if (row.user == user) {
            found.push_back(row);
            found.back().application_is_suspended = !may_get_tokens(row.application);
        }
    return found;
}

std::size_t table_store::sweep_expired(instant now, std::size_t rows_max) {
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
        return each.code.expires_at + seconds{each.refresh_token ? limits::spent_code_seconds : 0};
    });
    sweep(access_tokens_, [](const access_row& each) { return each.token.expires_at; });
    sweep(refresh_tokens_, [](const refresh_row& each) { return each.expires_at; });
    sweep(device_codes_, [](const device_row& each) { return each.code.expires_at + seconds{limits::expired_device_code_seconds}; });
    return swept;
}

}  // namespace own_store
