#pragma once
#ifndef TOLLGATE_PIPELINE_ROUTE_TABLE_HPP
#define TOLLGATE_PIPELINE_ROUTE_TABLE_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/contract/router.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/model/service_catalog.hpp>
#include <tollgate/pipeline/call.hpp>
#include <tollgate/pipeline/detail/endpoint_caller.hpp>
#include <tollgate/pipeline/detail/path_pattern.hpp>
#include <tollgate/pipeline/route_parameters.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tollgate::inline v0 {

/// The clients that may call a route. Each route names a rule; there is no default.
struct access_rule {
    enum class kind : std::uint8_t {
        open,           ///< every client
        any_caller,     ///< every client with valid credentials
        scope,          ///< credentials with `scope`
        service_read,   ///< credentials with the read scope of the path's `{service}`
        service_write,  ///< credentials with the write scope of the path's `{service}`
    };
    /// The clients that may call the route.
    kind callers;
    std::string_view scope{};  ///< the scope of `kind::scope`, with static storage
};

/// An access rule that takes its scope from the path, for routes with a `{service}`.
struct service_access_rule {
    access_rule::kind callers;
    constexpr operator access_rule() const noexcept { return {callers}; }
};

/// The access rules: every client; every client with valid credentials; credentials with a scope of the service in the path, for reading or
/// for everything; credentials with the scope `scope`, whose text must outlive the routes, as a literal does.
inline constexpr access_rule open_to_all{access_rule::kind::open};
inline constexpr access_rule any_caller{access_rule::kind::any_caller};
inline constexpr service_access_rule read_of_service{access_rule::kind::service_read};
inline constexpr service_access_rule write_of_service{access_rule::kind::service_write};
[[nodiscard]] constexpr access_rule needs_scope(std::string_view scope) noexcept { return {access_rule::kind::scope, scope}; }

/// A JSON body: its JSON Schema (2020-12), and an example. An empty schema means that there is no body. In the example `{event}` stands for
/// an event of the API's services.
struct json_shape {
    std::string_view schema{};
    std::string_view example{};

    /// Returns true if there is no body.
    [[nodiscard]] constexpr bool empty() const noexcept { return schema.empty(); }
};

/// Returns the example with an event that a client of this API can use.
[[nodiscard]] TOLLGATE_DECL std::string fill_example(const json_shape& shape, const service_catalog& services);

/// The description of a route in OpenAPI and the documentation. All texts have static storage.
struct route_notes {
    std::string_view operation{};      ///< the operationId, such as `listHooks`
    std::string_view summary{};        ///< a summary in one line
    http::status success_status = http::status::ok;
    json_shape success_body{};
    std::string_view success_field{};  ///< a header field that only a success has, such as `X-Hook-Secret`
    json_shape request_body{};
    bool request_body_required = true;  ///< true if a request without a body is an error
    /// The bound of the request body in bytes. A larger body is a 413, before it is read. 0, or a number above the server's bound: the
    /// server's bound (`server_settings::body_bytes_max`).
    std::size_t request_body_bytes_max = 0;
    std::string_view description{};  ///< what OpenAPI says beyond the summary, in CommonMark
    std::string_view tag{};          ///< the group in which tools for OpenAPI show the route
};

/// The bound of a route that sets none, so that only the server's bound applies.
inline constexpr std::size_t no_body_bound = static_cast<std::size_t>(-1);

struct account_service_settings;
class route_table;

/// A row of a route table, which `on_get` and its siblings return.
struct route {
    enum class parameter_kind : std::uint8_t { service, id, integer, text };

    /// A parameter in braces of the path or the query.
    struct parameter {
        std::string_view name;
        parameter_kind kind = parameter_kind::text;
        std::int64_t minimum = INT64_MIN;  ///< bound of an id or an integer
        std::int64_t maximum = INT64_MAX;  ///< bound of an id or an integer
        std::string_view description{};
        std::span<const std::string_view> values{};  ///< of a text that is one of a few; empty: any text
    };

    /// Parses the captures of the path and calls the endpoint. A capture that does not parse is a 404.
    using function = result<void> (*)(const void* endpoint, api_call&, const route_match&, const service*);

