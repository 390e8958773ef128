#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/http/form_body.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/status.hpp>

#include <variant>

namespace tollgate::pipeline {

/// The members of a posted form, or why there are none: 413 for a body that was too large for the host, 415 for another
/// media type than `application/x-www-form-urlencoded`, 400 for bytes that are no form. An empty body is an empty form.
[[nodiscard]] TOLLGATE_DECL std::variant<http::form_fields, http::status> read_form(const http::request& asked);

}  // namespace tollgate::pipeline

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pipeline/read_form.ipp>
#endif
