#pragma once

#include <tollgate/http/json_writer.hpp>

namespace tollgate::inline v0::http {

TOLLGATE_DECL void json_writer::escape(std::string_view value) {
    constexpr std::string_view hex = "0123456789abcdef";
    while (!value.empty()) {
        const char c = value.front();
        std::size_t taken = utf8_sequence_bytes(value);
        if (taken == 0) {
            out_->append("\xef\xbf\xbd");  // U+FFFD for each byte that does not start a character
            taken = 1;
        } else if (taken > 1 || detail::is_plain_json(c)) {
            out_->append(value.substr(0, taken));
        } else {
            switch (c) {
                case '"': out_->append("\\\""); break;
                case '\\': out_->append("\\\\"); break;
                case '\n': out_->append("\\n"); break;
                case '\r': out_->append("\\r"); break;
                case '\t': out_->append("\\t"); break;
                default:
                    out_->append("\\u00");
                    out_->push_back(hex[static_cast<unsigned char>(c) >> 4]);
                    out_->push_back(hex[static_cast<unsigned char>(c) & 15]);
            }
        }
        value.remove_prefix(taken);
    }
}

}  // namespace tollgate::http
