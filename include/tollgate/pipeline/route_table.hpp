#pragma once

#include <tollgate/base/ids.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/contract/router.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/model/service_catalog.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tollgate::inline v0 {

/// Text as a template argument.
template <std::size_t Size>
struct fixed_text {
    char characters[Size]{};

    /// From a literal, as a template argument.
    consteval fixed_text(const char (&literal)[Size]) {
        for (std::size_t i = 0; i < Size; ++i) characters[i] = literal[i];
    }
    /// The text without its final zero.
    [[nodiscard]] constexpr std::string_view view() const noexcept { return {characters, Size - 1}; }
};

namespace pipeline {

/// The parameters of a path pattern, left to right: `/{service}/{account}/hooks` has `service` and `account`.
struct pattern_parameters {
    std::array<std::string_view, limits::path_parameters_max> names{};
    std::size_t count = 0;
};

/// Reads a pattern: it begins with `/`, has no empty segment and so no `/` at its end, a parameter is a whole segment, and
/// there are at most `limits::path_parameters_max`. Empty for text that is no pattern.
[[nodiscard]] constexpr std::optional<pattern_parameters> read_pattern(std::string_view pattern) noexcept {
    // By hand, character by character: GCC takes string_view's searches for no constants when UBSan is on.
    const auto is_special = [](char c) { return c == '{' || c == '}' || c == '%'; };
    pattern_parameters found;
    if (pattern.empty() || pattern.front() != '/') return std::nullopt;
    for (std::size_t begin = 1, end = 1; begin <= pattern.size(); begin = ++end) {
        std::size_t specials = 0;
        for (; end < pattern.size() && pattern[end] != '/'; ++end) specials += is_special(pattern[end]) ? 1U : 0U;
        const auto segment = pattern.substr(begin, end - begin);
        if (segment.empty()) return std::nullopt;
        if (specials == 0) continue;
        const bool is_parameter = specials == 2 && segment.size() >= 3 && segment.front() == '{' && segment.back() == '}';
        if (!is_parameter || found.count == found.names.size()) return std::nullopt;
        found.names[found.count++] = segment.substr(1, segment.size() - 2);
    }
    return found;
}

template <fixed_text Pattern>
inline constexpr bool is_path_pattern = read_pattern(Pattern.view()).has_value();

/// None for what is no pattern: the compiler has stopped at that already.
template <fixed_text Pattern>
consteval pattern_parameters parameters_of() {
    return read_pattern(Pattern.view()).value_or(pattern_parameters{});
}

}  // namespace pipeline

/// What kind of value a name in braces stands for. Text that is no such value is a 404, as if nothing were there.
///
/// A name without a specialization of its own is text. For a type of one's own:
///
///     template <>
///     struct tollgate::path_parameter<"invoice"> {
///         using type = invoice_id;
///         static std::optional<invoice_id> parse(std::string_view text);
///     };
template <fixed_text Name>
struct path_parameter {
    using type = std::string_view;
    static constexpr std::optional<type> parse(std::string_view text) noexcept { return text; }
};

/// `{account}` in a path: an account id.
template <>
struct path_parameter<"account"> {
    /// The type that an endpoint receives, and its parser; other text is a 404.
    using type = account_id;
    static constexpr std::optional<type> parse(std::string_view text) noexcept { return account_id::parse(text); }
};

/// `{hook}` in a path: a webhook id.
template <>
struct path_parameter<"hook"> {
    /// The type that an endpoint receives, and its parser; other text is a 404.
    using type = hook_id;
    static constexpr std::optional<type> parse(std::string_view text) noexcept { return hook_id::parse(text); }
};

/// Who may call a route. Every route says one of these; there is no default.
struct access_rule {
    enum class kind : std::uint8_t {
        open,           ///< anybody
        any_caller,     ///< anybody with good credentials
        scope,          ///< whoever was granted `scope`
        service_read,   ///< whoever was granted the read scope of the path's `{service}`
        service_write,  ///< whoever was granted the write scope of the path's `{service}`
    };
    /// Who may call the route.
    kind who;
    std::string_view scope{};  ///< of static storage
};

/// A rule that takes its scope from the path: for routes with a `{service}`.
struct service_access_rule {
    access_rule::kind who;
    constexpr operator access_rule() const noexcept { return {who}; }
};

/// The access rules: everybody; every caller with valid credentials; credentials with a scope of the service in the
/// path, for reading or for everything; credentials with a named scope.
inline constexpr access_rule open_to_all{access_rule::kind::open};
inline constexpr access_rule any_caller{access_rule::kind::any_caller};
inline constexpr service_access_rule read_of_service{access_rule::kind::service_read};
inline constexpr service_access_rule write_of_service{access_rule::kind::service_write};
[[nodiscard]] constexpr access_rule needs_scope(std::string_view scope) noexcept { return {access_rule::kind::scope, scope}; }

