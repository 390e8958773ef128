#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/limits/detail/redis/connection.hpp>
#include <tollgate/limits/detail/window_set.hpp>
#include <tollgate/model/quota.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tollgate::inline v0::redis {

/// What is asked about one window.
struct window_question {
    limit_key key;
    tollgate::detail::bounded_quota allowed;
    std::uint32_t wanted = 0;       ///< units to be counted, if there is room; 0 only looks
    std::uint32_t handed_back = 0;  ///< units that were counted for a lease and not used, of the window that then began:
    std::int64_t handed_back_of = 0;
};

/// What the server says of it, in its own time.
struct window_answer {
    std::uint32_t granted;    ///< of the wanted; fewer than those when little remains
    std::uint32_t remaining;  ///< for anybody, after that
    std::int64_t began_at_milliseconds;
    std::int64_t now_milliseconds;
};

/// The script that counts, run at the server: one round trip, and nothing can come between reading and writing. It goes
/// by the server's clock alone.
///
/// One key holds a window: when it began, how much is counted, how long it is. It expires a second after the window. A
/// question touches one key, so that each may live on another node of a cluster.
class window_script {
public:
    /// `prefix` begins each key. Throws std::runtime_error when OpenSSL has no SHA-1, by which Redis names scripts.
    TOLLGATE_DECL explicit window_script(std::string prefix);

    enum class form { by_name, whole };
    TOLLGATE_DECL void append(std::string& commands, const window_question& asked, form how) const;
    /// None for an answer that is none of the script's.
    [[nodiscard]] static TOLLGATE_DECL std::optional<window_answer> read(const window_question& asked,
                                                                         const reply& answered) noexcept;

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
