#include <tollgate/http/detail/cookies.hpp>
#include <tollgate/http/request.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace tollgate;

/// A name, a line end, and the Cookie field of a client. A value that is found is a part of the field, after its name; a value
/// that is accepted for Set-Cookie is sent back unchanged by a browser.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input{reinterpret_cast<const char*>(data), size};
    const auto end = input.find('\n');
    if (end == std::string_view::npos) return 0;
    const auto name = input.substr(0, end);
    const auto field = input.substr(end + 1);

    http::field_lines fields;
    if (!fields.add("Cookie", field)) std::abort();
    if (const auto found = http::find_cookie(fields, name)) {
        const auto at = static_cast<std::size_t>(found->data() - field.data());
        if (at > field.size() || found->size() > field.size() - at) std::abort();
        if (field.substr(0, at).find(name) == std::string_view::npos) std::abort();
        if (found->find(';') != std::string_view::npos) std::abort();
    }

    http::response out;
    if (!http::add_cookie(out, {.name = name, .value = field})) {
        if (!out.field_block().empty()) std::abort();
        return 0;
    }
    const auto line = out.field_block();
    if (line.find("\r\n") != line.size() - 2 || line.find_first_of("\r\n") != line.size() - 2) std::abort();
    const auto pair = std::string{name}.append("=").append(field);
    if (!out.find("Set-Cookie").starts_with(pair + ";")) std::abort();
    http::field_lines echoed;
    if (!echoed.add("Cookie", pair) || http::find_cookie(echoed, name) != field) std::abort();
    return 0;
}
