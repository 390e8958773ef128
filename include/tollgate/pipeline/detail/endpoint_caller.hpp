#pragma once
#ifndef TOLLGATE_PIPELINE_DETAIL_ENDPOINT_CALLER_HPP
#define TOLLGATE_PIPELINE_DETAIL_ENDPOINT_CALLER_HPP

#include <tollgate/base/result.hpp>
#include <tollgate/contract/router.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/model/service_catalog.hpp>
#include <tollgate/pipeline/call.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

/// How a route calls its endpoint. A reader parses one parameter: from the path, `read(capture, service)`, which returns an optional
/// or a pointer; from the query, `read(query, value, failure)`.
namespace tollgate::inline v0::pipeline {

/// Returns true if an endpoint says that it never asks the users or the store.
template <class Endpoint>
[[nodiscard]] constexpr bool never_waits() noexcept {
    if constexpr (requires { { Endpoint::blocking } -> std::convertible_to<bool>; }) return !Endpoint::blocking;
    else return false;
}

/// The response of an endpoint that does not have to wait for it; empty if it has to.
template <class Endpoint, class... Values>
[[nodiscard]] std::optional<result<void>> respond_without_waiting([[maybe_unused]] const Endpoint& endpoint,
                                                                  [[maybe_unused]] api_call& call, const Values&... values) {
    if constexpr (never_waits<Endpoint>()) {
        return endpoint(call, values...);
    } else if constexpr (requires { endpoint.respond_without_waiting(call, values...); }) {
        return endpoint.respond_without_waiting(call, values...);
    }
    return std::nullopt;
}

/// Calls an endpoint. The name of `run`, which stack traces show, contains neither the path nor the table.
template <class Endpoint, class... Readers>
struct endpoint_caller {
    static constexpr bool fits = std::is_invocable_r_v<result<void>, const Endpoint&, api_call&, typename Readers::type...>;
    // Most endpoints are lambdas that capture nothing: they are constructed where they are called.
    static constexpr bool is_stateless = std::is_empty_v<Endpoint> && std::is_default_constructible_v<Endpoint>;

    [[nodiscard]] static result<void> run(const void* endpoint, api_call& call, const route_match& match,
                                          const service* of_service) {
        return with_values<result<void>>(
            endpoint, match, of_service, std::index_sequence_for<Readers...>{},
            [&](const Endpoint& target, const auto&... values) { return target(call, values...); });
    }

    [[nodiscard]] static std::optional<result<void>> run_without_waiting(const void* endpoint, api_call& call, const route_match& match,
                                                                         const service* of_service) {
        return with_values<std::optional<result<void>>>(
            endpoint, match, of_service, std::index_sequence_for<Readers...>{},
            [&](const Endpoint& target, const auto&... values) { return respond_without_waiting(target, call, values...); });
    }

private:
    /// Calls `use` with the endpoint and its parameters. 404 if one of them does not parse.
    template <class Response, std::size_t... Indexes, class Use>
    static Response with_values([[maybe_unused]] const void* endpoint, [[maybe_unused]] const route_match& match,
                                [[maybe_unused]] const service* of_service, std::index_sequence<Indexes...>, Use use) {
        const auto use_parsed = [&](const auto&... parsed) -> Response {
            if (!(static_cast<bool>(parsed) && ...)) return not_found();
            if constexpr (is_stateless) return use(Endpoint{}, *parsed...);
            else return use(*static_cast<const Endpoint*>(endpoint), *parsed...);
        };
        return use_parsed(Readers::read(match.captures[Indexes], of_service)...);
    }
};

/// What an endpoint says that it waits for; else the store, for a read or a write as the method is.
template <class Endpoint>
[[nodiscard]] constexpr http::work_kind work_of(http::method method) noexcept {
    if constexpr (requires { { Endpoint::work } -> std::convertible_to<http::work_kind>; }) return Endpoint::work;
    else return method == http::method::get ? http::work_kind::store_reads : http::work_kind::store_writes;
}

/// Returns true if an endpoint says that it calls `api_call::hooks`.
template <class Endpoint>
[[nodiscard]] constexpr bool needs_hooks() noexcept {
    if constexpr (requires { { Endpoint::needs_hooks } -> std::convertible_to<bool>; }) return Endpoint::needs_hooks;
    else return false;
}

/// Turns an endpoint with query parameters into one without: reads them, and passes them to `Endpoint` after those of the path.
template <http::method Method, class Endpoint, class... Readers>
struct with_query {
    Endpoint endpoint;

    static constexpr bool blocking = !never_waits<Endpoint>();
    static constexpr http::work_kind work = work_of<Endpoint>(Method);
    static constexpr bool needs_hooks = pipeline::needs_hooks<Endpoint>();

    template <class... Values>
        requires(std::is_invocable_r_v<result<void>, const Endpoint&, api_call&, const Values&..., const typename Readers::type&...>)
    result<void> operator()(api_call& call, const Values&... values) const {
        return with_read(call, [&](const auto&... read) -> result<void> { return endpoint(call, values..., read...); });
    }

    /// The refusal of an invalid parameter does not wait.
    template <class... Values>
    std::optional<result<void>> respond_without_waiting(api_call& call, const Values&... values) const {
        return with_read(call, [&](const auto&... read) { return pipeline::respond_without_waiting(endpoint, call, values..., read...); });
    }

private:
    template <class Use>
    static auto with_read(const api_call& call, Use use) -> std::invoke_result_t<Use, const typename Readers::type&...> {
        std::tuple<typename Readers::type...> read;
        std::optional<error> failure;
        const auto parse = [&](auto&... each) { return (Readers::read(call.request().target.query, each, failure) && ...); };
        if (!std::apply(parse, read)) return result<void>{*std::move(failure)};
        return std::apply(use, read);
    }
};

}  // namespace tollgate::pipeline

#endif  // TOLLGATE_PIPELINE_DETAIL_ENDPOINT_CALLER_HPP
