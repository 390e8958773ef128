#pragma once

#include <tollgate/account/detail/new_secret.hpp>
#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/base/system_sources.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/contract/sources.hpp>
#include <tollgate/http/url.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tollgate::inline v0 {

/// An application to register. `limits` bounds the bytes of each field.
struct application_request {
    user_id owner;
    std::string name;                              ///< shown on the consent page: a visible line, not empty
    std::string website;                           ///< an absolute http or https URL without user information
    std::string description = {};                  ///< may be empty; a visible line
    /// At most `limits::redirect_urls_max`; each as `website`, and without a fragment (RFC 6749 section 3.1.2). A public
    /// client may also have URLs with a private-use scheme (RFC 8252 section 7.1): `com.example.app:/back`.
    std::vector<std::string> redirect_urls = {};
    client_type type = client_type::confidential;
};

/// Why a field of a form was refused.
enum class field_error : std::uint8_t {
    malformed,
    too_many,   ///< more redirect URLs than `limits::redirect_urls_max`
    insecure,   ///< http to a host that is not a loopback address
    not_ascii,  ///< an international domain name that is not in its ASCII form, or other characters beyond ASCII
};

/// An error in one field.
struct field_fault {
    std::string_view field;  ///< `name`, `website`, `description` or `redirect_url`
    std::string message;     ///< a sentence that begins with the field's name
    field_error kind = field_error::malformed;
    std::size_t index = 0;  ///< which of several redirect URLs
};

namespace detail {

/// What is wrong with a URL of an application; empty if nothing is. http is allowed for programs on the user's machine
/// only (RFC 9700 section 2.6): elsewhere, a code could be read in transit.
[[nodiscard]] inline std::optional<field_error> fault_of_url(std::string_view text) {
    if (std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) > 0x7f; }))
        return field_error::not_ascii;
    const auto url = http::url::parse(text);
    if (!url) return field_error::malformed;
    if (url->has_final_dot) return field_error::malformed;  // normalising would make it another origin
    const bool loopback = url->host == "localhost" ||
                          (url->address && (url->address->is_v4() ? url->address->bytes()[12] == 127
                                                                  : *url->address == ip_address::parse("::1")));
    if (url->scheme == http::url_scheme::http && !loopback) return field_error::insecure;
    return std::nullopt;
}

/// As URL libraries write it: scheme and host in lower case, without a default port, `/` for an empty path. A
/// redirect_uri is compared byte for byte, and applications send what such a library returns. Precondition: the URL is
/// valid.
[[nodiscard]] inline std::string normalized_url(std::string_view text) {
    const auto url = http::url::parse(text);
    const auto fragment = text.find('#');
    auto normalized = url->origin() + url->request_target();
    if (fragment != std::string_view::npos) normalized.append(text.substr(fragment));
    return normalized;
}

/// Whether a URL has a private-use scheme (RFC 8252 section 7.1): a domain name in reverse order, so that it has a dot,
/// which the schemes of browsers do not. The rest is visible ASCII without a fragment.
[[nodiscard]] inline bool is_private_use_url(std::string_view text) noexcept {
    const auto scheme = text.substr(0, text.find(':'));
    if (scheme.size() == text.size() || text.size() > limits::target_url_bytes_max || scheme.starts_with('.') ||
        scheme.ends_with('.') || scheme.find('.') == std::string_view::npos || scheme.find("..") != std::string_view::npos)
        return false;
    const auto is_letter = [](char c) { return ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z'; };
    if (!is_letter(scheme.front())) return false;
    for (char c : scheme)
        if (!is_letter(c) && !(c >= '0' && c <= '9') && c != '.' && c != '-' && c != '+') return false;
    const auto rest = text.substr(scheme.size() + 1);
    return rest.starts_with('/') &&
           std::all_of(rest.begin(), rest.end(), [](char c) { return c > ' ' && c <= '~' && c != '#'; });
}

/// A redirect URL as it is stored. Precondition: it is valid.
[[nodiscard]] inline std::string normalized_redirect_url(std::string_view text) {
    if (!is_private_use_url(text)) return normalized_url(text);
    std::string normalized{text};
    for (std::size_t i = 0; normalized[i] != ':'; ++i) normalized[i] = ascii_lower(normalized[i]);
    return normalized;
}

/// In the same order; of several that are equal once normalized, the first.
[[nodiscard]] inline std::vector<std::string> normalized_redirect_urls(const std::vector<std::string>& texts) {
    std::vector<std::string> urls;
    for (const std::string& each : texts)
        if (auto url = normalized_redirect_url(each); std::find(urls.begin(), urls.end(), url) == urls.end())
            urls.push_back(std::move(url));
    return urls;
}

}  // namespace detail

/// All errors, in the order of the fields; empty if there are none. Any thread; never blocks.
[[nodiscard]] TOLLGATE_DECL std::vector<field_fault> faults_of(const application_request& request);

/// A new application. Its secret is shown only once; the store keeps its digest.
struct registered_application {
    application_id id;
    public_id client_id;
    secret_text client_secret;  ///< empty for a public client
};

