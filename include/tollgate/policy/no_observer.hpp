#pragma once

#include <tollgate/contract/observer.hpp>

namespace tollgate {

/// Nobody watches.
struct no_observer {
    void on_request(const request_record&) const noexcept {}
    void on_refusal(const http::refusal&) const noexcept {}
    void on_problem(const problem&) const noexcept {}
};

static_assert(observer<no_observer>);

}  // namespace tollgate
