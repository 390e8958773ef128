#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_DEVICE_CODES_IPP
#define TOLLGATE_OAUTH_DETAIL_DEVICE_CODES_IPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/http/json_writer.hpp>
#include <tollgate/oauth/detail/device_codes.hpp>
#include <tollgate/oauth/detail/paths.hpp>
#include <tollgate/pipeline/detail/error_response.hpp>

#include <cstdint>

namespace tollgate::inline v0::oauth {

TOLLGATE_DECL std::string make_user_code(std::span<const std::byte, 8> random) {
    std::uint64_t number = 0;
    for (const std::byte each : random) number = number << 8 | std::to_integer<std::uint64_t>(each);
    std::string code;
    for (std::size_t i = 0; i < user_code_size; ++i, number /= user_code_letters.size()) {
        if (i == user_code_size / 2) code.push_back('-');
        code.push_back(user_code_letters[number % user_code_letters.size()]);
    }
    return code;
}

TOLLGATE_DECL std::optional<std::string> parse_user_code(std::string_view typed) {
    if (typed.size() > user_code_typed_bytes_max) return std::nullopt;
    std::string code;
    std::size_t letters = 0;
    for (const char c : tollgate::detail::without_punctuation(typed)) {
        const char upper = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        if (user_code_letters.find(upper) == std::string_view::npos || letters == user_code_size) return std::nullopt;
        if (letters++ == user_code_size / 2) code.push_back('-');
        code.push_back(upper);
    }
    return letters == user_code_size ? std::optional{code} : std::nullopt;
}

TOLLGATE_DECL digest digest_of_user_code(std::string_view code) { return digest_of("user code\n" + std::string{code}); }

TOLLGATE_DECL std::variant<scope_set, failure> read_device_request(const parameters& sent, const application& client,
                                                                   const service_catalog& services) {
    if (client.type == client_type::resource_server)
        return no_tokens_for_resource_server();
    const auto scope = sent.find("scope");
    if (!scope) return missing_parameter("scope");
    const auto scopes = parse_known_scopes(*scope, services);
    if (!scopes) return unknown_scope();
    return *scopes;
}

TOLLGATE_DECL void write_device_response(http::response& response, const device_response& issued) {
    const auto page = issued.settings.auth_url + std::string{device_page_path};
    response.add_prepared_lines(pipeline::json_field_lines);
    http::json_writer body{response.body()};
    body.begin_object();
    body.member("device_code").string(issued.device_code);
    body.member("user_code").string(issued.user_code);
    body.member("verification_uri").string(page);
    body.member("verification_uri_complete").string(page + "?user_code=" + std::string{issued.user_code});
    body.member("expires_in").integer(issued.settings.oauth.device_code_lifetime.count());
    body.member("interval").integer(issued.settings.oauth.device_poll_interval.count());
    body.end_object();
}

}  // namespace tollgate::oauth

#endif  // TOLLGATE_OAUTH_DETAIL_DEVICE_CODES_IPP
