#pragma once
#ifndef TOLLGATE_PIPELINE_ROUTE_TABLE_IPP
#define TOLLGATE_PIPELINE_ROUTE_TABLE_IPP

#include <tollgate/http/detail/form_body.hpp>
#include <tollgate/pipeline/route_table.hpp>

namespace tollgate::inline v0 {

TOLLGATE_DECL std::string fill_example(const json_shape& shape, const service_catalog& services) {
    constexpr std::string_view placeholder = "{event}";
    std::string filled{shape.example};
    const auto at = filled.find(placeholder);
    if (at == std::string::npos) return filled;
    std::string_view event = "noun.verb";
    for (const service& each : services.services()) {
        if (each.events.empty()) continue;
        event = each.events.front();
        break;
    }
    return filled.replace(at, placeholder.size(), event);
}

TOLLGATE_COLD route_table route_table::as_resource(std::string_view path, std::string_view scopes) && {
    for (route& each : rows_) {
        each.resource = path;
        each.resource_scopes = scopes;
    }
    return std::move(*this);
}

TOLLGATE_COLD route_table& route_table::operator+=(route_table other) {
    for (route& each : other.rows_) append(std::move(each));
    return *this;
}

TOLLGATE_COLD void route_table::append(route&& row) { rows_.push_back(std::move(row)); }

namespace pipeline {

TOLLGATE_DECL result<std::optional<std::string>> find_in_query(std::string_view query, std::string_view name) {
    const auto fields = http::parse_form(query);
    if (!fields) return malformed("The query of the URL cannot be decoded.");
    const auto count = fields->count(name);
    if (count > 1) return malformed("The query has more than one " + std::string{name} + ".");
    if (count == 0) return std::optional<std::string>{};
    return std::optional{std::string{fields->value_of(name)}};
}

TOLLGATE_DECL error bad_query_parameter(std::string_view name, std::string_view expected) {
    auto message = std::string{name} + " in the query ";
    if (expected.empty()) return invalid(message + "has an invalid value.");
    return invalid(message.append("must be ").append(expected).append("."));
}

TOLLGATE_COLD route make_row(http::method method, std::string_view path, access_rule access, const route_notes& notes,
                             std::initializer_list<route::parameter> parameters) {
    route row;
    row.access = access;
    row.reads_body = method == http::method::post || method == http::method::put || method == http::method::patch;
    if (notes.request_body_bytes_max != 0) row.body_bytes_max = notes.request_body_bytes_max;
    row.method = method;
    row.path = path;
    row.notes = notes;
    const auto pattern = read_pattern(path).value_or(pattern_parameters{});
    for (const auto& each : parameters) {
        const auto at = row.parameters.size();
        row.parameters.push_back(each);
        row.parameters.back().name = pattern.names[at];
        if (each.kind == route::parameter_kind::service) row.service_capture = at;
    }
    return row;
}

}  // namespace pipeline
}  // namespace tollgate

#endif  // TOLLGATE_PIPELINE_ROUTE_TABLE_IPP
