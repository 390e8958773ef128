#pragma once

#include <tollgate/model/service_catalog.hpp>

namespace reference {

/// The two products of the specification, with the events to which hooks can subscribe.
[[nodiscard]] inline tollgate::service_catalog reference_services() {
    tollgate::service_catalog services;
    // Both names and all events keep the catalog's rules, so nothing can fail here.
    (void)services.add("sitesmaker", {"site.created", "site.published", "site.deleted"});
    (void)services.add("itemplatform", {"item.created", "item.updated", "item.deleted"});
    return services;
}

}  // namespace reference
