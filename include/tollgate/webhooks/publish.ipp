#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/http/json_body.hpp>
#include <tollgate/webhooks/publish.hpp>

#include <string>
#include <utility>

namespace tollgate {

TOLLGATE_DECL outcome<void> check_event(const event& happened, const service_catalog& services) {
    const service* const of = services.find(happened.account.service.view());
    if (of == nullptr) return invalid("service is none of those that this server has.");
    if (!of->has_event(happened.name)) return invalid("event is none of the service's.");
    if (happened.data.size() > limits::event_data_bytes_max)
        return invalid("data is longer than " + std::to_string(limits::event_data_bytes_max) + " bytes.");
    if (const auto good = http::check_json(happened.data); !good)
        return invalid("data will not do: " + good.error().message);
    return {};
}

}  // namespace tollgate
