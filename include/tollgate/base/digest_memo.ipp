#pragma once

#include <tollgate/base/digest_memo.hpp>

#include <openssl/rand.h>

#include <memory>

namespace tollgate {

namespace detail {

/// Null when there are no random bytes for a key: then nothing is remembered.
inline std::unique_ptr<digest_memo> make_digest_memo() {
    siphash_key key;
    const bool has_key = RAND_priv_bytes(reinterpret_cast<unsigned char*>(&key), sizeof key) == 1;
    return has_key ? std::make_unique<digest_memo>(key) : nullptr;
}

}  // namespace detail

TOLLGATE_DECL digest recall_digest_of(std::string_view secret) {
    // On the heap, so that threads that never see a secret carry a pointer and not a table.
    thread_local const std::unique_ptr<digest_memo> memo = detail::make_digest_memo();
    return memo ? memo->of(secret) : sha256(secret);
}

}  // namespace tollgate
