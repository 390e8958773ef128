#pragma once

#include <tollgate/http/json_writer.hpp>

namespace tollgate::inline v0::http {

TOLLGATE_DECL void json_writer::escape(std::string_view value) {
    constexpr std::string_view hex = "0123456789abcdef";
    while (!value.empty()) {
        const char c = value.front();
        std::size_t taken = utf8_sequence_bytes(value);
        if (taken == 0) {
            put("\xef\xbf\xbd");  // U+FFFD for each byte that does not start a character
            taken = 1;
        } else if (taken > 1 || detail::is_plain_json(c)) {
            put(value.substr(0, taken));
        } else {
            switch (c) {
                case '"': put("\\\""); break;
                case '\\': put("\\\\"); break;
                case '\n': put("\\n"); break;
                case '\r': put("\\r"); break;
                case '\t': put("\\t"); break;
                default:
                    put("\\u00");
                    put(hex[static_cast<unsigned char>(c) >> 4]);
                    put(hex[static_cast<unsigned char>(c) & 15]);
            }
        }
        value.remove_prefix(taken);
    }
}

}  // namespace tollgate::http