    /// Calls the endpoint on a thread that must not wait. If the endpoint may have to wait, returns an empty optional, and calls and writes
    /// nothing.
    using function_without_waiting = std::optional<result<void>> (*)(const void* endpoint, api_call&, const route_match&,
                                                                     const service*);

    /// The `service_capture` of a path without `{service}`.
    static constexpr std::size_t no_capture = limits::path_parameters_max;

    /// Calls the endpoint with the captures of `match`. May block.
    [[nodiscard]] result<void> call(api_call& call, const route_match& match, const service* of_service) const {
        return run(endpoint.get(), call, match, of_service);
    }
    /// Calls the endpoint on a thread that must not wait. If the endpoint may have to wait, returns an empty optional and writes nothing.
    [[nodiscard]] std::optional<result<void>> call_without_waiting(api_call& call, const route_match& match,
                                                                   const service* of_service) const {
        return run_without_waiting(endpoint.get(), call, match, of_service);
    }

    /// Calls the endpoint; may block.
    function run = nullptr;
    /// Calls the endpoint if it can respond without blocking. Never null.
    function_without_waiting run_without_waiting = nullptr;
    std::shared_ptr<const void> endpoint;      ///< null for an endpoint without state
    /// The clients that may call the route.
    access_rule access{};
    std::size_t service_capture = no_capture;  ///< the index of the capture that is `{service}`
    http::work_kind work = http::work_kind::store_reads;  ///< the kind of work that the endpoint waits for
    std::size_t body_bytes_max = no_body_bound;  ///< see `route_notes::request_body_bytes_max`
    bool reads_body = false;                   ///< POST, PUT and PATCH: the body is checked before the endpoint is called
    bool needs_hooks = false;                  ///< the endpoint calls `api_call::hooks`
    /// Writes the text of `api_call::openapi`; null for a route that does not serve it.
    std::string (*describe)(const account_service_settings& settings, const route_table& routes) = nullptr;

    /// The HTTP method.
    http::method method = http::method::get;
    /// The path pattern, such as `/{service}/accounts`.
    std::string_view path;
    std::vector<parameter> parameters;         ///< parameters of the path, from left to right
    std::vector<parameter> query_parameters;   ///< parameters of the query, from left to right
    /// The path of the resource that the route belongs to, and its scopes; see `route_table::as_resource`.
    std::string resource;
    std::string resource_scopes;
    /// The description of the route in OpenAPI and the documentation.
    route_notes notes;
};