/// A new client secret, for a new application or as a replacement; empty if the random source fails.
template <random_source Random>
[[nodiscard]] std::optional<secret_text> new_client_secret(const Random& random) {
    return new_secret(secret_kind::client_secret, random);
}

/// Registers an OAuth client (RFC 6749 section 2).
///
/// Errors: invalid for the first of its faults, and if the user has `applications_per_user_max` applications; internal if the
/// random source fails; and those of the store's `create_application`. Any thread; blocks as the store does.
template <application_store Store, random_source Random = system_random>
[[nodiscard]] result<registered_application> register_application(
    Store& store, application_request request, instant now, const Random& random = {},
    std::size_t applications_per_user_max = limits::applications_per_user_max) {
    if (const auto faults = faults_of(request); !faults.empty()) return invalid(faults.front().message);
    request.website = detail::normalized_url(request.website);
    request.redirect_urls = detail::normalized_redirect_urls(request.redirect_urls);
    std::array<std::byte, 16> name_bytes;
    const bool is_public = request.type == client_type::public_client;
    const auto secret = is_public ? std::optional{secret_text{}} : new_client_secret(random);
    if (!secret || !random.fill(name_bytes)) return random_source_error();
    const auto client_id = make_public_id(public_id_kind::client_id, name_bytes);

    const auto id = store.create_application({.owner = request.owner,
                                              .client_id = *client_id_text::from(client_id),
                                              .secret_digest = is_public ? digest{} : digest_of(*secret),
                                              .name = std::move(request.name),
                                              .website = std::move(request.website),
                                              .description = std::move(request.description),
                                              .redirect_urls = std::move(request.redirect_urls),
                                              .created_at = now,
                                              .type = request.type},
                                             applications_per_user_max);
    if (!id) return id.error();
    return registered_application{*id, client_id, *secret};
}

/// Changes what users see of an application, and its redirect URLs. False if the owner has no such application. `request.type`
/// must be the application's.
///
/// Errors: invalid for the first of its faults, and those of the store's `update_application`. Any thread; blocks as the store does.
template <application_store Store>
[[nodiscard]] result<bool> update_application(Store& store, application_id id, application_request request,
                                              bool acts_for_owner) {
    if (const auto faults = faults_of(request); !faults.empty()) return invalid(faults.front().message);
    request.redirect_urls = detail::normalized_redirect_urls(request.redirect_urls);
    return store.update_application(request.owner, id,
                                    {.name = std::move(request.name),
                                     .website = detail::normalized_url(request.website),
                                     .description = std::move(request.description),
                                     .redirect_urls = std::move(request.redirect_urls),
                                     .acts_for_owner = acts_for_owner && request.type == client_type::confidential});
}

inline std::vector<field_fault> faults_of(const application_request& request) {
    std::vector<field_fault> faults;
    constexpr std::string_view private_use = ", or one with a private-use scheme such as com.example.app:/callback,";
    const bool is_public = request.type == client_type::public_client;
    const auto check_url = [&](std::string_view field, std::string_view text, bool fragment_allowed, std::size_t index) {
        const bool allows_private_use = is_public && field == "redirect_url";
        const auto add = [&](std::string_view message, field_error kind = field_error::malformed) {
            faults.push_back({field, std::string{field}.append(message), kind, index});
        };
        const auto fault = detail::fault_of_url(text);
        if (fault == field_error::insecure)
            return add(" must be https; http is allowed for loopback addresses only.", *fault);
        if (fault == field_error::not_ascii)
            return add(" must be ASCII: write an international domain name in its ASCII form (xn--...).", *fault);
        if (fault)
            return add(" must be an absolute http or https URL" + std::string{allows_private_use ? private_use : ""} + " of at most " +
                       std::to_string(limits::target_url_bytes_max) + " bytes.");
        const auto url = http::url::parse(text);
        if (url->has_user_info) add(" must not contain a user name or password.");
        else if (url->has_fragment && !fragment_allowed) add(" must not have a fragment (#).");
    };
    if (!is_visible_line(request.name, limits::application_name_bytes_max))
        faults.push_back({"name", "name must be a line of 1 to " + std::to_string(limits::application_name_bytes_max) +
                                      " bytes without control or invisible characters."});
    check_url("website", request.website, true, 0);
    if (!request.description.empty() && !is_visible_line(request.description, limits::application_description_bytes_max))
        faults.push_back({"description",
                          "description must be a line of at most " + std::to_string(limits::application_description_bytes_max) +
                              " bytes without control or invisible characters."});
    if (request.redirect_urls.size() > limits::redirect_urls_max)
        faults.push_back({"redirect_url", "redirect_url is given more than " + std::to_string(limits::redirect_urls_max) + " times.",
                          field_error::too_many});
    for (std::size_t i = 0; i < request.redirect_urls.size(); ++i) {
        const std::string& each = request.redirect_urls[i];
        if (!is_public || !detail::is_private_use_url(each)) check_url("redirect_url", each, false, i);
    }
    return faults;
}

}  // namespace tollgate
