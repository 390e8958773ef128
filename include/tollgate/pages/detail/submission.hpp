#pragma once
#ifndef TOLLGATE_PAGES_DETAIL_SUBMISSION_HPP
#define TOLLGATE_PAGES_DETAIL_SUBMISSION_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/model/session.hpp>
#include <tollgate/web/detail/form.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tollgate::inline v0::pages {

/// The length of the periods for which a submission creates the same secret.
inline constexpr seconds submission_period{30};
/// How many periods later or earlier, for nodes with different clocks, a submission that is sent again leads to the same secret: for a
/// minute to one and a half.
inline constexpr std::int64_t submission_periods_max = 2;

/// A submitted form that creates a secret. All that it creates is derived from the session, the form and its content, so that the same
/// submission, sent again to any node (double click, reload), finds what it created instead of creating it again.
///
/// The secret also depends on the time, so that it cannot be derived again later.
class form_submission {
public:
    /// `body` of the request, which includes the form token with this nonce.
    TOLLGATE_DECL form_submission(const session& session, const web::form_nonce& nonce, std::string_view body, instant now);

    /// Identifies the submission, whenever it is sent.
    [[nodiscard]] TOLLGATE_DECL digest key() const;
    /// Returns the id of the object that the submission creates, whenever it is sent.
    [[nodiscard]] TOLLGATE_DECL public_id new_id(public_id_kind kind) const;

    /// The secret that is created now. `make` makes it from 32 random bytes.
    template <class Make>
    [[nodiscard]] auto new_secret(Make make) const {
        return make(std::span<const std::byte, 32>{bytes_of(period_)});
    }
    /// The secret with this digest, if this submission created it about a minute ago at most.
    template <class Make>
    [[nodiscard]] auto find_secret(const digest& stored, Make make) const {
        using secret = std::invoke_result_t<Make&, std::span<const std::byte, 32>>;
        for (std::int64_t distance = -submission_periods_max; distance <= submission_periods_max; ++distance)
            if (auto made = make(std::span<const std::byte, 32>{bytes_of(period_ + distance)}); digest_of(std::string_view{made}) == stored)
                return std::optional<secret>{std::move(made)};
        return std::optional<secret>{};
    }

private:
    using secret_bytes = std::array<std::byte, digest::size_bytes>;

    [[nodiscard]] TOLLGATE_DECL digest derive(std::string_view what) const;
    [[nodiscard]] TOLLGATE_DECL secret_bytes bytes_of(std::int64_t period) const;

    std::string key_;
    std::string content_;  // the nonce and a hash of the body
    std::int64_t period_;
};

/// Makes a secret of this kind from random bytes, for `form_submission`.
[[nodiscard]] inline auto maker_of(secret_kind kind) {
    return [kind](std::span<const std::byte, 32> random) { return make_secret(kind, random); };
}

/// The hidden field of a form that replaces a secret, and its value: which secret it replaces. The form does nothing if that has been
/// replaced meanwhile.
inline constexpr std::string_view version_name = "version";
[[nodiscard]] TOLLGATE_DECL std::string version_of(const digest& secret_digest);

/// Replaces the secret of what `find()` returns, which has a member `secret_digest`, with the secret of the submission. `version` is that
/// of the submitted form. `replace(found, secret)` returns whether `found` still had its secret and was changed.
///
/// Returns what was found, with the new secret, also if this submission replaced it before. Without a value: another submission did.
template <class Find, class Replace, class Make>
[[nodiscard]] auto replace_secret(const form_submission& submission, std::string_view version, Find find, Replace replace, Make make) {
    using owner = std::remove_cvref_t<decltype(*find())>;
    using replaced = std::optional<std::pair<owner, decltype(submission.new_secret(make))>>;
    for (bool tried = false;; tried = true) {
        auto found = find();
        if (!found) return result<replaced>{std::move(found).error()};
        const digest stored = found->secret_digest;
        if (auto secret = submission.find_secret(stored, make))
            return result<replaced>{replaced{std::in_place, *std::move(found), *std::move(secret)}};
        if (tried || version != version_of(stored)) return result<replaced>{replaced{}};
        auto secret = submission.new_secret(make);
        const result<bool> done = replace(std::as_const(*found), secret);
        if (!done) return result<replaced>{done.error()};
        if (*done) return result<replaced>{replaced{std::in_place, *std::move(found), std::move(secret)}};
    }
}

}  // namespace tollgate::pages

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pages/detail/submission.ipp>
#endif

#endif  // TOLLGATE_PAGES_DETAIL_SUBMISSION_HPP
