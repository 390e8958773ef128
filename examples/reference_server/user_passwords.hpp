#pragma once

#include "failure.hpp"
#include "hash_limiter.hpp"
#include "password_hash.hpp"
#include "user_records.hpp"

#include <tollgate/base/result.hpp>
#include <tollgate/contract/session_source.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace reference {

/// The passwords of a directory's users. A hash with outdated parameters, or of a password that was not normalized, is replaced when
/// its owner signs in: the only time at which the password is known.
///
/// Thread rule: any thread. Blocking: for about a tenth of a second, on purpose.
template <class Directory>
class user_passwords {
public:
    static constexpr bool blocking = true;

    explicit user_passwords(Directory& users) : users_{users} {}

    tollgate::result<std::optional<tollgate::user_id>> check_password(std::string_view login, std::string_view password) {
        auto checked = check_password({.login = login, .password = password, .client = {}});
        if (!checked) return std::move(checked).error();
        return *checked ? std::optional{(*checked)->user} : std::nullopt;
    }
    /// The contract `versioned_password_source`: the version is the hash, which has a salt of its own.
    tollgate::result<std::optional<tollgate::checked_password>> check_password(const tollgate::sign_in_attempt& attempt) {
        const auto& [login, password, client, is_known_browser] = attempt;
        const hash_limiter::permit permit{limiter_, {client, is_known_browser}};
        if (!permit.admitted()) return tollgate::unavailable("too many passwords are being checked");
        auto known = users_.find_login(login);
        if (!known) return std::move(known).error();
        try {
            const auto checked = reference::check_password(password, *known ? (*known)->password_hash : decoy_);
            if (checked == password_check::failed) return tollgate::unavailable("scrypt failed: there may be too little memory");
            if (checked == password_check::wrong || !*known) return std::optional<tollgate::checked_password>{};
            const bool is_outdated = checked == password_check::right_as_typed || reference::is_outdated((*known)->password_hash);
            if (is_outdated) renew(**known, password);
            return std::optional{tollgate::checked_password{(*known)->user, std::move((*known)->password_hash)}};
        } catch (const failure& failed) {
            return tollgate::unavailable(failed.what());
        }
    }
    tollgate::result<std::string> password_version(std::string_view login) {
        auto known = users_.find_login(login);
        if (!known) return std::move(known).error();
        return *known ? std::move((*known)->password_hash) : std::string{};
    }

    /// The contract `password_store`. Its owner has just shown the old one, so this is one of few hashes at a time.
    tollgate::result<void> set_password(const tollgate::checked_password& current, std::string_view password) {
        const hash_limiter::permit permit{limiter_, {{}, true}};
        if (!permit.admitted()) return tollgate::unavailable("too many passwords are being checked");
        try {
            auto done = users_.replace_password_hash(current.user, {current.version, hash_password(password)});
            if (!done && done.error().kind == tollgate::error_kind::not_found)
                return tollgate::error{tollgate::error_kind::conflict, "The password was changed.", {}};
            return done;
        } catch (const failure& failed) {
            return tollgate::unavailable(failed.what());
        }
    }

    /// Whether the user exists and is not disabled; otherwise their sessions end at once.
    tollgate::result<bool> is_active(tollgate::user_id user) { return users_.is_active(user); }

private:
    /// Replaces the user's hash. If this fails, the old hash stays in use; the password is correct in any case.
    void renew(known_login& known, std::string_view password) {
        try {
            auto hash = hash_password(password);
            if (users_.replace_password_hash(known.user, {known.password_hash, hash})) known.password_hash = std::move(hash);
        } catch (const failure&) {  // as above
        }
    }

    // Hashing is bound by the cores. A waiting request occupies one of the 32 worker threads for sign-ins, so as many may wait as are
    // admitted within the timeout, at a tenth of a second per hash.
    static hash_bounds bounds() {
        const std::size_t cores = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 4);
        const std::size_t waiting_max = cores == 1 ? 12 : 16;
        return {.running_max = cores, .waiting_max = waiting_max, .known_waiting_max = 4, .queue_wait_max = tollgate::seconds{2}};
    }

    Directory& users_;
    hash_limiter limiter_{bounds()};
    const std::string decoy_ = decoy_hash();
};

}  // namespace reference
