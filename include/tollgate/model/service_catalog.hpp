#pragma once
#ifndef TOLLGATE_MODEL_SERVICE_CATALOG_HPP
#define TOLLGATE_MODEL_SERVICE_CATALOG_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/account.hpp>
#include <tollgate/model/scope.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

/// A scope beside the two scopes of each service, as a program defines it: `{"refund", "Refund parcels"}`.
struct scope_definition {
    std::string name;  ///< the part after `{service}:`: `[a-z0-9-]{1,32}`, not `read`
    std::string text;  ///< a description of what the scope permits: a visible line of 1 to 200 bytes of plain text
};

/// A service as a program defines it: `{"shop", {"order.paid", "order.shipped"}}`, or with scopes of its own
/// `{.name = "parcel", .events = {"parcel.sent"}, .scopes = {{"refund", "Refund parcels"}}}`.
struct service_definition {
    std::string_view name;
    std::vector<std::string> events = {};       ///< events that hooks can subscribe to
    std::vector<scope_definition> scopes = {};  ///< scopes beside the two of each service
};

/// A scope in a catalog that belongs to one service.
struct service_scope {
    std::string name;  ///< `{service}:refund`
    std::string text;  ///< the text of its `scope_definition`
};

/// A product whose accounts the API serves.
struct service {
    service_name name;
    std::string read_scope;                 ///< `{name}:read`
    std::string write_scope;                ///< `{name}`, which covers reading and the service's own scopes
    std::vector<std::string> events;        ///< events that hooks can subscribe to
    std::vector<service_scope> own_scopes;  ///< scopes beside `read_scope` and `write_scope`

    /// Returns true if the service has an event with this name.
    [[nodiscard]] TOLLGATE_DECL bool has_event(std::string_view event) const noexcept;
};

/// All services and their scopes. Build the catalog before you share it; then any thread may read it.
///
///     service_catalog services{{"sitesmaker", {"site.created", "site.published"}}, {"itemplatform", {"item.created"}}};
class service_catalog {
public:
    service_catalog() = default;
    /// Adds the services. Throws std::invalid_argument with the message of the first service that `add` refuses.
    TOLLGATE_COLD service_catalog(std::initializer_list<service_definition> services);

    /// Adds a service. Refuses (error_kind::invalid) a name that is not `[a-z0-9-]{1,32}`, a reserved name (`user`, `testservice`), a
    /// duplicate, an event that is not `[A-Za-z0-9._-]{1,128}`, a scope whose name or text is not as `scope_definition` describes it, and
    /// an event or a scope that is given twice.
    ///
    ///     services.add("parcel", {"parcel.sent"}, {{"refund", "Refund parcels"}});
    TOLLGATE_COLD result<void> add(std::string_view name, std::vector<std::string> events, std::vector<scope_definition> scopes = {});

    /// Returns the service with this name, or null if there is none. The pointer is valid until the next `add`.
    [[nodiscard]] const service* find(std::string_view name) const noexcept {
        for (const service& each : services_)
            if (each.name == name) return &each;
        return nullptr;
    }

    /// Returns true if the scope exists: two per service, its further scopes, and `user:balance`.
    [[nodiscard]] TOLLGATE_DECL bool has_scope(std::string_view scope) const noexcept;

    /// Returns every scope, in the order in which pages list the scopes.
    [[nodiscard]] TOLLGATE_COLD std::vector<std::string> scopes() const;

    /// Returns all services in the order in which they were added.
    [[nodiscard]] const std::vector<service>& services() const noexcept { return services_; }

private:
    std::vector<service> services_;
};

/// The scope of the balance endpoint, which does not belong to a service.
inline constexpr std::string_view balance_scope = "user:balance";

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/model/service_catalog.ipp>
#endif

#endif  // TOLLGATE_MODEL_SERVICE_CATALOG_HPP
