#pragma once

#include "failure.hpp"
#include "hashing_gate.hpp"
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

/// The passwords of a directory's users. A hash whose parameters are outdated is made anew when its owner signs in: the only
/// moment at which the password is here.
///
/// Thread rule: any thread. Blocking: for about a tenth of a second, on purpose.
template <class Directory>
class user_passwords {
public:
    static constexpr bool blocking = true;

    explicit user_passwords(Directory& users) : users_{users} {}

    tollgate::result<std::optional<tollgate::user_id>> check_password(std::string_view login, std::string_view password) {
        const hashing_gate::place place{gate_};
        if (!place.admitted()) return tollgate::unavailable("too many passwords are being checked");
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

private:
    /// Where it fails the old hash goes on: the password is right all the same.
    void renew(const known_login& known, std::string_view password) {
        if (!is_outdated(known.password_hash)) return;
        try {
            (void)users_.replace_password_hash(known.user, {known.password_hash, hash_password(password)});
        } catch (const failure&) {
        }
    }

    // A machine's cores are what hashing is bound by; as many again wait for a few times the time of one, so that two
    // people who sign in at the same moment both do, and threads that others need are not all taken by those who wait.
    static gate_bounds bounds() {
        const std::size_t cores = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 4);
        return {.inside_max = cores, .waiting_max = cores, .patience = tollgate::seconds{2}};
    }

    Directory& users_;
    hashing_gate gate_{bounds()};
    const std::string decoy_ = decoy_hash();
};

}  // namespace reference
