#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/hash.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/model/quota.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

namespace tollgate::inline v0 {

/// How many failed sign-ins there may be within a window. OWASP's and NIST's (SP 800-63B section 5.2.2) advice is to
/// slow guessing down without letting a stranger lock a person out; so what counts most is one login at one address.
struct sign_in_bounds {
    quota login_at_address{10, std::chrono::minutes{15}};
    quota address{100, std::chrono::minutes{15}};  ///< whatever the logins: one password tried on many
    quota login{1000, std::chrono::hours{1}};      ///< whatever the addresses: what rented machines may try together
};

/// How many of each are remembered; rounded up to powers of two, 24 bytes each: 384 KiB for each of the defaults.
struct sign_in_capacity {
    std::size_t logins_at_addresses = std::size_t{1} << 14;
    std::size_t addresses = std::size_t{1} << 14;
    std::size_t logins = std::size_t{1} << 14;
};

/// Where somebody tries to sign in, and as whom.
struct sign_in_place {
    /// As typed, whether there is such a user or not; the case of ASCII letters makes no difference.
    std::string_view login;
    ip_address client;  ///< an IPv6 address counts by its /64
};

/// Counts failed sign-ins and says when there were too many, in fixed windows that begin with a first failure.
///
/// An attempt counts as a failure from `begin` on, until `succeed` or `forgive` says otherwise, so that guesses made at
/// the same time are no more than guesses made one after another.
///
/// **Memory** is bounded and never grows; where it is full, what has the fewest failures is forgotten, which admits too
/// much, never too little. **Threads**: any number; one lock, held for some dozen instructions: what comes behind it, a
/// slow hash, takes a hundred thousand times as long.
class sign_in_throttle {
public:
    /// A seed that OpenSSL gives. Throws std::runtime_error when it gives none.
    TOLLGATE_DECL explicit sign_in_throttle(const sign_in_bounds& bounds = {}, const sign_in_capacity& capacity = {});
    /// `seed` is what strangers must not know; a fixed one is for tests.
    TOLLGATE_DECL sign_in_throttle(const sign_in_bounds& bounds, const sign_in_capacity& capacity,
                                   const siphash_key& seed);
    TOLLGATE_DECL ~sign_in_throttle();

    /// None: the attempt may be made, and is counted. Otherwise how long there is no use in trying, at least one
    /// second, and nothing is counted.
    [[nodiscard]] TOLLGATE_DECL std::optional<seconds> begin(const sign_in_place& where, instant now) noexcept;
    /// The attempt was right: this login's failures at this address are forgotten; those of others there are not, or
    /// whoever has one login could guess at all.
    TOLLGATE_DECL void succeed(const sign_in_place& where, instant now) noexcept;
    /// The attempt was neither, because nobody could look: it is as if there had been none.
    TOLLGATE_DECL void forgive(const sign_in_place& where, instant now) noexcept;

    /// All the memory that it will ever use.
    [[nodiscard]] TOLLGATE_DECL std::size_t memory_bytes() const noexcept;

private:
    class tables;
    std::unique_ptr<tables> tables_;
};

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/web/detail/sign_in_throttle.ipp>
#endif
