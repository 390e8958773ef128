#pragma once
#ifndef TOLLGATE_LIMITS_DETAIL_REDIS_WINDOW_SCRIPT_HPP
#define TOLLGATE_LIMITS_DETAIL_REDIS_WINDOW_SCRIPT_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/limits/detail/redis/connection.hpp>
#include <tollgate/limits/detail/window_set.hpp>
#include <tollgate/model/quota.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tollgate::inline v0::redis {

/// A request about one window.
struct window_request {
    limit_key key;
    tollgate::detail::bounded_quota allowed;
    bool counts = false;  ///< counts a request if the quota permits it; false only reads
};

/// The server's reply, in its own time.
struct window_reply {
    bool counted;             ///< false if the quota is used up, and for a request that only reads
    std::uint32_t remaining;  ///< after this request
    std::int64_t began_at_milliseconds;
    std::int64_t now_milliseconds;
};

enum class outcome : std::uint8_t {
    replied,
    wrong_type,   ///< the key holds a value of another type (WRONGTYPE)
    unavailable,  ///< the server is unavailable, did not reply in time, or sent a reply that does not have the script's format
};

struct window_result {
    redis::outcome outcome = redis::outcome::unavailable;
    window_reply reply{};
};

/// The counting script, run by the server: one round trip, atomic, and by the server's clock alone.
///
/// One key holds one window: its start, its count and its length. It expires one second after the window ends. A
/// command counts in any number of windows, because running the script costs as much as what it does for a window.
class window_script {
public:
    /// `prefix` begins each key. Throws std::runtime_error when OpenSSL has no SHA-1, which Redis uses to name scripts.
    TOLLGATE_DECL explicit window_script(std::string prefix);

    enum class form { by_name, whole };
    /// Returns one command for all of these requests.
    TOLLGATE_DECL void append(std::string& commands, std::span<const window_request* const> requests, form command_form) const;
    /// What the reply says of the request at this place of the command.
    [[nodiscard]] static TOLLGATE_DECL window_result read(const window_request& request, const reply& received,
                                                          std::size_t place) noexcept;

    [[nodiscard]] TOLLGATE_DECL std::string key_of(const limit_key& key) const;
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] static TOLLGATE_DECL std::string_view text() noexcept;

private:
    std::string prefix_;
    std::string name_;
};

}  // namespace tollgate::redis

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/limits/detail/redis/window_script.ipp>
#endif

#endif  // TOLLGATE_LIMITS_DETAIL_REDIS_WINDOW_SCRIPT_HPP
