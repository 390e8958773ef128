#include <tollgate/http/json_body.hpp>

#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/http/json_writer.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace tollgate;

/// A body is accepted only if it is accepted as a value; its members have different names, and are UTF-8. A text
/// that our writer has written is parsed as the same text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    const auto body = http::parse_json_object(bytes);
    const auto value = http::check_json(bytes);
    if (body && !value) std::abort();
    if (body) {
        for (const auto& member : *body)
            if (body->find(member.name) != &member || !tollgate::detail::is_utf8(member.name) ||
                !tollgate::detail::is_utf8(member.value))
                std::abort();
    }

    std::string written;
    http::json_writer json{written};
    json.begin_object().member("text").string(bytes).end_object();
    const auto read = http::parse_json_object(written);
    if (!read || read->find("text") == nullptr) std::abort();
    if (tollgate::detail::is_utf8(bytes) && read->find("text")->value != bytes) std::abort();
    return 0;
}
