#pragma once
#ifndef TOLLGATE_PAGES_DETAIL_SUBMISSION_IPP
#define TOLLGATE_PAGES_DETAIL_SUBMISSION_IPP

#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/pages/detail/submission.hpp>

#include <cstring>

namespace tollgate::inline v0::pages {

TOLLGATE_DECL form_submission::form_submission(const session& session, const web::form_nonce& nonce, std::string_view body, instant now)
    : key_{session.secret},
      content_{reinterpret_cast<const char*>(nonce.data()), nonce.size()},
      period_{to_unix_milliseconds(now) / milliseconds{submission_period}.count()} {
    content_.append(sha256(body).raw());
}

TOLLGATE_DECL digest form_submission::derive(std::string_view what) const {
    // The content has a fixed length, so different texts give different messages.
    return hmac_sha256({.key = key_, .message = std::string{"submission\0", 11}.append(content_).append(what)});
}

TOLLGATE_DECL digest form_submission::key() const { return derive("key"); }

TOLLGATE_DECL public_id form_submission::new_id(public_id_kind kind) const {
    const digest derived = derive("id");
    std::array<std::byte, 16> bytes;
    std::memcpy(bytes.data(), derived.bytes().data(), bytes.size());
    return make_public_id(kind, bytes);
}

TOLLGATE_DECL form_submission::secret_bytes form_submission::bytes_of(std::int64_t period) const {
    const digest derived = derive("secret " + std::to_string(period));
    secret_bytes bytes;
    std::memcpy(bytes.data(), derived.bytes().data(), bytes.size());
    return bytes;
}

TOLLGATE_DECL std::string version_of(const digest& secret_digest) {
    return tollgate::detail::hex_encode(sha256(secret_digest.raw()).raw().substr(0, 12));
}

}  // namespace tollgate::pages

#endif  // TOLLGATE_PAGES_DETAIL_SUBMISSION_IPP
