#pragma once
#ifndef TOLLGATE_WEB_DETAIL_ONE_TIME_HPP
#define TOLLGATE_WEB_DETAIL_ONE_TIME_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/aes_gcm.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/sources.hpp>
#include <tollgate/model/detail/session.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Pages that show a secret once.
namespace tollgate::inline v0::web {

/// How long a sealed text can be opened: a redirect takes seconds, a slow connection perhaps a minute.
inline constexpr seconds sealed_text_lifetime{300};

using seal_nonce = aes_gcm_nonce;

/// Encrypts and authenticates a text (AES-256-GCM) with a key of the session, so that a redirect can carry it in its
/// URL: only this session can read it, on any node. `[A-Za-z0-9_-]` only. Empty if OpenSSL fails, or the session has no
/// secret.
[[nodiscard]] TOLLGATE_DECL std::optional<std::string> seal(const session& session, std::string_view text,
                                                            const seal_nonce& nonce, instant now);

/// How far the clocks of two nodes may differ, so that one can open what another has just sealed.
inline constexpr seconds sealed_in_future_max{60};

/// The text that was sealed for this session; empty for any other, after `sealed_text_lifetime`, and more than
/// `sealed_in_future_max` before it was sealed.
[[nodiscard]] TOLLGATE_DECL std::optional<std::string> open_sealed(const session& session, std::string_view sealed,
                                                                   instant now);

/// Remembers which sealed texts were used. Bounded: beyond `remembered_max` the oldest is forgotten and could be used again. Any thread;
/// each process has its own.
class used_once {
public:
    /// False if it was claimed before. If it throws std::bad_alloc, nothing is claimed.
    [[nodiscard]] bool claim(std::string_view text) {
        const std::scoped_lock held{mutex_};
        // A search takes some 10 us, for pages that users meet a few times a day.
        if (std::find(claimed_.begin(), claimed_.end(), text) != claimed_.end()) return false;
        claimed_.emplace_back(text);
        if (claimed_.size() > remembered_max) claimed_.pop_front();
        return true;
    }

private:
    static constexpr std::size_t remembered_max = 4096;

    std::mutex mutex_;
    std::deque<std::string> claimed_;  // the oldest first
};

}  // namespace tollgate::web

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/web/detail/one_time.ipp>
#endif

#endif  // TOLLGATE_WEB_DETAIL_ONE_TIME_HPP
