#pragma once
#ifndef TOLLGATE_POLICY_DETAIL_TOKEN_MEMO_HPP
#define TOLLGATE_POLICY_DETAIL_TOKEN_MEMO_HPP

#include <tollgate/base/detail/keyed_hash.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/contract/authenticator.hpp>

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace tollgate::inline v0::detail {

/// A cache from the text of credentials to the token that was read from it. Most requests repeat earlier credentials, and decoding
/// them, checking them and computing the digest of the secret costs more than the rest of a request. The cache decides nothing: the
/// token is looked up in the store each time, so a revoked one is refused at once.
///
/// A keyed hash chooses the slot, so that a client cannot choose credentials that share the slot of another client. The text is
/// compared in constant time, so that timing reveals nothing about a partly correct guess. The texts are secrets: each is wiped
/// when another takes its slot, and by the destructor.
///
/// Fixed size, no heap memory. Not thread-safe.
class token_memo {
public:
    static constexpr std::size_t entries_max = 256;  // 54 KiB: more tokens than one thread serves at a time
    /// Longer credentials are not kept. 116 bytes are the longest user name and a secret, in base64.
    static constexpr std::size_t credentials_bytes_max = 128;

    explicit token_memo(const keyed_hash& hash) noexcept : hash_{hash} {}
    ~token_memo() {
        for (entry& each : entries_) each.wipe();
    }
    token_memo(const token_memo&) = delete;
    token_memo& operator=(const token_memo&) = delete;

    /// Sets `into` to the token of these credentials; false if they are malformed. Calls `read(credentials, into)` if they are not
    /// cached; it must always do the same with the same text. Throws what `read` throws.
    template <class Read>
    [[nodiscard]] bool read(credential_kind kind, std::string_view credentials, presented_token& into, Read&& read) {
        if (credentials.empty() || credentials.size() > credentials_bytes_max) return read(credentials, into);
        entry& slot = entries_[hash_(credentials) % entries_max];
        if (slot.token.kind == kind && slot.holds(credentials)) {
            into = slot.token;
            return true;
        }
        if (!read(credentials, into)) return false;
        assert(into.kind == kind);
        slot.set(credentials, into);
        return true;
    }

    /// Returns true if `text` occurs anywhere in it. For tests.
    [[nodiscard]] bool contains(std::string_view text) const noexcept {
        return std::string_view{reinterpret_cast<const char*>(entries_.data()), sizeof entries_}.find(text) !=
               std::string_view::npos;
    }

private:
    struct entry {
        static constexpr std::size_t block_bytes = 16;

        std::array<char, credentials_bytes_max> text{};  // zeros after `size`
        std::size_t size = 0;                            // 0: no entry
        presented_token token;

        /// Takes constant time for each size, which is not secret: all bytes are compared, also after a difference.
        [[nodiscard]] bool holds(std::string_view other) const noexcept {
            if (other.size() != size) return false;
            std::uint64_t difference = 0;
            if (size < block_bytes) {
                for (std::size_t at = 0; at < size; ++at) difference |= static_cast<unsigned char>(text[at] ^ other[at]);
                return difference == 0;
            }
            // The last block ends where the text does, and so may overlap the one before.
            for (std::size_t at = 0; at < size - block_bytes; at += block_bytes)
                difference |= differing(text.data() + at, other.data() + at);
            difference |= differing(text.data() + size - block_bytes, other.data() + size - block_bytes);
            return difference == 0;
        }
        [[nodiscard]] static std::uint64_t differing(const char* block, const char* other) noexcept {
            std::uint64_t a[2], b[2];
            std::memcpy(a, block, sizeof a);
            std::memcpy(b, other, sizeof b);
            return (a[0] ^ b[0]) | (a[1] ^ b[1]);
        }

        void set(std::string_view credentials, const presented_token& read) noexcept {
            wipe();
            std::memcpy(text.data(), credentials.data(), credentials.size());
            size = credentials.size();
            token = read;
        }
        void wipe() noexcept {
            secure_wipe(std::as_writable_bytes(std::span{text.data(), size}));
            size = 0;
        }
    };

    keyed_hash hash_;
    std::array<entry, entries_max> entries_{};
};

}  // namespace tollgate::detail

#endif  // TOLLGATE_POLICY_DETAIL_TOKEN_MEMO_HPP
