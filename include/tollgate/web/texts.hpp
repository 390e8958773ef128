#pragma once

#include <array>
#include <string>
#include <string_view>

namespace tollgate::inline v0 {

/// A page that replaces the requested one.
struct message_texts {
    std::string_view heading;
    std::string_view explanation;
};

/// Replaces the first `{}` of `texts` by `value`. The result is plain text, to be escaped as a whole.
[[nodiscard]] inline std::string fill_in(std::string_view texts, std::string_view value) {
    std::string filled{texts};
    if (const auto at = filled.find("{}"); at != std::string::npos) filled.replace(at, 2, value);
    return filled;
}

/// The consent page and its error pages. `{}` is the application's name unless a comment says otherwise.
struct consent_texts {
    std::string_view title = "Authorize {}?";
    std::string_view asks = "{} requests access to your account.";
    std::string_view scopes = "It will be able to:";
    std::string_view website = "Website stated by the application: {}";    ///< the website
    std::string_view unproved =
        "Any program can claim to be this application. Continue only if you have just started it yourself.";
    std::string_view leads_to = "Either choice will redirect you to {}.";  ///< the host of the redirect URL
    std::string_view allow = "Allow";
    std::string_view deny = "Deny";

    std::string_view sign_in = "Sign in to continue";  ///< where sign-in and consent share a page

    message_texts missing_client{"Missing client_id",
                                 "The link that led here does not say which application it belongs to. Go back to the "
                                 "application, and contact its developer if this happens again."};
    message_texts unknown_client{
        "Unknown application",
        "The link that led here does not belong to a registered application. No access was granted."};
    message_texts unregistered_redirect{
        "Redirect URL not registered",
        "The redirect_uri of this request is not registered for the application. The link may be wrong, or an attempt "
        "to deceive you. No access was granted."};
    message_texts missing_redirect{
        "Missing redirect_uri",
        "The application has not registered exactly one redirect URL, so each request must contain a redirect_uri. No "
        "access was granted."};
    message_texts answered{
        "This request was already answered",
        "The application has already received your decision. Return to it, and start again there if necessary."};
};

/// The page where a user types the code that a device shows.
struct device_texts {
    std::string_view title = "Connect a device";
    std::string_view about = "Enter the code that your device shows.";
    std::string_view code = "Code";
    std::string_view code_hint = "8 letters, such as BCDF-GHJK.";
    std::string_view next = "Continue";
    std::string_view malformed = "A code has 8 letters, such as BCDF-GHJK.";
    std::string_view unknown = "This code is wrong, has expired or was already used. Check your device for the current one.";
    std::string_view too_many = "Too many wrong codes. Try again in {}.";  ///< a duration
    std::string_view asks = "A device with {} requests access to your account.";
    /// The address of the device, and when it asked.
    std::string_view warning =
        "The request came from the address {}, {}. Continue only if you started it yourself just now, on a device that is "
        "with you. If somebody sent you the code or this link, deny: they would get access to your account.";
    std::string_view code_shown = "Your device must show this code: {}";
    message_texts approved{"The device is connected", "You can return to your device. It continues within a few seconds."};
    message_texts denied{"Access denied", "The device did not get access to your account."};
    message_texts answered{"This code was already used", "Return to your device, and start again there if necessary."};
};

/// How a delivery attempt ended.
struct attempt_texts {
    std::string_view answered = "HTTP status {}";  ///< the status
    std::string_view redirected = "HTTP status {}: redirects are not followed";
    std::string_view no_address = "The host name could not be resolved";
    std::string_view refused_address = "The host name resolves to an address that webhooks may not be sent to";
    std::string_view no_connection = "Connection refused";
    std::string_view no_tls = "TLS handshake failed: the certificate may be invalid or expired";
    std::string_view timed_out = "Timed out before the response was complete";
    std::string_view broken_off = "Connection closed before the response was complete";
    std::string_view bad_answer = "Invalid or oversized HTTP response";
};

/// The deliveries of one webhook. `{}` is a point in time unless a comment says otherwise.
struct delivery_texts {
    std::string_view link = "Deliveries";
    std::string_view title = "Deliveries of {}";  ///< the event
    std::string_view back = "All webhooks";

