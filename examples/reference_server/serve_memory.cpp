#include "memory_directory.hpp"
#include "serve_from.hpp"

#include <tollgate/base/system_sources.hpp>
#include <tollgate/store/memory.hpp>

#include <optional>

namespace reference {

void serve_on_memory(const settings& settings, const tollgate::service_catalog& services, const signals& stop_signals) {
    memory_directory users;
    tollgate::memory_store store;
    const stored_data data{users, store, tollgate::system_clock{}};
    std::optional<demo> shown;
    if (settings.demo) shown = renew_demo(users, store, services, std::nullopt, data.clock.now());
    serve_from(data, shown, settings, services, stop_signals);
}

}  // namespace reference