/// What a JSON body looks like: its JSON Schema (2020-12), and an example. Empty: there is no body. In the example `{event}`
/// stands for an event that the API knows.
struct json_shape {
    std::string_view schema{};
    std::string_view example{};

    /// Whether nothing is said about the body.
    [[nodiscard]] constexpr bool empty() const noexcept { return schema.empty(); }
};

/// What OpenAPI and the documentation say of a route. All of it is of static storage.
struct route_notes {
    std::string_view operation{};      ///< operationId, such as `listHooks`
    std::string_view summary{};        ///< one line
    unsigned success_status = 200;
    json_shape success_body{};
    std::string_view success_field{};  ///< a header field that only this answer has, such as `X-Hook-Secret`
    json_shape request_body{};
};

/// One line of the table.
template <fixed_text Pattern, class Endpoint>
struct route {
    static constexpr std::string_view path = Pattern.view();
    static constexpr pipeline::pattern_parameters parameters = pipeline::parameters_of<Pattern>();

    /// What a route consists of.
    http::method method;
    access_rule access;
    Endpoint endpoint;
    route_notes notes;
};

namespace pipeline {

// Stands where an endpoint was forgotten, so that the compiler stops at one message.
struct no_endpoint {};

template <fixed_text Pattern>
consteval bool has_service_parameter() {
    constexpr auto parameters = parameters_of<Pattern>();
    for (std::size_t i = 0; i < parameters.count; ++i)
        if (parameters.names[i] == "service") return true;
    return false;
}

template <fixed_text Pattern, class Access, class Endpoint>
[[nodiscard]] constexpr auto make_route(http::method m, Access access, Endpoint endpoint, route_notes notes) {
    constexpr bool has_rule = std::is_convertible_v<Access, access_rule>;
    constexpr bool has_service = !std::is_same_v<Access, service_access_rule> || has_service_parameter<Pattern>();
    static_assert(is_path_pattern<Pattern>,
                  "tollgate: a path pattern begins with '/' and does not end in one, has no empty segment, and each parameter is a "
                  "whole segment, {name}; read tollgate/pipeline/route_table.hpp");
    static_assert(has_rule,
                  "tollgate: a route names who may call it, before its endpoint: open_to_all, any_caller, needs_scope(...), "
                  "read_of_service or write_of_service; read tollgate/pipeline/route_table.hpp");
    static_assert(!is_path_pattern<Pattern> || has_service,
                  "tollgate: read_of_service and write_of_service are for paths with a {service}; "
                  "read tollgate/pipeline/route_table.hpp");
    if constexpr (is_path_pattern<Pattern> && has_rule && has_service)
        return route<Pattern, Endpoint>{m, access, std::move(endpoint), notes};
    else
        return route<"/refused", no_endpoint>{m, open_to_all, {}, notes};
}

}  // namespace pipeline

/// `on_get<"/{service}/{account}/hooks">(read_of_service, endpoint, {.summary = "..."})`
///
/// The endpoint is called as `endpoint(call, parameters...)` with one argument for each name in braces, and returns
/// `result<void>`: done, or the problem to answer with. HEAD and OPTIONS need no routes of their own. One that asks for
/// nothing but the caller's balance and quota may say `static constexpr bool reads_the_user_alone = true`: it is then
/// answered in place where a blocking directory remembers them.
template <fixed_text Pattern, class Access, class Endpoint = pipeline::no_endpoint>
[[nodiscard]] constexpr auto on_get(Access access, Endpoint endpoint = {}, route_notes notes = {}) {
    return pipeline::make_route<Pattern>(http::method::get, access, std::move(endpoint), notes);
}
template <fixed_text Pattern, class Access, class Endpoint = pipeline::no_endpoint>
[[nodiscard]] constexpr auto on_post(Access access, Endpoint endpoint = {}, route_notes notes = {}) {
    return pipeline::make_route<Pattern>(http::method::post, access, std::move(endpoint), notes);
}
template <fixed_text Pattern, class Access, class Endpoint = pipeline::no_endpoint>
[[nodiscard]] constexpr auto on_put(Access access, Endpoint endpoint = {}, route_notes notes = {}) {
    return pipeline::make_route<Pattern>(http::method::put, access, std::move(endpoint), notes);
}
template <fixed_text Pattern, class Access, class Endpoint = pipeline::no_endpoint>
[[nodiscard]] constexpr auto on_patch(Access access, Endpoint endpoint = {}, route_notes notes = {}) {
    return pipeline::make_route<Pattern>(http::method::patch, access, std::move(endpoint), notes);
}
template <fixed_text Pattern, class Access, class Endpoint = pipeline::no_endpoint>
[[nodiscard]] constexpr auto on_delete(Access access, Endpoint endpoint = {}, route_notes notes = {}) {
    return pipeline::make_route<Pattern>(http::method::delete_, access, std::move(endpoint), notes);
}

