#pragma once
#ifndef TOLLGATE_WEBHOOKS_PUBLISH_IPP
#define TOLLGATE_WEBHOOKS_PUBLISH_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/http/json_body.hpp>
#include <tollgate/webhooks/publish.hpp>

#include <string>
#include <utility>

namespace tollgate::inline v0 {

TOLLGATE_DECL result<void> check_event(const event& reported, const service_catalog& services) {
    const service* const service = services.find(reported.account.service.view());
    if (service == nullptr) return invalid("service is not one of this server's services.");
    if (!service->has_event(reported.name)) return invalid("event is not one of the service's events: " + reported.name + ".");
    if (reported.data.size() > limits::event_data_bytes_max)
        return invalid("data is longer than " + std::to_string(limits::event_data_bytes_max) + " bytes.");
    if (const auto good = http::check_json(reported.data); !good) {
        auto failure = invalid("data is not one JSON value in UTF-8 with at most " + std::to_string(limits::json_depth_max) +
                               " levels and no duplicate names.");
        failure.cause = good.error().message;
        return failure;
    }
    return {};
}

}  // namespace tollgate

#endif  // TOLLGATE_WEBHOOKS_PUBLISH_IPP
