#pragma once

#include "request_log.hpp"

#include <tollgate/contract/observer.hpp>
#include <tollgate/monitoring/metrics.hpp>

namespace reference {

/// The observer of the server: it passes everything to the log and the metrics. Both outlive it.
struct observers {
    request_log& log;
    tollgate::metrics& counts;

    void on_request(const tollgate::request_record& record) const noexcept {
        counts.on_request(record);
        log.on_request(record);
    }
    void on_refusal(const tollgate::refusal_record& record) const noexcept {
        counts.on_refusal(record);
        log.on_refusal(record);
    }
    void on_problem(const tollgate::problem_record& record) const noexcept {
        counts.on_problem(record);
        log.on_problem(record);
    }
    void on_attempt(const tollgate::delivery_record& record) const noexcept {
        counts.on_attempt(record);
        log.on_attempt(record);
    }
    void on_activity(const tollgate::activity& activity) const noexcept {
        counts.on_activity(activity);
        log.on_activity(activity);
    }
};

static_assert(tollgate::delivery_observer<observers> && tollgate::activity_observer<observers>);

}  // namespace reference