    std::string_view state = "State";
    std::string_view active = "Active";
    std::string_view failing = "Failing";
    std::string_view disabled = "Disabled";
    std::string_view failing_about =
        "No attempt has succeeded since {}. Retries continue at growing intervals. If none succeeds for too long, the "
        "webhook is disabled.";
    std::string_view gone_about = "Disabled on {}: the URL responded with status 410 (Gone).";
    std::string_view failed_about = "Disabled on {}: no attempt had succeeded for too long.";
    std::string_view disabled_about =
        "New events are not sent to a disabled webhook. Pending deliveries are held until you enable it.";
    std::string_view enable = "Enable webhook";
    std::string_view enabled = "The webhook was enabled. Pending deliveries are being sent.";

    std::string_view none = "No deliveries yet. The next {} and its attempts will be listed here.";  ///< the event
    std::string_view none_older = "There are no older deliveries, or they are no longer stored.";
    std::string_view paging = "More deliveries";
    std::string_view newest = "Newest";
    std::string_view older = "Older";
    std::string_view last_attempts = "The last {} attempts.";  ///< a number
    std::string_view waiting = "Pending";
    std::string_view delivered = "Delivered";
    std::string_view given_up = "Failed";
    std::string_view held = "Held";
    std::string_view next_attempt = "Next attempt: {}.";
    std::string_view no_attempt = "No attempts yet.";
    std::string_view send_again = "Send again";
    std::string_view sent_again = "The delivery was queued again. Reload this page in a moment to see the result.";
    std::string_view not_while_disabled = "A disabled webhook cannot send. Enable it first, then send again.";

