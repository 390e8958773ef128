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

/// The digests of secrets seen lately, so that a token's hundredth request need not compute what its first did: without
/// SHA instructions (most servers before 2020, and every emulator) a digest costs as much as all else that is done to let
/// a caller in.
///
/// It changes no answer. An entry is found by a 128-bit keyed tag of the whole secret, compared in constant time, with a
/// key that is random and never leaves the object: to be taken for another text's digest, a guess has to be one in 2^128.
/// What it holds are digests, which stores hold too, and tags; never a secret. Nothing is decided here: who has revoked
/// what is still asked of the store each time.
///
/// Bounded, of a fixed size, no heap memory. Not for two threads at once.
class digest_memo {
public:
    static constexpr std::size_t entries_max = 256;  // 12 KiB: so many tokens are busy at one time on one thread

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

/// The SHA-256 of a secret that a request carries, remembered by this thread. Throws as `sha256` does.
[[nodiscard]] TOLLGATE_DECL digest recall_digest_of(std::string_view secret);

namespace detail {

/// Null when there are no random bytes for a key: then nothing is remembered.
inline std::unique_ptr<digest_memo> make_digest_memo() {
    siphash_key key;
    const bool has_key = RAND_priv_bytes(reinterpret_cast<unsigned char*>(&key), sizeof key) == 1;
    return has_key ? std::make_unique<digest_memo>(key) : nullptr;
}

}  // namespace detail

inline digest recall_digest_of(std::string_view secret) {
    // On the heap, so that threads that never see a secret carry a pointer and not a table.
    thread_local const std::unique_ptr<digest_memo> memo = detail::make_digest_memo();
    return memo ? memo->of(secret) : sha256(secret);
}

}  // namespace tollgate
