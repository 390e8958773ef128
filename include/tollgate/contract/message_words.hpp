#pragma once

#include <string>
#include <string_view>

namespace tollgate {

/// A heading, and what it means for whoever meets it.
struct message_words {
    std::string_view heading;
    std::string_view explanation;
};

/// The words with `value` in place of their first `{}`. Plain text, to be escaped as a whole.
[[nodiscard]] inline std::string fill_in(std::string_view words, std::string_view value) {
    std::string filled{words};
    if (const auto place = filled.find("{}"); place != std::string::npos) filled.replace(place, 2, value);
    return filled;
}

}  // namespace tollgate