namespace pipeline {

template <class T>
inline constexpr bool is_id = false;
template <class Tag>
inline constexpr bool is_id<id<Tag>> = true;

/// Returns the description of a `path_parameter` or `query_parameter`; the row adds the name.
template <class Parameter>
[[nodiscard]] constexpr route::parameter describe_parameter() noexcept {
    using type = typename Parameter::type;
    route::parameter described;
    if constexpr (is_id<type>) {
        described.kind = route::parameter_kind::id;
        described.minimum = 1;
    } else if constexpr (std::is_integral_v<type>) {
        described.kind = route::parameter_kind::integer;
    }
    if constexpr (requires { Parameter::minimum, Parameter::maximum; }) {
        described.kind = route::parameter_kind::integer;
        described.minimum = Parameter::minimum;
        described.maximum = Parameter::maximum;
    }
    if constexpr (requires { { Parameter::description } -> std::convertible_to<std::string_view>; })
        described.description = Parameter::description;
    if constexpr (requires { std::span<const std::string_view>{Parameter::values}; }) described.values = Parameter::values;
    return described;
}

/// The type of the query parameter with this name: that of the route's `parameters`, or that of the program.
template <fixed_text Name, class Own>
struct parameter_of {
    using type = query_parameter<Name>;
};
template <fixed_text Name, class First, class... Others>
struct parameter_of<Name, parameters<First, Others...>> {
    using type = typename std::conditional_t<First::name == Name.view(), First, parameter_of<Name, parameters<Others...>>>::type;
};

template <fixed_text Name>
struct parameter_reader {
    using type = typename path_parameter<Name>::type;
    static constexpr auto description = describe_parameter<path_parameter<Name>>();
    static std::optional<type> read(std::string_view capture, const service*) { return path_parameter<Name>::parse(capture); }
};

// `find_route` has already looked up the service.
template <>
struct parameter_reader<"service"> {
    using type = const service&;
    static constexpr route::parameter description{{}, route::parameter_kind::service};
    static const service* read(std::string_view, const service* of_service) noexcept { return of_service; }
};

/// Returns the decoded value of a name in a query, or an empty optional if there is none. Error: malformed (400) for a query that cannot be
/// decoded or has the name twice.
[[nodiscard]] TOLLGATE_DECL result<std::optional<std::string>> find_in_query(std::string_view query, std::string_view name);

/// Returns the error (422) for a query parameter whose text is not of its type; `expected` describes the type, and may be empty.
[[nodiscard]] TOLLGATE_DECL error bad_query_parameter(std::string_view name, std::string_view expected);

template <fixed_text Name, class Own>
struct query_reader {
    using parameter = typename parameter_of<Name, Own>::type;
    using type = std::optional<typename parameter::type>;
    static constexpr auto description = describe_parameter<parameter>();
    /// Returns false and sets `failure` if the query has the parameter and its text does not parse.
    static bool read(std::string_view query, type& value, std::optional<error>& failure) {
        auto text = find_in_query(query, Name.view());
        if (!text) return failure = std::move(text).error(), false;
        if (!*text) return true;
        value = parameter::parse(**text);
        if (value) return true;
        if constexpr (requires { parameter::expected(); }) failure = bad_query_parameter(Name.view(), parameter::expected());
        else failure = bad_query_parameter(Name.view(), {});
        return false;
    }
};

/// A row that is not yet in a table, with a key from which the compiler knows which requests it answers.
template <std::uint64_t Key>
struct keyed_route {
    route row;
};

/// Returns a row without the functions that call its endpoint.
[[nodiscard]] TOLLGATE_COLD route make_row(http::method method, std::string_view path, access_rule access,
                                           const route_notes& notes, std::initializer_list<route::parameter> parameters);

template <class Endpoint, class... Readers>
[[nodiscard]] route make_endpoint_row(http::method method, std::string_view path, access_rule access, Endpoint endpoint,
                                      const route_notes& notes) {
    using caller = endpoint_caller<Endpoint, Readers...>;
    static_assert(!needs_hooks<Endpoint>() || work_of<Endpoint>(http::method::get) != http::work_kind::users,
                  "tollgate: an endpoint that needs hooks waits for the store: its `work` is not `users`; "
                  "read tollgate/pipeline/route_table.hpp");
    static_assert(caller::fits,
                  "tollgate: an endpoint takes `auto& call`, one parameter for each name in braces of its path, and one "
                  "`const std::optional<...>&` for each of its query, and returns result<void>; read tollgate/pipeline/route_table.hpp");
    route row = make_row(method, path, access, notes, {Readers::description...});
    if constexpr (caller::fits) {
        row.run = &caller::run;
        row.run_without_waiting = &caller::run_without_waiting;
    }
    row.work = work_of<Endpoint>(method);
    row.needs_hooks = needs_hooks<Endpoint>();
    if constexpr (!caller::is_stateless) row.endpoint = std::make_shared<const Endpoint>(std::move(endpoint));
    return row;
}

/// Returns true if the path has a parameter `{service}`.
template <fixed_text Pattern>
[[nodiscard]] consteval bool names_service() noexcept {
    constexpr auto parameters = parameters_of<Pattern>();
    for (std::size_t i = 0; i < parameters.count; ++i)
        if (parameters.names[i] == "service") return true;
    return false;
}

/// Returns the row of a pattern. Query parameters of the pattern are not part of its path.
template <http::method Method, fixed_text Pattern, class Own, class Endpoint>
[[nodiscard]] route make_pattern_row(access_rule access, Endpoint endpoint, const route_notes& notes) {
    constexpr auto query = query_of<Pattern>();
    if constexpr (query.count != 0) {
        return [&]<std::size_t... Indexes>(std::index_sequence<Indexes...>) {
            using reading = with_query<Method, Endpoint, query_reader<query_parameter_name<Pattern, Indexes>(), Own>...>;
            constexpr auto path = path_pattern<Pattern>();
            route row = make_pattern_row<Method, path, Own>(access, reading{std::move(endpoint)}, notes);
            row.path = path_part(Pattern.view());
            ((row.query_parameters.push_back(query_reader<query_parameter_name<Pattern, Indexes>(), Own>::description),
              row.query_parameters.back().name = query.names[Indexes]),
             ...);
            return row;
        }(std::make_index_sequence<query.count>{});
    } else {
        return [&]<std::size_t... Indexes>(std::index_sequence<Indexes...>) {
            return make_endpoint_row<Endpoint, parameter_reader<parameter_name<Pattern, Indexes>()>...>(Method, Pattern.view(), access,
                                                                                                        std::move(endpoint), notes);
        }(std::make_index_sequence<parameters_of<Pattern>().count>{});
    }
}

/// Whether each parameter that a route names is in its query.
template <fixed_text Pattern>
[[nodiscard]] consteval bool has_all(std::initializer_list<std::string_view> names) noexcept {
    const auto query = query_of<Pattern>();
    for (const std::string_view name : names) {
        bool found = false;
        for (std::size_t i = 0; i < query.count; ++i) found = found || query.names[i] == name;
        if (!found) return false;
    }
    return true;
}
template <fixed_text Pattern, class Own>
inline constexpr bool has_own_parameters = false;
template <fixed_text Pattern, class... Named>
inline constexpr bool has_own_parameters<Pattern, parameters<Named...>> = has_all<Pattern>({Named::name...});

template <http::method Method, fixed_text Pattern, class Own, class Access, class Endpoint>
[[nodiscard]] keyed_route<route_key(Method, Pattern.view())> make_route(Access access, Endpoint endpoint,
                                                                        const route_notes& notes) {
    constexpr bool has_rule = std::is_convertible_v<Access, access_rule>;
    constexpr bool has_service = !std::is_same_v<Access, service_access_rule> || names_service<Pattern>();
    static_assert(is_path_pattern<Pattern>,
                  "tollgate: a path pattern begins with '/' and does not end in one, has at most 12 segments and no empty one, and "
                  "each parameter is a whole segment, {name}; "
                  "query parameters follow as ?{name}&{name}; read tollgate/pipeline/route_table.hpp");
    static_assert(has_rule,
                  "tollgate: a route names who may call it, before its endpoint: open_to_all, any_caller, needs_scope(...), "
                  "read_of_service or write_of_service; read tollgate/pipeline/route_table.hpp");
    static_assert(!is_path_pattern<Pattern> || has_own_parameters<Pattern, Own>,
                  "tollgate: parameters<named<...>, ...> names query parameters of the pattern; "
                  "read tollgate/pipeline/route_table.hpp");
    static_assert(!is_path_pattern<Pattern> || has_service,
                  "tollgate: read_of_service and write_of_service are for paths with a {service}; "
                  "read tollgate/pipeline/route_table.hpp");
    if constexpr (is_path_pattern<Pattern> && has_rule && has_service) {
        return {make_pattern_row<Method, Pattern, Own>(access, std::move(endpoint), notes)};
    } else {
        return {};
    }
}

}  // namespace pipeline

