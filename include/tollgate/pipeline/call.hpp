#pragma once
#ifndef TOLLGATE_PIPELINE_CALL_HPP
#define TOLLGATE_PIPELINE_CALL_HPP

#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/hook_store.hpp>
#include <tollgate/contract/observer.hpp>
#include <tollgate/contract/scope_checker.hpp>
#include <tollgate/contract/sources.hpp>
#include <tollgate/contract/target_rule.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/http/json_writer.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/model/settings.hpp>
#include <tollgate/model/caller.hpp>
#include <tollgate/pipeline/current_request.hpp>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace tollgate::inline v0 {

/// The objects that all calls of an API share. Everything in it outlives the API.
struct api_context {
    user_directory_ref users;
    hook_store_ref hooks;
    target_rule_ref targets;
    random_source_ref random;
    observer_ref observer;
    scope_checker_ref scopes;
    const account_service_settings& settings;
    const std::string& openapi;  ///< the response to `GET {base_url}/openapi.json`
};

/// The argument of an endpoint: a request that has passed every check, and its response. It exists only during the call.
class api_call {
public:
    /// Constructed by the API for each request that passed its checks.
    api_call(const api_context& context, const http::request& request, http::response& response,
             const tollgate::caller* caller, ip_address client, instant now) noexcept
        : context_{context}, request_{request}, response_{response}, caller_{caller}, client_{client}, now_{now} {}

    /// Each returns an argument of the API's constructor, or one of its policies.
    [[nodiscard]] const user_directory_ref& users() const noexcept { return context_.users; }
    /// Returns the webhooks, for endpoints with `needs_hooks`.
    [[nodiscard]] const hook_store_ref& hooks() const noexcept { return context_.hooks; }
    [[nodiscard]] const target_rule_ref& target_rule() const noexcept { return context_.targets; }
    [[nodiscard]] const random_source_ref& random() const noexcept { return context_.random; }
    [[nodiscard]] const account_service_settings& settings() const noexcept { return context_.settings; }
    [[nodiscard]] const std::string& openapi() const noexcept { return context_.openapi; }

    /// Returns the request, and the time at which it was checked.
    [[nodiscard]] const http::request& request() const noexcept { return request_; }
    [[nodiscard]] instant now() const noexcept { return now_; }

    /// Returns true if the request has valid credentials. On a route that needs credentials this is always true; an open route also serves
    /// requests without credentials.
    [[nodiscard]] bool has_caller() const noexcept { return caller_ != nullptr; }
    /// Returns the caller. Throws std::logic_error, which causes a 500, unless `has_caller()`.
    [[nodiscard]] const tollgate::caller& caller() const {
        if (caller_ == nullptr) [[unlikely]] throw_no_caller();
        return *caller_;
    }
    /// Returns true if the caller's scopes cover `scope`. For an endpoint whose requests need different scopes: return
    /// `insufficient_scope(scope)` if they do not. Throws as `caller` does.
    [[nodiscard]] bool covers(std::string_view scope) const { return context_.scopes.covers(caller().scopes, scope); }
    /// Returns the client's address: the address of the peer, or the address that a trusted proxy reports.
    [[nodiscard]] const ip_address& client() const noexcept { return client_; }

    /// Returns the ids of the request, for log lines. The views are valid while the request is handled.
    [[nodiscard]] request_ids ids() const noexcept { return current_request().value_or(request_ids{}); }

    /// Reports an activity of the caller, for an audit log. Throws as `caller` does.
    void report(activity_kind kind, std::string subject) const {
        context_.observer.on_activity({kind, caller().user, std::move(subject), client_, now_});
    }

    /// Returns the response: 200 with `Content-Type: application/json`, unless the endpoint sets another status or type.
    [[nodiscard]] http::response& response() const noexcept { return response_; }
    /// Returns a writer that appends JSON to the response's body.
    [[nodiscard]] http::json_writer json() const noexcept { return http::json_writer{response_.body()}; }

private:
    [[noreturn, gnu::cold, gnu::noinline]] static void throw_no_caller() {
        throw std::logic_error{"tollgate: api_call::caller() without a caller: the route is open_to_all; ask has_caller() first"};
    }

    const api_context& context_;
    const http::request& request_;
    http::response& response_;
    const tollgate::caller* caller_;
    ip_address client_;
    instant now_;
};

}  // namespace tollgate

#endif  // TOLLGATE_PIPELINE_CALL_HPP
