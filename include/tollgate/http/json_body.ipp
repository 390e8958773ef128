#pragma once
#ifndef TOLLGATE_HTTP_JSON_BODY_IPP
#define TOLLGATE_HTTP_JSON_BODY_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/http/json_body.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tollgate::inline v0::http {

namespace detail {

/// Receives the parser's events, keeps the top-level members and checks the rest. The parser keeps its stack on the
/// heap and does not recurse; returning false stops it, so nesting is cut off at the bound.
class json_handler {
public:
    using number_integer_t = nlohmann::json::number_integer_t;
    using number_unsigned_t = nlohmann::json::number_unsigned_t;
    using number_float_t = nlohmann::json::number_float_t;
    using string_t = nlohmann::json::string_t;
    using binary_t = nlohmann::json::binary_t;

    explicit json_handler(bool object_only) noexcept : object_only_{object_only} {}

    bool null() { return value(json_kind::null, {}); }
    bool boolean(bool yes) { return value(json_kind::boolean, yes ? "true" : "false"); }
    bool number_integer(number_integer_t number) { return value(json_kind::integer, std::to_string(number)); }
    bool number_unsigned(number_unsigned_t number) { return value(json_kind::integer, std::to_string(number)); }
    bool number_float(number_float_t, const string_t& digits) { return value(json_kind::number, digits); }
    bool string(string_t& text) { return value(json_kind::text, std::move(text)); }
    bool binary(binary_t&) { return refuse("The body is not valid JSON."); }

    bool start_object(std::size_t) { return value(json_kind::object, {}) && open(); }
    bool start_array(std::size_t) { return value(json_kind::array, {}) && open(); }
    bool end_object() {
        auto& names = names_[depth_ - 1];
        std::sort(names.begin(), names.end());
        if (std::adjacent_find(names.begin(), names.end()) != names.end())
            return refuse("A JSON object has two members of the same name.");
        return close();
    }
    bool end_array() {
        if (depth_ == 2 && is_mixed_array_) members_.back().texts.clear();
        return close();
    }
    bool key(string_t& name) {
        names_[depth_ - 1].push_back(name);
        if (depth_ == 1 && object_only_) members_.push_back({std::move(name), json_kind::null, {}});
        return true;
    }

    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& failure) {
        constexpr int number_out_of_range = 406;
        return refuse(failure.id == number_out_of_range ? "A number in the JSON is out of range."
                                                        : "The body is not valid JSON in UTF-8.");
    }

    bool refuse(const char* message) {
        message_ = message;
        return false;
    }

    [[nodiscard]] tollgate::error error() && { return malformed(std::move(message_)); }
    [[nodiscard]] json_object members() && { return json_object{std::move(members_)}; }

private:
    bool value(json_kind kind, std::string text) {
        if (depth_ == 0 && object_only_ && kind != json_kind::object) return refuse("The body is not a JSON object.");
        if (depth_ == 1 && object_only_) {
            members_.back().kind = kind;
            members_.back().value = std::move(text);
            is_mixed_array_ = false;
        } else if (depth_ == 2 && object_only_ && members_.back().kind == json_kind::array) {
            if (kind == json_kind::text) members_.back().texts.push_back(std::move(text));
            else is_mixed_array_ = true;
        }
        return true;
    }
    bool open() {
        if (depth_ == limits::json_depth_max) return refuse("The JSON is nested too deeply.");
        if (names_.size() == depth_) names_.emplace_back();
        names_[depth_++].clear();
        return true;
    }
    bool close() {
        --depth_;
        return true;
    }

    bool object_only_;
    bool is_mixed_array_ = false;  // the last array of the top level has an element that is no text
    std::string message_;
    std::vector<json_member> members_;
    std::vector<std::vector<std::string>> names_;  // names of each open object or array; reused
    std::size_t depth_ = 0;
};

inline bool read_json(std::string_view bytes, json_handler& handler) {
    if (bytes.empty()) return handler.refuse("The body is missing.");
    // The parser would skip a byte order mark, which RFC 8259 section 8.1 forbids.
    if (bytes.starts_with("\xef\xbb\xbf")) return handler.refuse("The body begins with a byte order mark.");
    // The parser would treat a NUL after the document as its end.
    if (bytes.find('\0') != std::string_view::npos) return handler.refuse("The body contains a NUL byte.");
    return nlohmann::json::sax_parse(bytes.begin(), bytes.end(), &handler);
}

}  // namespace detail

TOLLGATE_DECL result<json_object> parse_json_object(std::string_view bytes) {
    detail::json_handler handler{true};
    if (!detail::read_json(bytes, handler)) return std::move(handler).error();
    return std::move(handler).members();
}

TOLLGATE_DECL result<void> check_json(std::string_view bytes) {
    detail::json_handler handler{false};
    if (!detail::read_json(bytes, handler)) return std::move(handler).error();
    return {};
}

}  // namespace tollgate::http

#endif  // TOLLGATE_HTTP_JSON_BODY_IPP
