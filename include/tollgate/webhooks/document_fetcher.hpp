#pragma once
#ifndef TOLLGATE_WEBHOOKS_DOCUMENT_FETCHER_HPP
#define TOLLGATE_WEBHOOKS_DOCUMENT_FETCHER_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/model/settings.hpp>
#include <tollgate/policy/default_policies.hpp>
#include <tollgate/webhooks/name_lookup.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace tollgate::inline v0 {

/// Settings of a `document_fetcher`.
struct document_fetcher_settings {
    milliseconds timeout = seconds{5};           ///< bound of the whole fetch: look-up, connection, handshake and response
    std::size_t body_bytes_max = 64 * 1024;      ///< a longer document is refused
    std::string authorities_file = {};           ///< PEM file of the trusted certificate authorities; empty: those of the system
    name_lookup look_up = {};                    ///< empty: `system_lookup`
    std::string user_agent = "Tollgate/" TOLLGATE_VERSION;
};

/// Gets documents over https with the rules of webhooks: the target rule of the policies decides about each address that is connected to,
/// redirects are not followed, and proxies from the environment are ignored.
///
///     settings.oauth.fetch_client_document = document_fetcher{policies};
///
/// Copies share a thread, which the first fetch starts and the last copy ends. Thread rule: any number of threads may call a copy at once.
/// Blocking: for at most the timeout. Errors: invalid for a URL that is not https or that the target rule refuses, and for a response that
/// is not whole; unavailable if there was no response.
class document_fetcher {
public:
    /// Constructs a fetcher with the target rule of `policies`, which it shares.
    TOLLGATE_COLD explicit document_fetcher(policies policies = default_policies(), document_fetcher_settings settings = {});

    /// Gets the document at `url`: any final response with any status. The message of an error says what went wrong.
    [[nodiscard]] TOLLGATE_COLD result<fetched_document> operator()(const std::string& url) const;

private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/webhooks/document_fetcher.ipp>
#endif

#endif  // TOLLGATE_WEBHOOKS_DOCUMENT_FETCHER_HPP
