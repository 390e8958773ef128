#pragma once
#ifndef TOLLGATE_STORE_DETAIL_LAST_VALUE_HPP
#define TOLLGATE_STORE_DETAIL_LAST_VALUE_HPP

#include <tollgate/model/application.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/model/grant.hpp>
#include <tollgate/model/hook.hpp>

namespace tollgate::inline v0::detail {

/// The greatest value of an enumeration that is stored as its number, of its type: a greater one is damage.
template <class E>
inline constexpr bool last_value = false;

template <>
inline constexpr hook_source last_value<hook_source> = hook_source::manual;
template <>
inline constexpr disable_reason last_value<disable_reason> = disable_reason::failing;
template <>
inline constexpr delivery_state last_value<delivery_state> = delivery_state::held;
template <>
inline constexpr attempt_end last_value<attempt_end> = attempt_end::bad_response;
template <>
inline constexpr attempt_cause last_value<attempt_cause> = attempt_cause::certificate_invalid;
template <>
inline constexpr client_type last_value<client_type> = client_type::resource_server;
template <>
inline constexpr registration_kind last_value<registration_kind> = registration_kind::metadata_document;
template <>
inline constexpr suspension last_value<suspension> = suspension::owner_disabled;
template <>
inline constexpr device_code_state last_value<device_code_state> = device_code_state::denied;

}  // namespace tollgate::detail

#endif  // TOLLGATE_STORE_DETAIL_LAST_VALUE_HPP
