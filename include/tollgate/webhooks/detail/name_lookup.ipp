#pragma once
#ifndef TOLLGATE_WEBHOOKS_DETAIL_NAME_LOOKUP_IPP
#define TOLLGATE_WEBHOOKS_DETAIL_NAME_LOOKUP_IPP

#include <tollgate/webhooks/detail/name_lookup.hpp>

#include <exception>
#include <new>
#include <string>
#include <system_error>

namespace tollgate::inline v0::webhooks {

namespace detail {

inline lookup_result failed_lookup(lookup_end end, const char* reason) noexcept {
    try {
        return {.end = end, .reason = reason};
    } catch (const std::exception&) {
        return {.end = end};
    }
}

}  // namespace detail

TOLLGATE_DECL lookup_result result_of(const name_lookup& look_up, const std::string& host) noexcept {
    try {
        return {.addresses = look_up ? look_up(host) : system_lookup(host)};
    } catch (const std::system_error& failed) {
        const bool no_response =
            failed.code() == std::errc::timed_out || failed.code() == std::errc::resource_unavailable_try_again;
        return detail::failed_lookup(no_response ? lookup_end::no_response : lookup_end::local_failure, failed.what());
    } catch (const std::bad_alloc& failed) {
        return detail::failed_lookup(lookup_end::local_failure, failed.what());
    } catch (...) {
        return {};
    }
}

}  // namespace tollgate::webhooks

#endif  // TOLLGATE_WEBHOOKS_DETAIL_NAME_LOOKUP_IPP
