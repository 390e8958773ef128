#pragma once
#ifndef TOLLGATE_PIPELINE_CURRENT_REQUEST_IPP
#define TOLLGATE_PIPELINE_CURRENT_REQUEST_IPP

#include <tollgate/pipeline/current_request.hpp>

namespace tollgate::inline v0 {

TOLLGATE_DECL std::optional<request_ids> current_request() noexcept {
    const auto* const scope = pipeline::request_scope::current;
    if (scope == nullptr) return std::nullopt;
    return scope->ids();
}

namespace pipeline {

TOLLGATE_DECL request_ids request_scope::ids() const noexcept {
    request_ids ids{http::request_id_of(*request_, *generated_), generated_->view(), generated_->span()};
    if (request_->fields.count(http::field_id::traceparent) == 1)
        if (const auto sent = http::traceparent::parse(request_->fields.find(http::field_id::traceparent))) ids.trace_id = sent->trace_id;
    return ids;
}

}  // namespace pipeline

}  // namespace tollgate

#endif  // TOLLGATE_PIPELINE_CURRENT_REQUEST_IPP
