#pragma once

#include <string>
#include <string_view>

namespace tollgate::inline v0 {

/// A heading, and what it means for whoever meets it.
struct message_texts {
    std::string_view heading;
    std::string_view explanation;
};

/// The words with `value` in place of their first `{}`. Plain text, to be escaped as a whole.
[[nodiscard]] inline std::string fill_in(std::string_view texts, std::string_view value) {
    std::string filled{texts};
    if (const auto place = filled.find("{}"); place != std::string::npos) filled.replace(place, 2, value);
    return filled;
}

/// What the consent page says, and the pages in its place. `{}` is where the application's name goes, unless it says
/// otherwise.
struct consent_texts {
    std::string_view title = "Let {} in?";
    std::string_view asks = "{} asks for access to your account.";
    std::string_view scopes = "It will be able to:";
    std::string_view website = "Website it names as its own: {}";  ///< the website
    std::string_view leads_to = "Either way you go on to {}.";     ///< the host that the browser goes back to
    std::string_view allow = "Allow";
    std::string_view deny = "Deny";

    std::string_view sign_in = "Sign in to answer";  ///< where the sign-in is on the same page

    message_texts no_client{"Which application?",
                            "The link that led here does not say which application it belongs to. Go back to the "
                            "application, and tell its makers if this happens again."};
    message_texts unknown_client{
        "An unknown application",
        "The link that led here belongs to no application that is registered. Nothing was shared."};
    message_texts wrong_redirect{
        "Not where this application lives",
        "The link that led here asks to send you on to an address that its application did not "
        "register. That may be a mistake, or an attempt to deceive you. Nothing was shared."};
    message_texts answered{
        "You have answered this",
        "The application has been told already. Go back to it, and begin there if you need to again."};
};

/// How an attempt ended.
struct attempt_texts {
    std::string_view answered = "Answered {}";  ///< the status
    std::string_view redirected = "Answered {}: redirects are not followed";
    std::string_view no_address = "The name of the host leads nowhere";
    std::string_view refused_address = "The name of the host leads to an address that webhooks may not go to";
    std::string_view no_connection = "Nobody listens at the address";
    std::string_view no_tls = "No secure connection: the certificate may be wrong or out of date";
    std::string_view timed_out = "There was no whole answer in time";
    std::string_view broken_off = "The connection ended before the answer did";
    std::string_view bad_answer = "What came back was no HTTP answer, or too much of one";
};

/// What the page of a webhook's deliveries says. `{}` is a moment, unless it says otherwise.
struct delivery_texts {
    std::string_view link = "Deliveries";
    std::string_view title = "Deliveries of {}";  ///< the event
    std::string_view back = "All webhooks";

    std::string_view state = "State";
    std::string_view active = "Active";
    std::string_view failing = "Failing";
    std::string_view disabled = "Disabled";
    std::string_view failing_about =
        "No attempt has succeeded since {}. There are more to come, further and further apart; where none succeeds for "
        "too long, the webhook is disabled.";
    std::string_view gone_about = "On {} the address answered 410 (gone), which asks for nothing more to be sent there.";
    std::string_view failed_about = "It was disabled on {}, because no attempt had succeeded for too long.";
    std::string_view disabled_about =
        "What happens in the meantime is not sent to it later. What was on its way already is held until you enable it.";
    std::string_view enable = "Enable again";
    std::string_view enabled = "The webhook is enabled. What was held for it is on its way.";

    std::string_view none = "Nothing was sent yet. The next {} will stand here, and what came of it.";  ///< the event
    std::string_view none_older = "There are no older ones, or they are not kept any more.";
    std::string_view paging = "More deliveries";
    std::string_view newest = "Newest";
    std::string_view older = "Older";
    std::string_view last_attempts = "The last {} attempts.";  ///< a number
    std::string_view waiting = "On its way";
    std::string_view delivered = "Delivered";
    std::string_view given_up = "Given up";
    std::string_view held = "Held";
    std::string_view next_attempt = "The next attempt is due {}.";
    std::string_view no_attempt = "No attempt was made yet.";
    std::string_view send_again = "Send again";
    std::string_view sent_again = "It is on its way again. Load this page anew in a moment to see what came of it.";
    std::string_view not_while_disabled = "Nothing is sent while the webhook is disabled. Enable it first, then send again.";

