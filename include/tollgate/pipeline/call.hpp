#pragma once

#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/http/json_body.hpp>
#include <tollgate/http/json_writer.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/model/caller.hpp>
#include <tollgate/policy/detail/policy_set.hpp>

#include <cassert>

namespace tollgate::inline v0 {

/// What an endpoint is called with: one request that has passed every stage, and where its answer goes. Lives for the call.
template <class Api>
class api_call {
public:
    /// Made by the API for each request that passed its judgement.
    api_call(Api& api, const http::request& asked, http::response& out, const caller* who, instant now) noexcept
        : api_{api}, asked_{asked}, out_{out}, who_{who}, now_{now} {}

    /// The integrator's own.
    [[nodiscard]] auto& users() const noexcept { return api_.users(); }
    [[nodiscard]] auto& store() const noexcept { return api_.store(); }
    [[nodiscard]] const auto& settings() const noexcept { return api_.settings(); }
    [[nodiscard]] const auto& target_rule() const noexcept { return policy(api_.policies().target_rule); }
    [[nodiscard]] const auto& random() const noexcept { return policy(api_.policies().random); }

    /// What `{base_url}/openapi.json` answers with.
    [[nodiscard]] const auto& openapi() const noexcept { return api_.openapi(); }

    /// The request, and the time at which it is judged.
    [[nodiscard]] const http::request& asked() const noexcept { return asked_; }
    /// The time at which the request is judged.
    [[nodiscard]] instant now() const noexcept { return now_; }

    /// Whether there is a caller; on a route that is not open there always is.
    [[nodiscard]] bool has_caller() const noexcept { return who_ != nullptr; }
    /// Precondition: has_caller().
    [[nodiscard]] const caller& who() const noexcept {
        assert(who_ != nullptr);
        return *who_;
    }

    /// The body's members; a problem (400) for one that is no JSON object. An empty body is none.
    [[nodiscard]] result<http::json_object> body() const { return http::parse_json_object(asked_.body); }

    /// The answer: 200 with a JSON body, unless the endpoint says otherwise.
    [[nodiscard]] http::response& answer() const noexcept { return out_; }
    [[nodiscard]] http::json_writer json() const noexcept { return http::json_writer{out_.body()}; }

private:
    Api& api_;
    const http::request& asked_;
    http::response& out_;
    const caller* who_;
    instant now_;
};

}  // namespace tollgate
