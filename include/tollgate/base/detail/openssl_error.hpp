#pragma once
#ifndef TOLLGATE_BASE_DETAIL_OPENSSL_ERROR_HPP
#define TOLLGATE_BASE_DETAIL_OPENSSL_ERROR_HPP

#include <openssl/err.h>

#include <string>
#include <system_error>

namespace tollgate::inline v0::detail {

/// OpenSSL's text for the first error in this thread's queue; clears the queue.
inline std::string take_openssl_error() {
    const unsigned long code = ERR_get_error();
    ERR_clear_error();
    if (ERR_GET_LIB(code) == ERR_LIB_SYS) return std::generic_category().message(ERR_GET_REASON(code));
    const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
    return reason == nullptr ? "unknown error" : reason;
}

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_OPENSSL_ERROR_HPP
