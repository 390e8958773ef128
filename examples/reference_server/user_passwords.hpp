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

namespace reference {

/// The passwords of a directory's users. A hash with outdated parameters is replaced when its owner signs in: the only time
/// at which the password is known.
///
/// Thread rule: any thread. Blocking: for about a tenth of a second, on purpose.
template <class Directory>
class user_passwords {
public:
    static constexpr bool blocking = true;

    explicit user_passwords(Directory& users) : users_{users} {}

    tollgate::result<std::optional<tollgate::user_id>> check_password(std::string_view login, std::string_view password) {
        return check_password({.login = login, .password = password, .client = {}});
    }
    tollgate::result<std::optional<tollgate::user_id>> check_password(const tollgate::sign_in_attempt& attempt) {
        const auto& [login, password, client, is_known_browser] = attempt;
        const hash_limiter::permit permit{limiter_, {client, is_known_browser}};
        if (!permit.admitted()) return tollgate::unavailable("too many passwords are being checked");
        auto known = users_.find_login(login);
        if (!known) return std::move(known).error();
        switch (reference::check_password(password, *known ? (*known)->password_hash : decoy_)) {
            case password_check::right: break;
            case password_check::wrong: return std::optional<tollgate::user_id>{};
            case password_check::failed: return tollgate::unavailable("scrypt failed: there may be too little memory");
        }
        if (!*known) return std::optional<tollgate::user_id>{};
        renew(**known, password);
        return std::optional{(*known)->user};
    }

    /// The contract `password_store`. Its owner has just shown the old one, so this is one of few hashes at a time.
    tollgate::result<void> set_password(tollgate::user_id user, std::string_view password) {
        const hash_limiter::permit permit{limiter_, {{}, true}};
        if (!permit.admitted()) return tollgate::unavailable("too many passwords are being checked");
        try {
            return users_.set_password_hash(user, hash_password(password));
        } catch (const failure& failed) {
            return tollgate::unavailable(failed.what());
        }
    }

    /// Whether the user exists and is not disabled; otherwise their sessions end at once.
    tollgate::result<bool> is_active(tollgate::user_id user) { return users_.is_active(user); }

private:
    /// If this fails, the old hash stays in use; the password is correct in any case.
    void renew(const known_login& known, std::string_view password) {
        if (!is_outdated(known.password_hash)) return;
        try {
            (void)users_.replace_password_hash(known.user, {known.password_hash, hash_password(password)});
        } catch (const failure&) {
        }
    }

    // Hashing is bound by the cores. A waiting request occupies a worker thread, so few may wait: at a tenth of a second per
    // hash, the last one is still admitted within the time-out.
    static hash_bounds bounds() {
        const std::size_t cores = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 4);
        return {.running_max = cores, .waiting_max = 8, .known_waiting_max = 4, .queue_wait_max = tollgate::seconds{2}};
    }

    Directory& users_;
    hash_limiter limiter_{bounds()};
    const std::string decoy_ = decoy_hash();
};

}  // namespace reference
