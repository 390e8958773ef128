#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_CLIENT_DOCUMENTS_HPP
#define TOLLGATE_OAUTH_DETAIL_CLIENT_DOCUMENTS_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/limits/window_limiter.hpp>
#include <tollgate/model/application.hpp>
#include <tollgate/model/settings.hpp>
#include <tollgate/oauth/detail/client_metadata.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>

namespace tollgate::inline v0::oauth {

/// The id of an application that is described by a document and has no users yet, so that no store knows it.
inline constexpr application_id unstored_application{INT64_MAX};

/// Why an application that is known by a URL cannot be used now.
struct document_failure {
    enum class kind : std::uint8_t {
        unusable,  ///< there is no document, or it is not a valid one
        too_many,  ///< this address has asked for too many documents, or too many are being fetched
    };
    kind reason = kind::unusable;
    std::string description;  ///< what is wrong with the document, for its author; empty for `too_many`
    seconds retry_after{};
};

/// Applications whose client_id is the URL of a document that describes them (draft-ietf-oauth-client-id-metadata-document). Documents are
/// kept in memory for as long as their response allows, up to a day, and for another day while their host does not respond. Any thread may
/// call each function.
class client_documents {
public:
    /// Refers to `settings`, which must outlive the object.
    explicit client_documents(const account_service_settings& settings) : settings_{settings} {}

    /// Returns true if the settings allow this client_id, and it is an https URL.
    [[nodiscard]] bool may_hold(std::string_view client_id) const noexcept {
        return settings_.oauth.fetch_client_document != nullptr && client_id.starts_with("https://");
    }

    /// Returns true if `find` has to fetch the document.
    [[nodiscard]] TOLLGATE_DECL bool needs_fetch(std::string_view client_id, instant now) const;

    /// Returns the application that the document describes, with the id `unstored_application`. May wait for its host, on behalf of a
    /// client with the address `client`. Precondition: may_hold(client_id).
    [[nodiscard]] TOLLGATE_DECL std::variant<application, document_failure> find(const std::string& client_id, const ip_address& client,
                                                                                 instant now);

private:
    using outcome = std::variant<client_metadata, document_failure>;
    struct entry {
        outcome document;
        instant fetched_at;
        instant fresh_until;
        std::uint64_t used = 0;
    };
    /// The response to a fetch; `is_final` unless its host did not respond.
    struct fetched {
        outcome document;
        seconds fresh_for{};
        bool is_final = true;
    };

    [[nodiscard]] fetched fetch(const std::string& url) const;
    void keep(const std::string& url, const fetched& got, instant now);

    const account_service_settings& settings_;
    window_limiter limiter_{{.users = 64, .addresses = std::size_t{1} << 12}};
    mutable std::mutex mutex_;
    std::map<std::string, entry, std::less<>> kept_;
    std::uint64_t uses_ = 0;
    std::size_t under_way_ = 0;
};

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/client_documents.ipp>
#endif

#endif  // TOLLGATE_OAUTH_DETAIL_CLIENT_DOCUMENTS_HPP
