#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_CLIENT_DOCUMENTS_IPP
#define TOLLGATE_OAUTH_DETAIL_CLIENT_DOCUMENTS_IPP

#include <tollgate/account/register_application.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/http/json_body.hpp>
#include <tollgate/http/url.hpp>
#include <tollgate/oauth/detail/client_documents.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>

namespace tollgate::inline v0::oauth {

namespace detail {

inline constexpr seconds fresh_for_default{60};  // as long as a consent takes, so that a change is noticed soon
inline constexpr seconds fresh_for_max = std::chrono::days{1};
inline constexpr seconds stale_for = std::chrono::days{1};
inline constexpr seconds failure_kept_for{10};  // a reload does not ask the host again

inline document_failure unusable(std::string description) {
    return {document_failure::kind::unusable, std::move(description), {}};
}

/// What is wrong with the URL itself (section 3 of the draft); empty if nothing is.
inline std::optional<document_failure> fault_of_client_url(const std::string& client_id, const account_service_settings& settings) {
    const auto url = http::url::parse(client_id);
    if (!url || url->has_user_info || url->has_fragment)
        return unusable("The client_id is not an https URL without user information and fragment.");
    if (url->path == "/" && !client_id.ends_with('/')) return unusable("The URL in client_id has no path.");
    for (auto path = std::string_view{url->path}; !path.empty();) {
        path.remove_prefix(1);
        const auto end = (std::min)(path.find('/'), path.size());
        if (path.substr(0, end) == "." || path.substr(0, end) == "..") return unusable("The URL in client_id has a dot segment.");
        path.remove_prefix(end);
    }
    if (settings.oauth.accepts_client_host && !settings.oauth.accepts_client_host(url->host))
        return unusable("Applications of this host are not accepted here.");
    return std::nullopt;
}

inline bool is_json_type(std::string_view content_type) noexcept {
    const auto type = tollgate::detail::trim_ows(content_type.substr(0, content_type.find(';')));
    constexpr std::string_view suffix = "+json";
    return tollgate::detail::ascii_iequals(type, "application/json") ||
           (type.starts_with("application/") && type.size() > suffix.size() &&
            tollgate::detail::ascii_iequals(type.substr(type.size() - suffix.size()), suffix));
}

/// The metadata in a response (section 4 of the draft).
inline std::variant<client_metadata, document_failure> read_document(const std::string& url, const fetched_document& got,
                                                                     const service_catalog& services) {
    constexpr unsigned ok = 200;
    if (got.status != ok) return unusable("The document was not found: its host responded with " + std::to_string(got.status) + ".");
    if (!is_json_type(got.content_type)) return unusable("The Content-Type of the document is not application/json.");
    const auto sent = http::parse_json_object(got.body);
    if (!sent) return unusable("The document is not a JSON object.");
    const auto* client_id = sent->find("client_id");
    if (client_id == nullptr || client_id->kind != http::json_kind::text || client_id->value != url)
        return unusable("The client_id in the document is not its URL.");
    auto read = read_client_metadata(*sent, services, metadata_source::document);
    if (const auto* refused = std::get_if<failure>(&read)) return unusable(refused->description);
    auto& metadata = std::get<client_metadata>(read);
    // What a user sees is the host, which the document cannot invent.
    metadata.website = http::url::parse(url)->origin();
    metadata.redirect_urls = tollgate::detail::distinct_redirect_urls(metadata.redirect_urls);
    return std::move(metadata);
}

}  // namespace detail

TOLLGATE_DECL bool client_documents::needs_fetch(std::string_view client_id, instant now) const {
    const std::lock_guard lock{mutex_};
    const auto known = kept_.find(client_id);
    return known == kept_.end() || now >= known->second.fresh_until;
}

inline client_documents::fetched client_documents::fetch(const std::string& url) const {
    std::optional<result<fetched_document>> got;
    try {
        got.emplace(settings_.oauth.fetch_client_document(url));
    } catch (const std::exception& thrown) {
        got.emplace(exception_error("a client ID metadata document was not fetched", thrown.what()));
    }
    if (!*got) {
        const auto& failed = got->error();
        return {detail::unusable("The document was not fetched: " + failed.message + "."), detail::failure_kept_for,
                failed.kind == error_kind::invalid};
    }
    constexpr unsigned server_error = 500;
    auto document = detail::read_document(url, **got, settings_.services);
    if (std::holds_alternative<document_failure>(document))
        return {std::move(document), detail::failure_kept_for, (*got)->status < server_error};
    const auto fresh_for = (std::min)((*got)->fresh_for.value_or(detail::fresh_for_default), detail::fresh_for_max);
    return {std::move(document), fresh_for, true};
}

/// Keeps what was fetched. A failure of the host does not replace a document that is not too old.
inline void client_documents::keep(const std::string& url, const fetched& got, instant now) {
    auto known = kept_.find(url);
    if (known != kept_.end() && !got.is_final && std::holds_alternative<client_metadata>(known->second.document) &&
        now < known->second.fetched_at + detail::fresh_for_max + detail::stale_for) {
        known->second.fresh_until = now + got.fresh_for;
        return;
    }
    if (known == kept_.end()) {
        if (kept_.size() >= (std::max)(settings_.oauth.client_documents_max, std::size_t{1}))
            kept_.erase(std::min_element(kept_.begin(), kept_.end(),
                                         [](const auto& a, const auto& b) { return a.second.used < b.second.used; }));
        known = kept_.try_emplace(url).first;
    }
    known->second = {got.document, now, now + got.fresh_for, ++uses_};
}

TOLLGATE_DECL std::variant<application, document_failure> client_documents::find(const std::string& client_id, const ip_address& client,
                                                                                 instant now) {
    if (auto fault = detail::fault_of_client_url(client_id, settings_)) return *std::move(fault);
    std::unique_lock lock{mutex_};
    auto known = kept_.find(client_id);
    if (known == kept_.end() || now >= known->second.fresh_until) {
        if (under_way_ >= settings_.oauth.client_documents_at_once_max)
            return document_failure{document_failure::kind::too_many, {}, seconds{1}};
        const auto window = limiter_.take(limit_key::of(client), settings_.oauth.client_documents, now);
        if (!window.admitted)
            return document_failure{document_failure::kind::too_many, {}, std::chrono::ceil<seconds>(window.resets_at - now)};
        ++under_way_;
        lock.unlock();
        const auto got = fetch(client_id);
        lock.lock();
        --under_way_;
        keep(client_id, got, now);
        known = kept_.find(client_id);
    }
    known->second.used = ++uses_;
    if (const auto* failed = std::get_if<document_failure>(&known->second.document)) return *failed;
    const auto& metadata = std::get<client_metadata>(known->second.document);
    return application{.id = unstored_application,
                       .owner = no_owner,
                       .client_id = *client_id_text::from(client_id),
                       .secret_digest = {},
                       .name = metadata.name,
                       .website = metadata.website,
                       .description = {},
                       .redirect_urls = metadata.redirect_urls,
                       .created_at = now,
                       .type = client_type::public_client,
                       .registration = registration_kind::metadata_document,
                       .default_scopes = metadata.default_scopes};
}

}  // namespace tollgate::oauth

#endif  // TOLLGATE_OAUTH_DETAIL_CLIENT_DOCUMENTS_IPP
