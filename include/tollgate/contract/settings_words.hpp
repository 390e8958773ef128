#pragma once

#include <string_view>

namespace tollgate {

/// How long to wait. `{}` is the number.
struct duration_words {
    std::string_view one_second = "one second";
    std::string_view seconds = "{} seconds";
    std::string_view one_minute = "one minute";
    std::string_view minutes = "{} minutes";
    std::string_view one_hour = "one hour";
    std::string_view hours = "{} hours";
};

/// What the sign-in and sign-out pages say.
struct sign_in_words {
    std::string_view title = "Sign in";
    std::string_view login = "Login";
    std::string_view password = "Password";
    std::string_view button = "Sign in";
    std::string_view login_missing = "Enter your login.";
    std::string_view password_missing = "Enter your password.";
    std::string_view refused = "Login and password do not match. Check both, and type the password again.";
    std::string_view throttled = "There were too many tries. Wait {} before the next one.";
    duration_words durations = {};
    std::string_view out_title = "Sign out";
    std::string_view out_about = "You are signed in as {}. After signing out, this browser has to sign in again.";
    std::string_view signed_out = "You are signed out.";
};

/// What forms and lists say, whatever they are about.
struct form_words {
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
struct token_words {
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
struct application_words {
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
struct authorization_words {
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
struct webhook_words {
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

}  // namespace tollgate
