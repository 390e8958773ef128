#pragma once

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
           std::all_of(name.begin(), name.end(), [](char c) { return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-'; });
}

/// Whether the scope can be added to a service that has `existing`; otherwise the reason.
inline result<void> check_scope(const scope_definition& scope, std::span<const service_scope> existing, std::string_view full_name) {
    const auto quoted = "The scope '" + std::string{full_name} + "' ";
    if (!is_service_name(scope.name)) return invalid(quoted + "is not a service, ':', and 1 to 32 of a-z, 0-9 and '-'.");
    if (scope.name == "read") return invalid(quoted + "exists for every service.");
    if (!is_visible_line(scope.text, limits::scope_description_bytes_max))
        return invalid(quoted + "needs a text of 1 to " + std::to_string(limits::scope_description_bytes_max) +
                       " bytes, without control or invisible characters, that tells users what it permits.");
    const auto has_name = [full_name](const service_scope& each) { return each.name == full_name; };
    if (std::any_of(existing.begin(), existing.end(), has_name)) return invalid(quoted + "is declared twice.");
    return {};
}

inline bool is_event_name(std::string_view event) noexcept {
    return !event.empty() && event.size() <= limits::event_name_bytes_max &&
           std::all_of(event.begin(), event.end(), [](char c) { return is_alphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

}  // namespace detail

TOLLGATE_DECL bool service::has_event(std::string_view event) const noexcept {
    return std::find(events.begin(), events.end(), event) != events.end();
}

TOLLGATE_DECL service_catalog::service_catalog(std::initializer_list<service_definition> services) {
    for (const service_definition& each : services)
        if (const auto added = add(each.name, each.events, each.scopes); !added)
            throw std::invalid_argument{"tollgate: " + added.error().message};
}

TOLLGATE_DECL result<void> service_catalog::add(std::string_view name, std::vector<std::string> events,
                                                std::vector<scope_definition> scopes) {
    if (!detail::is_service_name(name))
        return invalid("The service name '" + std::string{name} + "' is not 1 to 32 of a-z, 0-9 and '-'.");
    if (name == "user" || name == "testservice")
        return invalid("The service name '" + std::string{name} + "' is reserved by the API.");
    if (find(name) != nullptr) return invalid("The service '" + std::string{name} + "' already exists.");
    for (auto event = events.begin(); event != events.end(); ++event) {
        if (!detail::is_event_name(*event))
            return invalid("The event name '" + *event + "' is not 1 to 128 of A-Z, a-z, 0-9, '.', '_' and '-'.");
        if (std::find(events.begin(), event, *event) != event) return invalid("The event '" + *event + "' is declared twice.");
    }
    std::vector<service_scope> own;
    for (scope_definition& each : scopes) {
        auto full_name = std::string{name} + ":" + each.name;
        if (auto fits = detail::check_scope(each, own, full_name); !fits) return fits;
        own.push_back({std::move(full_name), std::move(each.text)});
    }
    services_.push_back({*service_name::from(name), std::string{name} + ":read", std::string{name}, std::move(events),
                         std::move(own)});
    return {};
}

TOLLGATE_DECL bool service_catalog::has_scope(std::string_view scope) const noexcept {
    return scope == balance_scope || std::any_of(services_.begin(), services_.end(), [scope](const service& each) {
               return scope == each.read_scope || scope == each.write_scope ||
                      std::any_of(each.own_scopes.begin(), each.own_scopes.end(),
                                  [scope](const service_scope& own) { return scope == own.name; });
           });
}

TOLLGATE_DECL std::vector<std::string> service_catalog::scopes() const {
    std::vector<std::string> all{std::string{balance_scope}};
    for (const service& each : services_) {
        all.push_back(each.read_scope);
        all.push_back(each.write_scope);
        for (const service_scope& own : each.own_scopes) all.push_back(own.name);
    }
    return all;
}

}  // namespace tollgate
