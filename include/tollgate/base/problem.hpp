#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace tollgate {

/// Whose fault it is, and what kind: the pipeline turns each into a status (4xx for the client's, 5xx for ours).
enum class problem_kind {
    malformed,     ///< the request's bytes break a rule: 400
    unauthorized,  ///< no credentials, or bad ones: 401
    forbidden,     ///< known, but not allowed: 403
    not_found,     ///< unknown, or somebody else's (the client cannot tell which): 404
    invalid,       ///< well-formed, but a member's value will not do: 422
    conflict,      ///< it would break a rule of what is stored already: 409
    unavailable,   ///< a part we rely on is down or too slow: 503, and worth a retry
    internal,      ///< a mistake of ours: 500
};

/// A failure in two voices: `message` is what the client reads, `cause` is for the operator alone (the observer gets it)
/// and may name files, statements or addresses. Neither ever holds a secret.
struct problem {
    problem_kind kind = problem_kind::internal;
    std::string message;
    std::string cause;
};

[[nodiscard]] inline problem unavailable(std::string cause) {
    return {problem_kind::unavailable, "The service is temporarily unavailable. Try again in a moment.", std::move(cause)};
}

[[nodiscard]] inline problem internal_error(std::string cause) {
    return {problem_kind::internal, "Something went wrong on our side.", std::move(cause)};
}

[[nodiscard]] inline problem invalid(std::string message) { return {problem_kind::invalid, std::move(message), {}}; }

[[nodiscard]] inline problem malformed(std::string message) { return {problem_kind::malformed, std::move(message), {}}; }

/// One text for everything that is not there or not the caller's: whoever asks cannot tell the two apart.
[[nodiscard]] inline problem not_found() { return {problem_kind::not_found, "Not Found", {}}; }

}  // namespace tollgate