/// Returns a route: `on_get<"/{service}/{account}/hooks">(read_of_service, endpoint, {.summary = "..."})`
///
/// The endpoint is called as `endpoint(api_call&, parameters...)` with an argument for each name in braces, of the type that
/// `path_parameter` gives it (`{service}`: `const service&`), and returns `result<void>`: success, or the error to respond with. It is
/// called from many threads at once. HEAD and OPTIONS need no routes.
///
/// Query parameters follow the path, `on_get<"/{service}/invoices?{year}&{page}">`, and their arguments follow the arguments of the path,
/// each as a `const std::optional<type>&` of the type that `query_parameter` gives it. Other query parameters of a request are ignored.
///
/// If the directory or the store blocks, endpoints run on workers, which are bounded by kind of work: reads of the store for GET and writes
/// for other methods, unless the endpoint has a `static constexpr http::work_kind work` that names another kind. An endpoint with
/// `work_kind::users` runs on the I/O thread if the directory never blocks. An endpoint that calls `api_call::hooks` declares
/// `static constexpr bool needs_hooks = true`. An endpoint that uses neither the directory nor the store may declare
/// `static constexpr bool blocking = false`. An endpoint that can respond from a cache may have a member
/// `std::optional<result<void>> respond_without_waiting(api_call&, parameters...) const`. It is called first, on the I/O thread, and
/// returns an empty optional, with nothing written, if it has to wait.
template <fixed_text Pattern, class Own = parameters<>, class Access, class Endpoint = route_notes>
[[nodiscard]] auto on_get(Access access, Endpoint endpoint = {}, const route_notes& notes = {}) {
    return pipeline::make_route<http::method::get, Pattern, Own>(access, std::move(endpoint), notes);
}
template <fixed_text Pattern, class Own = parameters<>, class Access, class Endpoint = route_notes>
[[nodiscard]] auto on_post(Access access, Endpoint endpoint = {}, const route_notes& notes = {}) {
    return pipeline::make_route<http::method::post, Pattern, Own>(access, std::move(endpoint), notes);
}
template <fixed_text Pattern, class Own = parameters<>, class Access, class Endpoint = route_notes>
[[nodiscard]] auto on_put(Access access, Endpoint endpoint = {}, const route_notes& notes = {}) {
    return pipeline::make_route<http::method::put, Pattern, Own>(access, std::move(endpoint), notes);
}
template <fixed_text Pattern, class Own = parameters<>, class Access, class Endpoint = route_notes>
[[nodiscard]] auto on_patch(Access access, Endpoint endpoint = {}, const route_notes& notes = {}) {
    return pipeline::make_route<http::method::patch, Pattern, Own>(access, std::move(endpoint), notes);
}
template <fixed_text Pattern, class Own = parameters<>, class Access, class Endpoint = route_notes>
[[nodiscard]] auto on_delete(Access access, Endpoint endpoint = {}, const route_notes& notes = {}) {
    return pipeline::make_route<http::method::delete_, Pattern, Own>(access, std::move(endpoint), notes);
}

