#include <tollgate/http/detail/cookies.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace tollgate;

/// A name, a line end, and what a client sends in its Cookie field. What is found is a part of what was sent, and stands
/// behind its name; what is accepted for a Set-Cookie comes back from a browser as it was.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input{reinterpret_cast<const char*>(data), size};
    const auto end = input.find('\n');
    if (end == std::string_view::npos) return 0;
    const auto name = input.substr(0, end);
    const auto sent = input.substr(end + 1);

    http::field_lines fields;
    if (!fields.add("Cookie", sent)) std::abort();
    if (const auto found = http::find_cookie(fields, name)) {
        const auto at = static_cast<std::size_t>(found->data() - sent.data());
        if (at > sent.size() || found->size() > sent.size() - at) std::abort();
        if (sent.substr(0, at).find(name) == std::string_view::npos) std::abort();
        if (found->find(';') != std::string_view::npos) std::abort();
    }

    http::response out;
    if (!http::add_cookie(out, {.name = name, .value = sent})) {
        if (!out.field_block().empty()) std::abort();
        return 0;
    }
    const auto line = out.field_block();
    if (line.find("\r\n") != line.size() - 2 || line.find_first_of("\r\n") != line.size() - 2) std::abort();
    const auto pair = std::string{name}.append("=").append(sent);
    if (!out.find("Set-Cookie").starts_with(pair + ";")) std::abort();
    http::field_lines back;
    if (!back.add("Cookie", pair) || http::find_cookie(back, name) != sent) std::abort();
    return 0;
}
