#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQL_HOOK_SECRETS_HPP
#define TOLLGATE_STORE_DETAIL_SQL_HOOK_SECRETS_HPP

#include <tollgate/base/result.hpp>
#include <tollgate/base/secret_keys.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/model/hook.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// How both databases encrypt the secrets of hooks.

namespace tollgate::inline v0::sql {

inline constexpr std::size_t reencrypted_rows_max = 1000;  // in one statement or transaction: some milliseconds

/// A row with a secret.
struct stored_secret {
    std::int64_t row;
    account_ref account;
    std::string text;
};

[[nodiscard]] inline stored_secret to_stored_secret(std::int64_t row, const service_name& service, account_id account, std::string& text) {
    return {row, {service, account}, std::move(text)};
}

/// A row whose secret becomes `after`, if it is still `before`.
struct changed_secret {
    std::int64_t row;
    std::string before;
    std::string after;
};

/// How the text of a secret begins that needs no change.
[[nodiscard]] inline std::string_view unchanged_prefix(const secret_keys& keys) noexcept {
    return keys.prefix().empty() ? hook_secret_prefix : keys.prefix();
}

/// Encrypts the secrets of one table that are not encrypted with the first key. `read(last)` reads a page of rows with
/// numbers above `last`, in order, whose text does not begin with `unchanged_prefix`; `write(changes)` writes a page.
/// Error: unavailable, if the key of a secret is missing. Damaged secrets stay as they are.
template <class Read, class Write>
result<void> encrypt_all(const secret_keys& keys, Read read, Write write) {
    for (std::int64_t last = 0;;) {
        const result<std::vector<stored_secret>> page = read(last);
        if (!page) return page.error();
        if (page->empty()) return {};
        std::vector<changed_secret> changes;
        for (const stored_secret& each : *page) {
            const std::string context = hook_secret_context(each.account);
            auto text = keys.decrypt(each.text, context).and_then([&](const std::string& secret) {
                return keys.encrypt(secret, context);
            });
            if (!text && text.error().kind == error_kind::internal) continue;
            if (!text) {
                text.error().cause = context + ": " + text.error().cause;
                return std::move(text).error();
            }
            if (*text != each.text) changes.push_back({each.row, each.text, *std::move(text)});
        }
        if (!changes.empty())
            if (auto done = write(changes); !done) return done;
        last = page->back().row;
    }
}

/// Decrypts the secrets of leased deliveries. If a secret cannot be decrypted, the delivery says so and has none. Previous
/// secrets that cannot be decrypted are left out: receivers know the newer one, too.
inline void decrypt_all(const secret_keys& keys, std::vector<due_delivery>& leased) {
    const auto is_plain = [](const std::string& text) { return text.starts_with(hook_secret_prefix); };
    for (due_delivery& each : leased) {
        if (is_plain(each.secret) && std::all_of(each.previous_secrets.begin(), each.previous_secrets.end(), is_plain)) continue;
        const std::string context = hook_secret_context(each.event->account);
        auto secret = keys.decrypt(each.secret, context);
        if (!secret) each.unreadable_secret = context + ": " + secret.error().cause;
        each.secret = std::move(secret).value_or(std::string{});
        for (std::string& previous : each.previous_secrets)
            previous = keys.decrypt(previous, context).value_or(std::string{});
        std::erase(each.previous_secrets, std::string{});
    }
}

}  // namespace tollgate::sql

#endif  // TOLLGATE_STORE_DETAIL_SQL_HOOK_SECRETS_HPP
