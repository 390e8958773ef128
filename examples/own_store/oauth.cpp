// The verbs of oauth_store: applications, grants, codes, tokens and device codes.
#include "table_store.hpp"

#include <tollgate/base/limits.hpp>

#include <algorithm>

application* table_store::find_application_of(user_id owner, application_id id) {
    const auto found = applications_.find(id);
    return found == applications_.end() || found->second.owner != owner ? nullptr : &found->second;
}

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

void table_store::revoke_refresh_token(std::int64_t id) {
    std::erase_if(access_tokens_, [&](const auto& each) { return each.second.refresh_token == id; });
    std::erase_if(refresh_tokens_, [&](const auto& each) { return each.second.id == id; });
}

template <class Chosen>
void table_store::forget_of(Chosen chosen) {
    std::erase_if(codes_,
                  [&](const auto& each) { return chosen(each.second.made.user, each.second.made.application); });
    std::erase_if(access_tokens_,
                  [&](const auto& each) { return chosen(each.second.made.user, each.second.made.application); });
    std::erase_if(refresh_tokens_,
                  [&](const auto& each) { return chosen(each.second.user, each.second.application); });
}

bool table_store::revoke_all_of(user_id user, application_id application) {
    forget_of([&](user_id whose, application_id of) { return whose == user && of == application; });
    return std::erase_if(grants_, [&](const auto& each) {
               return each.second.user == user && each.second.application == application;
           }) != 0;
}

result<application_id> table_store::create_application(const new_application& made, std::size_t applications_per_user_max) {
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

result<bool> table_store::update_application(user_id owner, application_id id, const application_change& changed) {
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

result<bool> table_store::add_client_secret(user_id owner, application_id id, const digest& secret) {
    const std::lock_guard transaction{mutex_};
    application* const found = find_application_of(owner, id);
    if (found == nullptr) return false;
    found->older_secret_digest = found->secret_digest;
    found->secret_digest = secret;
    return true;
}

result<bool> table_store::remove_older_secret(user_id owner, application_id id) {
    const std::lock_guard transaction{mutex_};
    application* const found = find_application_of(owner, id);
    if (found == nullptr || !found->older_secret_digest) return false;
    found->older_secret_digest.reset();
    return true;
}

result<bool> table_store::delete_application(user_id owner, application_id id) {
    const std::lock_guard transaction{mutex_};
    const auto found = applications_.find(id);
    if (found == applications_.end() || found->second.owner != owner) return false;
    applications_.erase(found);
    std::erase_if(device_codes_, [&](const auto& each) { return each.second.found.application == id; });
    std::erase_if(grants_, [&](const auto& each) { return each.second.application == id; });
    forget_of([&](user_id, application_id of) { return of == id; });
    return true;
}

result<std::optional<scope_set>> table_store::granted_scopes(user_id user, application_id application) {
    const std::lock_guard transaction{mutex_};
    for (const auto& [id, row] : grants_)
        if (row.user == user && row.application == application) return std::optional{row.scopes};
    return std::optional<scope_set>{};
}

result<code_result> table_store::create_code(const new_authorization_code& made) {
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
result<redeemed_code> table_store::redeem_code(const code_redemption& shown) {
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

result<refreshed_token> table_store::refresh_access_token(const token_refresh& shown) {
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

result<void> table_store::revoke_oauth_token(application_id application, const digest& token) {
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

result<std::optional<oauth_token>> table_store::find_oauth_token(const digest& token) {
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

result<bool> table_store::create_owner_token(const new_access_token& made) {
    const std::lock_guard transaction{mutex_};
    const application* const of = find_application_of(made.user, made.application);
    if (of == nullptr || !of->acts_for_owner || of->type != client_type::confidential) return false;
    if (!access_tokens_.emplace(made.token_digest.bytes(), access_row{made, {}}).second)
        return error{error_kind::conflict, "The token exists.", {}};
    return true;
}

result<void> table_store::create_device_code(const new_device_code& made) {
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

result<std::optional<device_code>> table_store::find_device_code(const digest& code) {
    const std::lock_guard transaction{mutex_};
    const auto found = find_device(code);
    return found == device_codes_.end() ? std::nullopt : std::optional{found->second.found};
}

result<bool> table_store::answer_device_code(const digest& user_code, device_code_state answer) {
    const std::lock_guard transaction{mutex_};
    const auto found = find_device(user_code);
    if (found == device_codes_.end() || found->second.user_digest != user_code ||
        found->second.found.state != device_code_state::pending)
        return false;
    found->second.found.state = answer;
    return true;
}

result<std::vector<grant>> table_store::grants_of(user_id user) {
    const std::lock_guard transaction{mutex_};
    std::vector<grant> found;
    for (const auto& [id, row] : grants_)
        if (row.user == user) found.push_back(row);
    return found;
}

result<bool> table_store::revoke_grant(user_id user, application_id application) {
    const std::lock_guard transaction{mutex_};
    return revoke_all_of(user, application);
}

result<std::size_t> table_store::sweep_expired(instant now, std::size_t rows_max) {
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
