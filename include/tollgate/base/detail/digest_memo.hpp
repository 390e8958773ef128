#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/hash.hpp>
#include <tollgate/base/digest.hpp>

#include <openssl/rand.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>

namespace tollgate::inline v0 {

/// A cache of the digests of recently seen secrets. Without SHA instructions (most servers before 2020, and every
/// emulator) a digest costs as much as the rest of authenticating a request.
///
/// An entry is found by a 128-bit tag of the whole secret, keyed with a random key that never leaves the object and
/// compared in constant time: the chance that another text matches is 2^-128. The cache holds digests, as the stores
/// do, and tags; never a secret. It decides nothing: revocation is still checked in the store each time.
///
/// Fixed size, no heap memory. Not thread-safe.
class digest_memo {
public:
    static constexpr std::size_t entries_max = 256;  // 12 KiB: more tokens than one thread serves at a time

    explicit digest_memo(const siphash_key& secret) noexcept : key_{secret} {}

    /// The SHA-256 of `text`. Throws as `sha256` does.
    [[nodiscard]] digest of(std::string_view text) {
        const auto tag = siphash128(key_, text);
        entry& kept = entries_[tag.first % entries_max];
        if (!kept.used || !(kept.tag == tag)) kept = {tag, sha256(text), true};
        return kept.value;
    }

private:
    struct entry {
        siphash_tag tag;
        digest value;
        bool used = false;
    };

    siphash_key key_;
    std::array<entry, entries_max> entries_{};
};

/// The SHA-256 of a secret in a request, cached by this thread. Throws as `sha256` does.
[[nodiscard]] TOLLGATE_DECL digest cached_digest_of(std::string_view secret);

namespace detail {

/// Null when there are no random bytes for a key; then nothing is cached.
inline std::unique_ptr<digest_memo> make_digest_memo() {
    siphash_key key;
    const bool has_key = RAND_priv_bytes(reinterpret_cast<unsigned char*>(&key), sizeof key) == 1;
    return has_key ? std::make_unique<digest_memo>(key) : nullptr;
}

}  // namespace detail

inline digest cached_digest_of(std::string_view secret) {
    // On the heap, so that threads that never see a secret hold only a pointer.
    thread_local const std::unique_ptr<digest_memo> memo = detail::make_digest_memo();
    return memo ? memo->of(secret) : sha256(secret);
}

}  // namespace tollgate
