#pragma once

#include <tollgate/contract/message_words.hpp>

#include <string_view>

namespace tollgate {

/// What the consent page says, and the pages in its place. `{}` is where the application's name goes, unless it says
/// otherwise.
struct consent_words {
    std::string_view title = "Let {} in?";
    std::string_view asks = "{} asks for access to your account.";
    std::string_view scopes = "It will be able to:";
    std::string_view website = "Website it names as its own: {}";  ///< the website
    std::string_view leads_to = "Either way you go on to {}.";     ///< the host that the browser goes back to
    std::string_view allow = "Allow";
    std::string_view deny = "Deny";

    std::string_view sign_in = "Sign in to answer";  ///< where the sign-in is on the same page

    message_words no_client{"Which application?",
                            "The link that led here does not say which application it belongs to. Go back to the "
                            "application, and tell its makers if this happens again."};
    message_words unknown_client{
        "An unknown application",
        "The link that led here belongs to no application that is registered. Nothing was shared."};
    message_words wrong_redirect{
        "Not where this application lives",
        "The link that led here asks to send you on to an address that its application did not "
        "register. That may be a mistake, or an attempt to deceive you. Nothing was shared."};
    message_words answered{
        "You have answered this",
        "The application has been told already. Go back to it, and begin there if you need to again."};
};

}  // namespace tollgate