    attempt_texts attempts = {};
    std::string_view milliseconds = "{} ms";  ///< a number
    std::string_view seconds = "{} s";        ///< a number
    std::string_view answer = "Response body";
    std::string_view answer_cut = "Response body (truncated)";
};

/// How long to wait. `{}` is the number.
struct duration_texts {
    std::string_view one_second = "1 second";
    std::string_view seconds = "{} seconds";
    std::string_view one_minute = "1 minute";
    std::string_view minutes = "{} minutes";
    std::string_view one_hour = "1 hour";
    std::string_view hours = "{} hours";
};

/// The sign-in and sign-out pages.
struct sign_in_texts {
    std::string_view title = "Sign in";
    std::string_view login = "Login";
    std::string_view password = "Password";
    std::string_view button = "Sign in";
    std::string_view login_missing = "Enter your login.";
    std::string_view password_missing = "Enter your password.";
    std::string_view refused = "Incorrect login or password.";
    std::string_view throttled = "Too many failed attempts. Try again in {}.";
    duration_texts durations = {};
    std::string_view out_title = "Sign out";
    std::string_view out_about = "You are signed in as {}.";
    std::string_view signed_out = "You are signed out.";
};

/// What all forms and lists share.
struct form_texts {
    std::string_view faults = "Please correct the following";
    std::string_view fault = "Error:";
    std::string_view optional = "(optional)";
    std::string_view missing = "This field is required.";
    std::string_view too_long = "Too long: at most {} bytes are allowed.";
    std::string_view not_plain = "Use plain text on a single line.";
    std::string_view no_url = "Enter an absolute URL, such as https://example.com/page.";
    std::string_view insecure_url = "Use https. http is only allowed for loopback addresses, such as http://127.0.0.1.";
    std::string_view url_not_ascii =
        "Use ASCII characters only. Write an international domain name in its ASCII form, such as xn--bcher-kva.example.";
    std::string_view unknown_choice = "Choose one of the listed options.";
    std::string_view actions = "Actions";
    std::string_view created = "Created";
    std::string_view last_used = "Last used";
    std::string_view never = "Never";
    std::string_view shown_once = "Copy the secret now. You will not be able to see it again.";
};

/// The page of personal tokens.
struct token_texts {
    std::string_view link = "Tokens";
    std::string_view title = "Personal API tokens";
    std::string_view about =
        "A personal token lets your own scripts and tools call the API as you. Create one token per program, with only "
        "the scopes it needs.";
    std::string_view none = "You have no tokens yet.";
    std::string_view add = "New token";
    std::string_view description = "Description";
    std::string_view description_hint = "What the token is for, such as \"nightly backup\". Only you see it.";
    std::string_view description_missing = "Enter a description.";
    std::string_view scopes = "Scopes";
    std::string_view scopes_missing = "Select at least one scope.";
    std::string_view button = "Create token";
    std::string_view username = "Token username";
    std::string_view secret = "Token secret";
    std::string_view may = "Scopes";
    std::string_view too_many = "You have reached the maximum number of tokens. Revoke an unused one, then try again.";
    std::string_view expires = "Expires";
    std::string_view expires_hint = "Programs that use the token fail after that day, until you generate a new secret here.";
    std::array<std::string_view, 3> days = {"In 30 days", "In 90 days", "In 365 days"};
    std::string_view never_expires = "Never";
    std::string_view expired = "Expired";
    std::string_view expires_soon = "Expires soon";
    std::string_view used_from = "from {}";  ///< a network
    std::string_view renew = "New secret";
    std::string_view renew_warning =
        "The current secret of \"{}\" will stop working immediately. The username stays. If the token expires, its time "
        "begins anew.";
    std::string_view renew_button = "Generate a new secret";
    std::string_view made_title = "Your new token";
    std::string_view made_about = "Use the username and the secret with HTTP Basic authentication.";
    std::string_view back = "Back to tokens";
    std::string_view revoke = "Revoke";
    std::string_view revoke_warning = "Programs that use \"{}\" will lose access immediately. This cannot be undone.";
    std::string_view revoke_button = "Revoke this token";
    std::string_view revoked = "The token was revoked.";
};

/// The page of OAuth applications.
struct application_texts {
    std::string_view link = "Applications";
    std::string_view title = "OAuth applications";
    std::string_view about =
        "An application requests access to other people's accounts with OAuth 2.0. Register it to get a client ID and "
        "a client secret. To access only your own account, use a personal token.";
    std::string_view none = "You have not registered any applications yet.";
    std::string_view add = "New application";
    std::string_view name = "Name";
    std::string_view name_hint = "Shown to users when the application requests access.";
    std::string_view name_missing = "Enter a name.";
    std::string_view website = "Website";
    std::string_view website_hint = "Where users can learn more, such as https://example.com.";
    std::string_view website_missing = "Enter the URL of the application's website.";
    std::string_view description = "Description";
    std::string_view redirect_url = "Redirect URLs";
    std::string_view redirect_url_hint =
        "Where users return after their decision, one URL a line. Without any, each request must contain a redirect_uri "
        "on the website above.";
    std::string_view redirect_url_bad =
        "Enter absolute URLs without a #fragment, such as https://example.com/callback, one a line.";
    std::string_view too_many_redirect_urls = "Enter at most 20 URLs.";
    std::string_view type = "Client type";
    std::string_view type_hint =
        "A public client has no secret. It must use PKCE and register every redirect URL; schemes such as "
        "com.example.app:/callback are allowed. Users are asked each time.";
    std::string_view confidential_type = "Confidential: a server that keeps a secret";
    std::string_view public_type = "Public: a mobile, desktop, command-line or single-page application";
    std::string_view public_client = "Public client";
    std::string_view resource_server = "Resource server";
    std::string_view no_redirect_url = "None";
    std::string_view button = "Register application";
    std::string_view client_id = "Client ID";
    std::string_view client_secret = "Client secret";
    std::string_view too_many =
        "You have reached the maximum number of applications. Delete an unused one, then try again.";
    std::string_view made_title = "{} is registered";
    std::string_view renewed_title = "New secret for {}";
    std::string_view made_about = "Configure your application with the client ID and the client secret.";
    std::string_view back = "Back to applications";
    std::string_view renew = "New secret";
    std::string_view renew_warning =
        "The current secret of {} stays valid beside the new one, until you remove it. Configure the new one first.";
    std::string_view renew_again_warning =
        "The current secret of {} stays valid beside the new one. The secret before it stops working immediately.";
    std::string_view renew_button = "Generate a new secret";
    std::string_view remove_secret = "Remove old secret";
    std::string_view remove_secret_warning = "The secret that {} had before its current one will stop working immediately.";
    std::string_view remove_secret_button = "Remove the old secret";
    std::string_view secret_removed = "The old secret was removed.";
    std::string_view users = "Users";
    std::string_view edit = "Edit";
    std::string_view edit_title = "Edit {}";
    std::string_view save = "Save changes";
    std::string_view edited = "The changes were saved.";
    std::string_view own_access = "Access to your own account";
    std::string_view own_access_hint =
        "With its client ID and secret, the application can then get tokens for your accounts without asking anyone "
        "(client credentials grant). Removing this revokes them.";
    std::string_view acts_for_owner = "Allow access to my own account";
    std::string_view type_name = "Type {} to confirm";
    std::string_view wrong_name = "{} has users. To delete it, type its name.";
    std::string_view remove = "Delete";
    std::string_view remove_warning =
        "{} will lose access to the accounts of all users who authorized it. This cannot be undone.";
    std::string_view remove_button = "Delete this application";
    std::string_view removed = "The application and all its access were deleted.";
};

/// The page of authorized applications.
struct authorization_texts {
    std::string_view link = "Authorizations";
    std::string_view title = "Authorized applications";
    std::string_view about =
        "You have authorized these applications to access your account. Revoke access for applications that you do "
        "not use or do not recognize.";
    std::string_view none = "You have not authorized any applications.";
    std::string_view application = "Application";
    std::string_view may = "Permissions";
    std::string_view since = "Authorized";
    std::string_view revoke = "Revoke";
    std::string_view revoke_warning = "{} will lose access to your account immediately. It can request access again.";
    std::string_view revoke_button = "Revoke access";
    std::string_view revoked = "Access was revoked.";
};

/// The page of webhooks.
struct webhook_texts {
    std::string_view link = "Webhooks";
    std::string_view title = "Webhooks";
    std::string_view about =
        "A webhook notifies your server of events in an account: each event is sent as a signed POST request to your "
        "URL.";
    std::string_view no_accounts = "Webhooks belong to an account, and you have no accounts yet.";
    std::string_view none = "You have no webhooks yet.";
    std::string_view none_here = "This account has no webhooks.";
    std::string_view choose = "Account to show";
    std::string_view choose_about = "You have too many accounts to list on one page.";
    std::string_view choose_button = "Show";
    std::string_view add = "New webhook";
    std::string_view account = "Account";
    std::string_view event = "Event";
    std::string_view event_hint = "Select an event of the account's service.";
    std::string_view event_of_other_service = "The service {} does not have this event.";
    std::string_view target_url = "URL";
    std::string_view target_url_hint = "Events are sent to this URL, such as https://example.com/hooks.";
    std::string_view target_url_missing = "Enter the URL to send events to.";
    std::string_view button = "Create webhook";
    std::string_view source = "Created by";
    std::string_view by_api = "API";
    std::string_view by_hand = "Settings page";
    std::string_view too_many =
        "The account has reached the maximum number of webhooks for this event. Delete one, then try again.";
    std::string_view made_title = "Your new webhook";
    std::string_view renewed_title = "New signing secret";
    std::string_view made_about = "Events will be sent to {}. Verify their signatures with this secret.";
    std::string_view renewed_about =
        "Deliveries are signed with this secret from now on. For 24 hours they are signed with the previous secret, "
        "too, so that you can switch without losing events.";
    std::string_view secret = "Signing secret";
    std::string_view back = "Back to webhooks";
    std::string_view renew = "New secret";
    std::string_view renew_warning =
        "A new signing secret will be generated for {}. The current one stays valid for 24 hours.";
    std::string_view renew_button = "Generate a new secret";
    std::string_view remove = "Delete";
    std::string_view remove_warning = "Events will no longer be sent to {}. This cannot be undone.";
    std::string_view remove_button = "Delete this webhook";
    std::string_view removed = "The webhook was deleted.";
};

/// The page of recent activity. `{}` is what `activity::subject` is.
struct activity_texts {
    std::string_view link = "Activity";
    std::string_view title = "Recent activity";
    std::string_view about =
        "What was done to your account. If you do not recognize an entry, change your password and revoke your tokens.";
    std::string_view none = "Nothing was recorded yet.";
    std::string_view what = "Activity";
    std::string_view when = "Time";
    std::string_view where = "From";
    std::string_view by_operator = "The operator of this site";

