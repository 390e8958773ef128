#pragma once
#ifndef TOLLGATE_WEBHOOKS_PUBLISH_HPP
#define TOLLGATE_WEBHOOKS_PUBLISH_HPP

#include <tollgate/account/new_secret.hpp>
#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/outbox.hpp>
#include <tollgate/contract/sources.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/model/service_catalog.hpp>
#include <tollgate/base/system_sources.hpp>

#include <cstddef>
#include <utility>

namespace tollgate::inline v0 {

/// Checks an event: its service must be in `services` and have an event of this name, and its data must be one JSON value (RFC 8259) in
/// UTF-8 of at most `limits::event_data_bytes_max`, parsed as strictly as a request body (`http::check_json`). Otherwise returns
/// error_kind::invalid with a message that begins with the member's name. Any thread may call it.
[[nodiscard]] TOLLGATE_DECL result<void> check_event(const event& reported, const service_catalog& services);

/// Publishes an event of an account: the outbox gets a delivery for each of the account's webhooks for that event, or, with an error, none.
/// Returns the number of deliveries. When it returns, they are on disk if the store is persistent; a dispatcher in this process or another
/// process sends them.
///
///     const auto deliveries = tollgate::publish(
///         dispatcher, services,
///         {.account = {site.service, site.id}, .name = "site.published", .data = R"({"version": 7})", .at = now},
///         now);
///     if (!deliveries) log(deliveries.error());
///
/// `outbox` is a `hook_dispatcher`, which sends at once; a store, whose dispatcher finds the event shortly after; or a
/// `sqlite_own_transaction` or `postgres_own_transaction`, which commits the event together with the change that it reports. With a
/// dispatcher or a store, a process that dies between its own commit and this call loses the event.
///
/// Errors: invalid for an event that `check_event` refuses, internal if the random source fails, and the errors of the outbox: unavailable,
/// for instance on a full disk, means that nothing was written and that a retry may succeed. Any thread may call it. It blocks as the
/// outbox does.
template <event_sink Outbox, random_source Random = system_random>
[[nodiscard]] result<std::size_t> publish(Outbox& outbox, const service_catalog& services, const event& reported,
                                          instant now, const Random& random = {}) {
    if (auto good = check_event(reported, services); !good) return std::move(good).error();
    message_seed seed;
    if (!random.fill(seed)) return random_source_error();
    return outbox.append_event(reported, seed, now);
}

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/webhooks/publish.ipp>
#endif

#endif  // TOLLGATE_WEBHOOKS_PUBLISH_HPP
