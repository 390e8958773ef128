#pragma once

#include <tollgate/http/response.hpp>

#include <string>
#include <string_view>

namespace tollgate::http {

/// Field lines as they go on the wire, each ended by CRLF: for messages that we send as a client. Names and values have
/// types that hold no line end. Used again, it allocates nothing.
class field_block {
public:
    void clear() noexcept { lines_.clear(); }

    void add(field_name name, field_value value) {
        lines_.append(name.view()).append(": ").append(value.view()).append("\r\n");
    }

    [[nodiscard]] std::string_view view() const noexcept { return lines_; }

private:
    std::string lines_;
};

}  // namespace tollgate::http
