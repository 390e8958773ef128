#pragma once
#ifndef TOLLGATE_MODEL_SERVICE_CATALOG_IPP
#define TOLLGATE_MODEL_SERVICE_CATALOG_IPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/model/service_catalog.hpp>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>

namespace tollgate::inline v0 {

namespace detail {

inline bool is_service_name(std::string_view name) noexcept {
    return !name.empty() && name.size() <= limits::service_name_bytes_max &&
           name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

/// Succeeds if the scope can be added to a service that has `existing`. Otherwise returns the reason.
inline result<void> check_scope(const scope_definition& scope, std::span<const service_scope> existing, std::string_view full_name) {
    const auto refuse = [full_name](std::string_view reason) { return invalid(detail::concat({"The scope '", full_name, "' ", reason})); };
    if (!is_service_name(scope.name)) return refuse("is not a service, ':', and 1 to 32 of a-z, 0-9 and '-'.");
    if (scope.name == "read") return refuse("exists for every service.");
    if (!detail::is_visible_line(scope.text, limits::scope_description_bytes_max))
        return refuse("needs a text of 1 to " + std::to_string(limits::scope_description_bytes_max) +
                      " bytes, without control or invisible characters, that tells users what it permits.");
    for (const service_scope& each : existing)
        if (each.name == full_name) return refuse("is declared twice.");
    return {};
}

inline bool is_event_name(std::string_view event) noexcept {
    return !event.empty() && event.size() <= limits::event_name_bytes_max &&
           event.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") == std::string_view::npos;
}

}  // namespace detail

TOLLGATE_DECL bool service::has_event(std::string_view event) const noexcept {
    return std::find(events.begin(), events.end(), event) != events.end();
}

TOLLGATE_COLD service_catalog::service_catalog(std::initializer_list<service_definition> services) {
    for (const service_definition& each : services)
        if (const auto added = add(each.name, each.events, each.scopes); !added)
            throw std::invalid_argument{"tollgate: " + added.error().message};
}

TOLLGATE_COLD result<void> service_catalog::add(std::string_view name, std::vector<std::string> events,
                                                std::vector<scope_definition> scopes) {
    const auto refuse = [](std::string_view before, std::string_view refused, std::string_view reason) {
        return invalid(detail::concat({before, " '", refused, "' ", reason}));
    };
    if (!detail::is_service_name(name)) return refuse("The service name", name, "is not 1 to 32 of a-z, 0-9 and '-'.");
    if (name == "user" || name == "testservice") return refuse("The service name", name, "is reserved by the API.");
    if (find(name) != nullptr) return refuse("The service", name, "already exists.");
    for (auto event = events.begin(); event != events.end(); ++event) {
        if (!detail::is_event_name(*event)) return refuse("The event name", *event, "is not 1 to 128 of A-Z, a-z, 0-9, '.', '_' and '-'.");
        if (std::find(events.begin(), event, *event) != event) return refuse("The event", *event, "is declared twice.");
    }
    std::vector<service_scope> own;
    for (scope_definition& each : scopes) {
        auto full_name = detail::concat({name, ":", each.name});
        if (auto fits = detail::check_scope(each, own, full_name); !fits) return fits;
        own.push_back({std::move(full_name), std::move(each.text)});
    }
    services_.push_back({*service_name::from(name), detail::concat({name, ":read"}), std::string{name}, std::move(events), std::move(own)});
    return {};
}

TOLLGATE_DECL bool service_catalog::has_scope(std::string_view scope) const noexcept {
    if (scope == balance_scope) return true;
    for (const service& each : services_) {
        if (scope == each.read_scope || scope == each.write_scope) return true;
        for (const service_scope& own : each.own_scopes)
            if (scope == own.name) return true;
    }
    return false;
}

TOLLGATE_COLD std::vector<std::string> service_catalog::scopes() const {
    std::vector<std::string> all{std::string{balance_scope}};
    for (const service& each : services_) {
        all.push_back(each.read_scope);
        all.push_back(each.write_scope);
        for (const service_scope& own : each.own_scopes) all.push_back(own.name);
    }
    return all;
}

}  // namespace tollgate

#endif  // TOLLGATE_MODEL_SERVICE_CATALOG_IPP
