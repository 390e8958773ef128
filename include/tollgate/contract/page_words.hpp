#pragma once

#include <tollgate/contract/consent_words.hpp>
#include <tollgate/contract/delivery_words.hpp>
#include <tollgate/contract/message_words.hpp>
#include <tollgate/contract/settings_words.hpp>

#include <string_view>

namespace tollgate {

/// What is on every page, around what the page is about.
struct frame_words {
    std::string_view language = "en";  ///< of all of these words (BCP 47)
    std::string_view site_name = "Your account";
    std::string_view skip = "Skip to the content";
    std::string_view navigation = "Settings";
    std::string_view signed_in_as = "Signed in as {}";
    std::string_view sign_out = "Sign out";
    std::string_view faulty_title = "Error: {}";
};

/// Pages in place of the one that was asked for.
struct error_words {
    message_words malformed{"That did not arrive in one piece",
                            "Your browser sent something that cannot be read. Go back and try again."};
    message_words forbidden{
        "Please send that again",
        "This form did not come from a page of yours that is still good. Nothing was changed. Go back, "
        "load the page again, and repeat what you did."};
    message_words not_found{"There is no such page", "The address may be mistyped, or what was here is gone."};
    message_words method{"This page cannot do that", "It can be read, and its forms can be sent; nothing else."};
    message_words too_large{"That is too much", "What you sent is larger than any form here. Nothing was changed."};
    message_words media_type{"That is no form", "This page reads what its own forms send. Nothing was changed."};
    message_words unavailable{"This is taking too long", "A part of the site does not answer. Try again in a moment."};
    message_words internal{"Something went wrong", "The fault is ours, and it was noted. Try again in a moment."};
    message_words other{"That did not work", "Go back and try again."};
    std::string_view home = "Go to the start page";
};

/// What a scope lets a program do. `{}` is the service's name.
struct scope_words {
    std::string_view read = "See your {} accounts, and add or remove their webhooks";
    std::string_view write = "See and change everything in your {} accounts";
    std::string_view balance = "See your balance";
};

/// Every text of every page, each by its name. All are plain text: they are escaped where they are used.
///
///     page_words words;
///     words.frame.site_name = "Example";
///
/// The texts must outlive the handler; literals do.
struct page_words {
    frame_words frame;
    error_words errors;
    form_words forms;
    scope_words scopes;
    sign_in_words sign_in;
    consent_words consent;
    token_words tokens;
    application_words applications;
    authorization_words authorizations;
    webhook_words webhooks;
    delivery_words deliveries;
};

}  // namespace tollgate