    attempt_texts attempts = {};
    std::string_view milliseconds = "{} ms";  ///< a number
    std::string_view seconds = "{} s";        ///< a number
    std::string_view answer = "What it answered";
    std::string_view answer_cut = "What it answered, as far as it was kept";
};

/// How long to wait. `{}` is the number.
struct duration_texts {
    std::string_view one_second = "one second";
    std::string_view seconds = "{} seconds";
    std::string_view one_minute = "one minute";
    std::string_view minutes = "{} minutes";
    std::string_view one_hour = "one hour";
    std::string_view hours = "{} hours";
};

/// What the sign-in and sign-out pages say.
struct sign_in_texts {
    std::string_view title = "Sign in";
    std::string_view login = "Login";
    std::string_view password = "Password";
    std::string_view button = "Sign in";
    std::string_view login_missing = "Enter your login.";
    std::string_view password_missing = "Enter your password.";
    std::string_view refused = "Login and password do not match. Check both, and type the password again.";
    std::string_view throttled = "There were too many tries. Wait {} before the next one.";
    duration_texts durations = {};
    std::string_view out_title = "Sign out";
    std::string_view out_about = "You are signed in as {}. After signing out, this browser has to sign in again.";
    std::string_view signed_out = "You are signed out.";
};

/// What forms and lists say, whatever they are about.
struct form_texts {
    std::string_view faults = "There is a problem";
    std::string_view fault = "Error:";
    std::string_view optional = "(optional)";
    std::string_view missing = "This is needed.";
    std::string_view too_long = "This is too long: there is room for {} bytes of text.";
    std::string_view not_plain = "Use plain text on a single line.";
    std::string_view no_url = "Enter a whole web address, such as https://example.com/page.";
    std::string_view unknown_choice = "Choose one that is offered.";
    std::string_view actions = "Actions";
    std::string_view created = "Created";
    std::string_view last_used = "Last used";
    std::string_view never = "Not yet";
    std::string_view shown_once = "This is the only time that the secret is shown. Keep it as safe as a password.";
};

/// What the page of personal tokens says.
struct token_texts {
    std::string_view link = "Tokens";
    std::string_view title = "Personal API tokens";
    std::string_view about =
        "A token lets a program of your own call the API in your name: a script, a scheduled job, a tool on "
        "your computer. Give each program a token of its own, with no more than it needs.";
    std::string_view none = "You have no tokens yet. The form below makes the first one.";
    std::string_view add = "New token";
    std::string_view description = "Description";
    std::string_view description_hint = "What it is for, such as \"nightly backup\". Only you see it.";
    std::string_view description_missing = "Say what the token is for.";
    std::string_view scopes = "What may it do?";
    std::string_view scopes_missing = "Choose at least one thing that the token may do.";
    std::string_view button = "Create token";
    std::string_view username = "Token username";
    std::string_view secret = "Token secret";
    std::string_view may = "May do";
    std::string_view too_many =
        "You have as many tokens as one person can have. Revoke one that nothing uses any more, then try again.";
    std::string_view made_title = "Your new token";
    std::string_view made_about = "Give both to your program now; it sends them with HTTP Basic authentication.";
    std::string_view back = "I have stored both: back to my tokens";
    std::string_view revoke = "Revoke";
    std::string_view revoke_warning = "Whatever uses \"{}\" is locked out at once. This cannot be undone.";
    std::string_view revoke_button = "Revoke this token";
    std::string_view revoked = "The token was revoked. Nothing gets in with it any more.";
};

/// What the page of OAuth applications says.
struct application_texts {
    std::string_view link = "Applications";
    std::string_view title = "OAuth applications";
    std::string_view about =
        "An application asks other people for access to their accounts, with OAuth 2.0. Register yours here to get "
        "the client ID and the client secret that it needs. For access to your own account alone, a token is "
        "enough.";
    std::string_view none = "You have registered no applications yet. The form below registers the first one.";
    std::string_view add = "New application";
    std::string_view name = "Name";
    std::string_view name_hint = "What people read when your application asks for access.";
    std::string_view name_missing = "Give the application a name.";
    std::string_view website = "Website";
    std::string_view website_hint = "Where people find out more, such as https://example.com.";
    std::string_view website_missing = "Enter the address of the application's website.";
    std::string_view description = "Description";
    std::string_view redirect_url = "Redirect URL";
    std::string_view redirect_url_hint =
        "Where people return to after they decided. Without one, each request has to name an "
        "address on the website above.";
    std::string_view redirect_url_bad =
        "Enter a whole web address without a #fragment, such as https://example.com/callback.";
    std::string_view no_redirect_url = "None";
    std::string_view button = "Register application";
    std::string_view client_id = "Client ID";
    std::string_view client_secret = "Client secret";
    std::string_view too_many =
        "You have as many applications as one person can have. Delete one that nobody uses any more, then try again.";
    std::string_view made_title = "{} is registered";
    std::string_view renewed_title = "A new secret for {}";
    std::string_view made_about = "Give both to your application now.";
    std::string_view back = "I have stored both: back to my applications";
    std::string_view renew = "New secret";
    std::string_view renew_warning =
        "The old secret of {} stops working at once: until it has the new one, it can let nobody in.";
    std::string_view renew_button = "Make a new secret";
    std::string_view remove = "Delete";
    std::string_view remove_warning =
        "{} loses its access to the account of everybody who ever let it in. This cannot be undone.";
    std::string_view remove_button = "Delete this application";
    std::string_view removed = "The application was deleted, and all access that it had with it.";
};

/// What the page of applications that a person let in says.
struct authorization_texts {
    std::string_view link = "Authorizations";
    std::string_view title = "Authorized applications";
    std::string_view about =
        "These applications may use your account, because you let them. Take that back from any that you do not "
        "use or do not know.";
    std::string_view none =
        "You have let no application into your account. When you do, it stands here, and you can change your mind.";
    std::string_view application = "Application";
    std::string_view may = "It may";
    std::string_view since = "Since";
    std::string_view revoke = "Revoke";
    std::string_view revoke_warning = "{} is locked out of your account at once. It may ask for access again.";
    std::string_view revoke_button = "Revoke access";
    std::string_view revoked = "The application is locked out of your account.";
};

/// What the page of webhooks says.
struct webhook_texts {
    std::string_view link = "Webhooks";
    std::string_view title = "Webhooks";
    std::string_view about =
        "A webhook tells your server when something happens in an account: it posts each event to an address of "
        "yours, signed, so that you know it is from here.";
    std::string_view no_accounts =
        "Webhooks belong to an account, and you have none at any of our services. When you do, set them up here.";
    std::string_view none = "You have no webhooks yet. The form below sets up the first one.";
    std::string_view none_here = "This account has no webhooks.";
    std::string_view choose = "Show an account";
    std::string_view choose_about = "You have more accounts than fit on one page.";
    std::string_view choose_button = "Show";
    std::string_view add = "New webhook";
    std::string_view account = "Account";
    std::string_view event = "Event";
    std::string_view event_hint = "Pick one of the account's own service.";
    std::string_view event_of_other_service =
        "The service of this account, {}, has no such event. Choose one of its own.";
    std::string_view target_url = "Address";
    std::string_view target_url_hint = "Where each event is posted, such as https://example.com/hooks.";
    std::string_view target_url_missing = "Enter the address that events are to be posted to.";
    std::string_view button = "Create webhook";
    std::string_view source = "Set up";
    std::string_view by_api = "by API";
    std::string_view by_hand = "by hand";
    std::string_view too_many =
        "The account has as many webhooks for this event as there can be. Delete one of them, then try again.";
    std::string_view made_title = "Your new webhook";
    std::string_view renewed_title = "A new signing secret";
    std::string_view made_about = "Events are on their way to {} from now on. Check their signature with this secret.";
    std::string_view renewed_about =
        "Deliveries are signed with this secret from now on. For 24 hours the old one signs them, too, so "
        "that nothing is lost while you change over.";
    std::string_view secret = "Signing secret";
    std::string_view back = "I have stored it: back to my webhooks";
    std::string_view renew = "New secret";
    std::string_view renew_warning = "You get a new signing secret for {}. The old one stays good for 24 hours.";
    std::string_view renew_button = "Make a new secret";
    std::string_view remove = "Delete";
    std::string_view remove_warning = "Nothing more is sent to {} for this webhook. This cannot be undone.";
    std::string_view remove_button = "Delete this webhook";
    std::string_view removed = "The webhook was deleted.";
};

/// What is on every page, around what the page is about.
struct frame_texts {
    std::string_view language = "en";  ///< of all of these words (BCP 47)
    std::string_view site_name = "Your account";
    std::string_view skip = "Skip to the content";
    std::string_view navigation = "Settings";
    std::string_view signed_in_as = "Signed in as {}";
    std::string_view sign_out = "Sign out";
    std::string_view faulty_title = "Error: {}";
};

/// Pages in place of the one that was asked for.
struct error_texts {
    message_texts malformed{"That did not arrive in one piece",
                            "Your browser sent something that cannot be read. Go back and try again."};
    message_texts forbidden{
        "Please send that again",
        "This form did not come from a page of yours that is still good. Nothing was changed. Go back, "
        "load the page again, and repeat what you did."};
    message_texts not_found{"There is no such page", "The address may be mistyped, or what was here is gone."};
    message_texts method{"This page cannot do that", "It can be read, and its forms can be sent; nothing else."};
    message_texts too_large{"That is too much", "What you sent is larger than any form here. Nothing was changed."};
    message_texts media_type{"That is no form", "This page reads what its own forms send. Nothing was changed."};
    message_texts unavailable{"This is taking too long", "A part of the site does not answer. Try again in a moment."};
    message_texts internal{"Something went wrong", "The fault is ours, and it was noted. Try again in a moment."};
    message_texts other{"That did not work", "Go back and try again."};
    std::string_view home = "Go to the start page";
};

/// What a scope lets a program do. `{}` is the service's name.
struct scope_texts {
    std::string_view read = "See your {} accounts, and add or remove their webhooks";
    std::string_view write = "See and change everything in your {} accounts";
    std::string_view balance = "See your balance";
};

/// Every text of every page, each by its name. All are plain text: they are escaped where they are used.
///
///     page_texts texts;
///     texts.frame.site_name = "Example";
///
/// The texts must outlive the handler; literals do.
struct page_texts {
    frame_texts frame;
    error_texts errors;
    form_texts forms;
    scope_texts scopes;
    sign_in_texts sign_in;
    consent_texts consent;
    token_texts tokens;
    application_texts applications;
    authorization_texts authorizations;
    webhook_texts webhooks;
    delivery_texts deliveries;
};

}  // namespace tollgate