/// Routes in the order they were written. Add one's own to the account API's:
///
///     account_routes() + route_table{on_get<"/itemplatform/{account}/items">(read_of_service, list_items)}
template <class... Routes>
struct route_table {
    std::tuple<Routes...> routes;

    /// A table of routes, made from `on_get` and its like.
    constexpr explicit route_table(Routes... each) : routes{std::move(each)...} {}
    constexpr explicit route_table(std::tuple<Routes...> all) : routes{std::move(all)} {}

    /// How many routes the table has.
    static constexpr std::size_t size = sizeof...(Routes);

    /// Calls `visit` with each route in turn.
    template <class Visit>
    constexpr void for_each(Visit&& visit) const {
        std::apply([&](const Routes&... each) { (visit(each), ...); }, routes);
    }
};

/// The routes of both tables, those of the first one first.
template <class... A, class... B>
[[nodiscard]] constexpr route_table<A..., B...> operator+(route_table<A...> first, route_table<B...> second) {
    return route_table<A..., B...>{std::tuple_cat(std::move(first.routes), std::move(second.routes))};
}

namespace pipeline {

inline constexpr std::size_t no_capture = limits::path_parameters_max;

/// What the pipeline needs of a route without knowing its type.
struct route_line {
    http::method method = http::method::get;
    access_rule access;
    std::size_t service_capture = no_capture;  ///< which capture is `{service}`
    bool reads_body = false;                   ///< its method has a body that means something
    bool reads_the_user_alone = false;         ///< its endpoint asks for nothing but the caller's balance and quota
};

template <class Endpoint>
[[nodiscard]] constexpr bool reads_the_user_alone() noexcept {
    if constexpr (requires { { Endpoint::reads_the_user_alone } -> std::convertible_to<bool>; })
        return Endpoint::reads_the_user_alone;
    else return false;
}

template <fixed_text Pattern, class Endpoint>
[[nodiscard]] constexpr route_line to_line(const route<Pattern, Endpoint>& from) noexcept {
    route_line made{from.method, from.access, no_capture,
                    from.method == http::method::post || from.method == http::method::put || from.method == http::method::patch,
                    reads_the_user_alone<Endpoint>()};
    for (std::size_t i = 0; i < from.parameters.count; ++i)
        if (from.parameters.names[i] == "service") made.service_capture = i;
    return made;
}

template <std::string_view const& Name>
consteval auto to_fixed_text() {
    char characters[Name.size() + 1]{};
    for (std::size_t i = 0; i < Name.size(); ++i) characters[i] = Name[i];
    return fixed_text<Name.size() + 1>{characters};
}

/// The name and type of a parameter of a route, by its position in the path.
template <class Route, std::size_t Index>
struct parameter_of {
    static constexpr std::string_view name = Route::parameters.names[Index];
    static constexpr bool is_service = name == "service";
    using reader = path_parameter<to_fixed_text<name>()>;
    using type = std::conditional_t<is_service, const service&, typename reader::type>;
};

/// Whether a route's endpoint takes what its path captures, and returns what an endpoint returns.
template <class Route, class Call>
inline constexpr bool endpoint_fits = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::is_invocable_r_v<result<void>, const decltype(Route::endpoint)&, Call&, typename parameter_of<Route, I>::type...>;
}(std::make_index_sequence<Route::parameters.count>{});

/// Calls a route's endpoint with what its path captured. A capture that is no such value is a 404.
template <class Route, class Call, std::size_t... I>
[[nodiscard]] result<void> call_endpoint(const Route& to, Call& call, const route_match& match, const service* of_service,
                                          std::index_sequence<I...>) {
    if constexpr (endpoint_fits<Route, Call>) {
        const auto read = [&]<std::size_t At>(std::integral_constant<std::size_t, At>) {
            if constexpr (parameter_of<Route, At>::is_service) return of_service;
            else return parameter_of<Route, At>::reader::parse(match.captures[At]);
        };
        [[maybe_unused]] const std::tuple values{read(std::integral_constant<std::size_t, I>{})...};
        if (!(static_cast<bool>(std::get<I>(values)) && ...)) return not_found();
        return to.endpoint(call, *std::get<I>(values)...);
    } else {
        return {};
    }
}

}  // namespace pipeline
}  // namespace tollgate
