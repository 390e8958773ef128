#pragma once

#include <string_view>

namespace tollgate {

/// What the consent page says. `{}` is where the application's name goes.
struct consent_words {
    std::string_view title = "Let {} in?";
    std::string_view asks = "{} asks for access to your account.";
    std::string_view scopes = "It will be able to:";
    std::string_view allow = "Allow";
    std::string_view deny = "Deny";
};

}  // namespace tollgate
