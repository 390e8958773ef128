#pragma once
#ifndef TOLLGATE_SERVER_DETAIL_TICKET_KEYS_HPP
#define TOLLGATE_SERVER_DETAIL_TICKET_KEYS_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/base/result.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace tollgate::inline v0::server_detail {

/// What session tickets are encrypted with (RFC 5077 section 4), derived from one secret of 32 bytes.
struct ticket_key {
    std::array<unsigned char, 16> name;        ///< is in each ticket
    std::array<unsigned char, 32> cipher_key;  ///< AES-256-CBC
    std::array<unsigned char, 32> mac_key;     ///< HMAC-SHA-256

    [[nodiscard]] static ticket_key from(std::string_view secret) {
        const auto derive = [secret](std::string_view purpose, auto& into) {
            const digest derived = hmac_sha256({.key = secret, .message = purpose});
            std::memcpy(into.data(), derived.bytes().data(), into.size());
        };
        ticket_key key;
        derive("session ticket: name", key.name);
        derive("session ticket: cipher", key.cipher_key);
        derive("session ticket: mac", key.mac_key);
        return key;
    }
};

/// The keys of session tickets. The first encrypts, all decrypt. May be used by several threads at the same time.
///
/// Anyone who learns a key can decrypt recorded TLS 1.2 connections whose tickets it encrypted, so none is used for long
/// (RFC 9325 section 4.3.3): generated keys are replaced after `lifetime`, those of a file by the operator.
class ticket_keys {
public:
    using time_point = std::chrono::steady_clock::time_point;

    static constexpr std::chrono::hours lifetime{2};  ///< lifetime of a ticket, and of a key that encrypts
    static constexpr std::size_t secret_bytes = 32;
    static constexpr std::size_t keys_max = 16;  ///< bound of the keys of a file; each is compared with each ticket

    /// Generates its keys.
    ticket_keys() noexcept = default;

    /// The keys of a file: each line is one secret in base64; blank lines and those that start with `#` are ignored. The error names
    /// the line, never the key.
    [[nodiscard]] static result<std::shared_ptr<ticket_keys>> parse(std::string_view text) {
        auto keys = std::make_shared<ticket_keys>();
        tollgate::detail::key_file_lines key_lines{text};
        while (const auto line = key_lines.next()) {
            const auto secret = tollgate::detail::base64_decode(*line);
            if (!secret || secret->size() != secret_bytes)
                return invalid("line " + std::to_string(key_lines.number()) + " is not the base64 text of 32 bytes");
            if (keys->count_ == keys_max) return invalid("it has more than " + std::to_string(keys_max) + " keys");
            keys->keys_[keys->count_++] = ticket_key::from(*secret);
        }
        if (keys->count_ == 0) return invalid("it has no key");
        keys->from_file_ = true;
        return keys;
    }

    /// The key that encrypts now. Empty if a new one is due and `random.fill` fails.
    template <class Random>
    [[nodiscard]] std::optional<ticket_key> newest(time_point now, const Random& random) {
        const std::lock_guard hold{mutex_};
        if (!from_file_ && (count_ == 0 || now - made_at_ >= lifetime)) {
            std::array<std::byte, secret_bytes> secret;
            if (!random.fill(secret)) return std::nullopt;
            // Throws without memory: nothing is changed before.
            const ticket_key fresh = ticket_key::from({reinterpret_cast<const char*>(secret.data()), secret.size()});
            count_ = count_ == 0 || now - made_at_ >= 2 * lifetime ? 1 : 2;
            keys_[1] = count_ == 2 ? keys_[0] : ticket_key{};
            keys_[0] = fresh;
            made_at_ = now;
        }
        return keys_[0];
    }

    struct found_key {
        ticket_key key;
        bool is_newest;  ///< otherwise the client should get a new ticket
    };

    /// The key with this name; empty if no key has it, or the key is too old.
    [[nodiscard]] std::optional<found_key> find(std::span<const unsigned char, 16> name, time_point now) const {
        const std::lock_guard hold{mutex_};
        for (std::size_t i = 0; i < count_; ++i) {
            if (!std::equal(name.begin(), name.end(), keys_[i].name.begin())) continue;
            // A ticket that the key before the newest has encrypted is older than the newest.
            if (!from_file_ && now - made_at_ >= (i == 0 ? 2 * lifetime : lifetime)) return std::nullopt;
            return found_key{keys_[i], i == 0 && (from_file_ || now - made_at_ < lifetime)};
        }
        return std::nullopt;
    }

private:
    mutable std::mutex mutex_;
    std::array<ticket_key, keys_max> keys_{};  // newest first
    std::size_t count_ = 0;
    time_point made_at_{};          // the first of them, if they are its own
    bool from_file_ = false;
};

}  // namespace tollgate::server_detail

#endif  // TOLLGATE_SERVER_DETAIL_TICKET_KEYS_HPP