/// Routes in the order in which they were written, as rows of plain data. Add your own routes to the routes of the account API:
///
///     account_routes() + route_table{on_get<"/{service}/{account}/items">(read_of_service, list_items)}
class route_table {
public:
    /// Constructs a table without routes.
    route_table() = default;

    /// Constructs a table of the rows that `on_get` and its siblings returned.
    template <std::uint64_t... Keys>
    explicit route_table(pipeline::keyed_route<Keys>... each) {
        static_assert(pipeline::all_differ({Keys...}),
                      "tollgate: two routes of a table have the same method and match the same paths; "
                      "read tollgate/pipeline/route_table.hpp");
        (append(std::move(each.row)), ...);
    }

    /// Each gives access to the rows, by index or in turn.
    [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }
    [[nodiscard]] const route& operator[](std::size_t index) const noexcept { return rows_[index]; }
    [[nodiscard]] auto begin() const noexcept { return rows_.begin(); }
    [[nodiscard]] auto end() const noexcept { return rows_.end(); }

    /// Makes the routes of this table a protected resource of their own (RFC 9728) with the URL `{base_url}{path}`, for clients that know
    /// nothing but that URL, such as agents:
    ///
    ///     account_routes() + route_table{on_post<"/mcp">(any_caller, serve_mcp)}.as_resource("/mcp", "user:balance")
    ///
    /// A token that was issued for the API's own URL is not accepted there, nor one of this resource elsewhere; a token that was issued
    /// without a resource is accepted everywhere. `path` begins with a slash, and the paths of the routes are at or below it; the API's
    /// constructor throws std::invalid_argument otherwise. `scopes` are the scopes that clients should ask for, separated by spaces; empty:
    /// those that the routes need.
    [[nodiscard]] TOLLGATE_COLD route_table as_resource(std::string_view path, std::string_view scopes = {}) &&;

    /// Adds the rows of another table behind the rows of this table.
    TOLLGATE_COLD route_table& operator+=(route_table other);
    [[nodiscard]] friend route_table operator+(route_table first, route_table second) {
        return std::move(first += std::move(second));
    }

private:
    TOLLGATE_COLD void append(route&& row);

    std::vector<route> rows_;
};

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pipeline/route_table.ipp>
#endif

#endif  // TOLLGATE_PIPELINE_ROUTE_TABLE_HPP