    std::string_view signed_in = "Signed in";
    std::string_view token_created = "Created the token {}";
    std::string_view token_revoked = "Revoked the token {}";
    std::string_view application_registered = "Registered the application {}";
    std::string_view client_secret_replaced = "Generated a new secret for the application {}";
    std::string_view application_deleted = "Deleted the application {}";
    std::string_view access_granted = "Authorized the application {}";
    std::string_view access_revoked = "Revoked the access of the application {}";
    std::string_view hook_created = "Created webhook {}";
    std::string_view hook_deleted = "Deleted webhook {}";
    std::string_view hook_secret_replaced = "Generated a new secret for webhook {}";
    std::string_view hook_enabled = "Enabled webhook {}";
    std::string_view delivery_resent = "Sent delivery {} again";
    std::string_view user_added = "Created the account with the login {}";
    std::string_view user_disabled = "Disabled the account";
    std::string_view user_enabled = "Enabled the account";
    std::string_view user_deleted = "Deleted the account";
    std::string_view password_set = "Set a new password";
    std::string_view sessions_ended = "Signed you out everywhere";
    std::string_view quota_set = "Set the rate limit to {} requests a day";
    std::string_view account_added = "Added the account {}";
    std::string_view event_reported = "Reported the event {}";
};

/// What surrounds every page's content.
struct frame_texts {
    std::string_view language = "en";  ///< of all texts (BCP 47)
    std::string_view site_name = "Your account";
    std::string_view skip = "Skip to content";
    std::string_view navigation = "Settings";
    std::string_view signed_in_as = "Signed in as {}";
    std::string_view sign_out = "Sign out";
    std::string_view error_title = "Error: {}";
};

/// Error pages, by status.
struct error_texts {
    message_texts malformed{"Bad request",
                            "Your browser sent a request that could not be read. Go back and try again."};
    message_texts forbidden{"Form expired",
                            "This form is no longer valid, or it was not sent from this site. Nothing was changed. Go "
                            "back, reload the page, and try again."};
    message_texts not_found{"Page not found", "The address may be mistyped, or the page no longer exists."};
    message_texts method{"Method not allowed", "This page does not support the HTTP method of the request."};
    message_texts too_large{"Request too large", "The submitted form is too large. Nothing was changed."};
    message_texts media_type{"Unsupported media type",
                             "This page accepts only HTML form data without a content encoding. Nothing was changed."};
    message_texts too_many{"Too many requests", "Wait a moment, then try again."};
    message_texts unavailable{"Service unavailable", "The site is temporarily unavailable. Try again in a moment."};
    message_texts internal{"Something went wrong", "The error was logged. Try again in a moment."};
    message_texts other{"Request failed", "Go back and try again."};
    std::string_view home = "Go to the home page";
};

/// What a scope permits. `{}` is the service's name.
struct scope_texts {
    std::string_view read = "View your {} accounts, and manage their webhooks";
    std::string_view write = "View and manage your {} accounts";
    std::string_view balance = "View your balance";
};

/// Every text of every page. All are plain text; pages escape them.
///
///     page_texts texts;
///     texts.frame.site_name = "Example";
///
/// The texts must outlive the handler, as literals do.
struct page_texts {
    frame_texts frame;
    error_texts errors;
    form_texts forms;
    scope_texts scopes;
    sign_in_texts sign_in;
    consent_texts consent;
    device_texts device;
    token_texts tokens;
    application_texts applications;
    authorization_texts authorizations;
    webhook_texts webhooks;
    delivery_texts deliveries;
    activity_texts activity;
};

}  // namespace tollgate
