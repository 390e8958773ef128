#pragma once

#include <string_view>

namespace tollgate {

/// A heading, and what it means for whoever meets it.
struct message_words {
    std::string_view heading;
    std::string_view explanation;
};

}  // namespace tollgate
