#pragma once
#ifndef TOLLGATE_WEB_TEXTS_HPP
#define TOLLGATE_WEB_TEXTS_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/web/consent_texts.hpp>
#include <tollgate/web/webhook_texts.hpp>

#include <array>
#include <string>
#include <string_view>

namespace tollgate::inline v0 {

/// The texts of a time to wait. `{}` is the number.
struct duration_texts {
    std::string_view one_second = "1 second";
    std::string_view seconds = "{} seconds";
    std::string_view one_minute = "1 minute";
    std::string_view minutes = "{} minutes";
    std::string_view one_hour = "1 hour";
    std::string_view hours = "{} hours";
};

/// The texts of the sign-in and sign-out pages.
struct sign_in_texts {
    std::string_view title = "Sign in";
    std::string_view login = "Username";
    std::string_view password = "Password";
    std::string_view button = "Sign in";
    std::string_view login_missing = "Enter your username.";
    std::string_view password_missing = "Enter your password.";
    std::string_view refused = "Incorrect username or password.";
    std::string_view throttled = "Too many failed attempts. Try again in {}.";
    duration_texts durations = {};
    std::string_view out_title = "Sign out";
    std::string_view out_about = "You are signed in as {}.";
    std::string_view signed_out = "You are signed out.";
    /// Argument: the site's address.
    std::string_view lost_cookie =
        "You are not signed in, because your browser did not send the session cookie back. Allow cookies for this site, and open it at {}.";
    message_texts other_address{"Form not accepted",  ///< argument: the site's address
                                "Your browser says that this form was not sent from {}. Open the sign-in page there, and sign in again."};
};

/// The texts that all forms and lists share.
struct form_texts {
    std::string_view faults = "Please correct the following";
    std::string_view fault = "Error:";
    std::string_view optional = "(optional)";
    std::string_view missing = "This field is required.";
    std::string_view too_long = "Too long: at most {} bytes are allowed.";
    std::string_view not_plain = "Use plain text on a single line.";
    std::string_view no_url = "Enter an http or https URL, such as https://example.com/page.";
    std::string_view insecure_url = "Use https. http is allowed only for loopback addresses, such as http://127.0.0.1.";
    std::string_view url_not_ascii =
        "Use ASCII characters only. Write an international domain name in its ASCII form, such as xn--bcher-kva.example.";
    std::string_view reserved_parameter =
        "The query must not have parameters named code, state, iss, error or error_description: the server adds them.";
    std::string_view unknown_choice = "Choose one of the listed options.";
    std::string_view signed_out =
        "You were not signed in when you submitted the form, so nothing was changed. Fill it in and submit it again.";
    std::string_view stale =
        "You signed in again after this form was loaded, so nothing was changed. Check the form and submit it again.";
    std::string_view other_user =  ///< argument: the login
        "You are signed in as {} now. The form was loaded while another user was signed in, so nothing was changed.";
    std::string_view actions = "Actions";
    std::string_view created = "Created";
    std::string_view last_used = "Last used";
    std::string_view never = "Never";
    std::string_view requests_today = "Requests today";
    std::string_view failed_requests = "({} failed)";  ///< a number
    std::string_view shown_once = "Copy the secret now. You will not be able to see it again.";
    std::string_view copy = "Copy";
    std::string_view copied = "Copied";
    std::string_view cancel = "Cancel";
    std::string_view pages = "Pages";
    std::string_view page_of = "Page {} of {}";  ///< two numbers
    std::string_view previous_page = "Previous";
    std::string_view next_page = "Next";
    std::string_view more = "and {} more";  ///< a number
};

/// The texts of the page of personal tokens.
struct token_texts {
    std::string_view link = "Tokens";
    std::string_view title = "Personal API tokens";
    std::string_view about =
        "A personal token lets your own scripts and tools call the API as you. Create one token per program, with only "
        "the permissions it needs.";
    std::string_view none = "You have no tokens yet.";
    std::string_view add = "New token";
    std::string_view description = "Description";
    std::string_view description_hint = "What the token is for, such as \"nightly backup\". Only you see it.";
    std::string_view description_missing = "Enter a description.";
    std::string_view scopes = "Permissions";
    std::string_view scopes_missing = "Select at least one permission.";
    std::string_view button = "Create token";
    std::string_view username = "Token username";
    std::string_view secret = "Token secret";
    std::string_view too_many = "You have reached the maximum number of tokens. Revoke an unused one, then try again.";
    std::string_view expires = "Expires";
    std::string_view expires_hint = "Programs that use the token will stop working on that day, until you generate a new secret here.";
    std::array<std::string_view, 3> days = {"In 30 days", "In 90 days", "In 365 days"};
    std::string_view never_expires = "Never";
    std::string_view expired = "Expired";
    std::string_view expires_soon = "Expires soon";
    std::string_view used_from = "from {}";  ///< a network
    std::string_view renew = "New secret";
    std::string_view renew_warning =
        "The current secret of \"{}\" will stop working immediately. The username stays the same. If the token has an "
        "expiry date, the period starts again.";
    std::string_view renew_button = "Generate a new secret";
    std::string_view made_title = "Your new token";
    std::string_view renewed_title = "New secret for {}";
    std::string_view made_about = "Use the username and the secret with HTTP Basic authentication.";
    std::string_view back = "Back to tokens";
    std::string_view revoke = "Revoke";
    std::string_view revoke_warning = "Programs that use \"{}\" will lose access immediately. This cannot be undone.";
    std::string_view revoke_button = "Revoke this token";
    std::string_view revoked = "The token was revoked.";
};

/// The texts of the page of OAuth applications.
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
        "Where users are sent after they allow or deny access, one URL per line. If a confidential client has none, each request "
        "must contain a redirect_uri on the website above. A public client without one can only use the device flow.";
    std::string_view redirect_url_bad =
        "Enter absolute URLs without a #fragment, such as https://example.com/callback, one per line.";
    std::string_view too_many_redirect_urls = "Enter at most 20 URLs.";
    std::string_view type = "Client type";
    std::string_view type_hint =
        "A confidential client is a server that keeps a secret. A public client is a mobile, desktop, command-line or "
        "single-page application: it has no secret, must use PKCE and must register every redirect URL; schemes such as "
        "com.example.app:/callback are allowed. Users are asked each time.";
    std::string_view confidential_type = "Confidential";
    std::string_view public_type = "Public";
    std::string_view public_client = "Public client";
    std::string_view resource_server = "Resource server";
    std::string_view no_redirect_url = "None";
    std::string_view button = "Register application";
    std::string_view client_id = "Client ID";
    std::string_view client_secret = "Client secret";
    std::string_view too_many =
        "You have reached the maximum number of applications. Delete an unused one, then try again.";
    std::string_view made_title = "{} was registered";
    std::string_view registered = "{} was registered.";  ///< the notice in the list, if there is no secret to display
    std::string_view renewed_title = "New secret for {}";
    std::string_view made_about = "Configure your application with the client ID and the client secret.";
    std::string_view back = "Back to applications";
    std::string_view renew = "New secret";
    std::string_view renew_warning =
        "The current secret of {} stays valid until you remove it. Switch your application to the new one first.";
    std::string_view renew_again_warning =
        "The current secret of {} stays valid. The old secret will stop working immediately.";
    std::string_view renew_button = "Generate a new secret";
    std::string_view remove_secret = "Remove old secret";
    std::string_view remove_secret_warning = "The old secret of {} will stop working immediately.";
    std::string_view remove_secret_button = "Remove the old secret";
    std::string_view secret_removed = "The old secret was removed.";
    std::string_view users = "Users";
    std::string_view edit = "Edit";
    std::string_view edit_title = "Edit {}";
    std::string_view save = "Save changes";
    std::string_view edited = "The changes were saved.";
    std::string_view suspended = "Suspended";
    std::string_view suspended_by_operator =
        "The operator of this site has suspended the application: it has no access to any account, and no user can authorize it.";
    std::string_view suspended_with_owner =
        "The application is suspended because your account was disabled. It has no access to any account.";
    std::string_view own_access = "Access to your own account";
    std::string_view own_access_hint =
        "With its client ID and secret, the application can then get tokens for your accounts without asking anyone "
        "(client credentials grant). If you turn this off, those tokens are revoked.";
    std::string_view acts_for_owner = "Allow access to my own account";
    std::string_view type_name = "Type {} to confirm";
    std::string_view wrong_name = "{} has users. Type its exact name to delete it. Nothing was deleted.";
    std::string_view remove = "Delete";
    std::string_view remove_warning =
        "{} will lose access to the accounts of all users who authorized it. This cannot be undone.";
    std::string_view remove_button = "Delete this application";
    std::string_view removed = "The application was deleted and its access revoked.";
};

/// The texts of the page of authorized applications.
struct authorization_texts {
    std::string_view link = "Authorizations";
    std::string_view title = "Authorized applications";
    std::string_view about =
        "Applications that you authorize to access your account are listed here. Revoke access for applications that "
        "you do not use or do not recognize.";
    std::string_view none = "You have not authorized any applications.";
    std::string_view application = "Application";
    std::string_view permissions = "Permissions";
    std::string_view since = "Authorized";
    std::string_view suspended = "Suspended";
    std::string_view suspended_about = "The application is suspended, so it has no access to your account at the moment.";
    std::string_view revoke = "Revoke";
    std::string_view revoke_warning =
        "{} will lose access to your account immediately. It can request access again. Webhooks that it created will remain: "
        "review them on the \"Webhooks\" page.";
    std::string_view revoke_button = "Revoke access";
    std::string_view revoked = "Access was revoked.";
};

/// The texts of the page of recent activity. `{}` is `activity::subject`.
struct activity_texts {
    std::string_view link = "Activity";
    std::string_view title = "Recent activity";
    std::string_view about =
        "Recent changes and sign-ins. If you do not recognize an entry, change your password and revoke your tokens.";
    std::string_view none = "Nothing has been recorded yet.";
    std::string_view activity = "Activity";
    std::string_view time = "Time";
    std::string_view from = "From";
    std::string_view by_operator = "The operator of this site";

    std::string_view signed_in = "Signed in";
    std::string_view token_created = "Created the token {}";
    std::string_view token_renewed = "Generated a new secret for the token {}";
    std::string_view token_revoked = "Revoked the token {}";
    std::string_view application_registered = "Registered the application {}";
    std::string_view client_secret_replaced = "Generated a new secret for the application {}";
    std::string_view client_secret_removed = "Removed the old secret of the application {}";
    std::string_view application_deleted = "Deleted the application {}";
    std::string_view access_granted = "Authorized the application {}";
    std::string_view access_revoked = "Revoked the access of the application {}";
    std::string_view access_revoked_after_reuse = "Revoked the access of the application {}: code or refresh token used again";
    std::string_view hook_created = "Created webhook {}";
    std::string_view hook_deleted = "Deleted webhook {}";
    std::string_view hook_secret_replaced = "Generated a new secret for webhook {}";
    std::string_view hook_enabled = "Enabled webhook {}";
    std::string_view delivery_resent = "Sent a delivery again";
    std::string_view application_changed = "Changed the application {}";
    std::string_view hook_changed = "Changed webhook {}";
    std::string_view hook_tested = "Sent a test event to webhook {}";
    std::string_view deliveries_resent = "Sent the failed deliveries of webhook {} again";
    std::string_view session_ended = "Signed out another session";
    std::string_view other_sessions_ended = "Signed out everywhere else";
    std::string_view user_added = "Created the account with the username {}";
    std::string_view user_disabled = "Disabled the account";
    std::string_view user_enabled = "Enabled the account";
    std::string_view user_deleted = "Deleted the account";
    std::string_view password_set = "Set a new password";
    std::string_view sessions_ended = "Signed you out everywhere";
    std::string_view quota_set = "Set the rate limit to {} requests a day";
    std::string_view quota_reset = "Set the rate limit to the default";
    std::string_view account_added = "Added the account {}";
    std::string_view event_reported = "Published the event {}";
    std::string_view application_suspended = "Suspended the application {}";
    std::string_view application_resumed = "Resumed the application {}";
};

/// The texts of the overview. `{}` is a number unless a comment says otherwise.
struct overview_texts {
    std::string_view link = "Overview";
    std::string_view title = "Your account";
    std::string_view balance = "Balance";
    std::string_view accounts = "Accounts";
    std::string_view no_accounts = "You have no accounts yet.";
    std::string_view account = "Account";
    std::string_view service = "Service";
    std::string_view id = "ID";
    std::string_view role = "Role";
    std::string_view administrator = "Administrator";
    std::string_view member = "Member";
    std::string_view webhooks = "Webhooks";
    std::string_view more_accounts = "and {} more";
    std::string_view requests = "API requests";
    std::string_view requests_used = "{} of {} used, {} left";  ///< three numbers
    std::string_view requests_reset = "The count starts again:";  ///< before the time
    std::string_view access = "Access to your account";
    std::string_view no_access = "No token or application has access to your account.";
    std::string_view token = "Personal token";
    std::string_view application = "Application";
    std::string_view name = "Name";
    std::string_view type = "Type";
    std::string_view all_tokens = "Manage tokens ({})";
    std::string_view all_applications = "Manage authorized applications ({})";
    std::string_view activity = "Recent activity";
    std::string_view all_activity = "All activity";
    std::string_view no_activity = "Recent activity cannot be shown at the moment.";
};

/// The texts of dates. The arguments of `day` are the day, the month and the year, in this order; the argument of each other text is a
/// number.
struct date_texts {
    std::array<std::string_view, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                               "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    std::string_view day = "{} {} {}";
    std::string_view just_now = "Just now";
    std::string_view minute_ago = "1 minute ago";
    std::string_view minutes_ago = "{} minutes ago";
    std::string_view hour_ago = "1 hour ago";
    std::string_view hours_ago = "{} hours ago";
    std::string_view day_ago = "1 day ago";
    std::string_view days_ago = "{} days ago";
};

/// The texts of the page of sessions and the password. `{}` is a number unless a comment says otherwise.
struct security_texts {
    std::string_view link = "Security";
    std::string_view title = "Security";
    std::string_view about = "Where you are signed in, and your password.";
    std::string_view sessions = "Sessions";
    std::string_view sessions_about =
        "You are signed in on these browsers. Sign out of sessions that you do not use or do not recognize. If you do not "
        "recognize one, also change your password.";
    std::string_view browser = "Browser";
    std::string_view unknown_browser = "Unknown browser";
    std::string_view browser_on = "{} on {}";  ///< a browser and an operating system
    std::string_view current = "This session";
    std::string_view signed_in = "Signed in";
    std::string_view last_seen = "Last seen";
    std::string_view from = "From";
    std::string_view unknown_place = "Unknown";
    std::string_view end = "Sign out";
    std::string_view end_others = "Sign out everywhere else";
    std::string_view ended = "The session was signed out.";
    std::string_view others_ended = "All other sessions were signed out.";
    std::string_view password = "Password";
    std::string_view password_about = "A new password signs you out everywhere else.";
    std::string_view current_password = "Current password";
    std::string_view new_password = "New password";
    std::string_view new_password_hint = "At least {} characters.";
    std::string_view repeated_password = "Repeat new password";
    std::string_view change_password = "Change password";
    std::string_view too_short = "Use at least {} characters.";
    std::string_view too_common = "This password is easy to guess: attackers try it early. Choose another one.";
    std::string_view different = "The new passwords do not match.";
    std::string_view refused = "This is not your current password.";
    std::string_view throttled = "Too many failed attempts. Try again in {}.";  ///< a duration
    std::string_view password_changed = "Your password was changed, and all other sessions were signed out.";
};

/// The texts that surround every page's content.
struct frame_texts {
    std::string_view language = "en";            ///< language of all texts (BCP 47), and the segment of paths that names it
    std::string_view language_name = "English";  ///< name of the language in that language
    std::string_view languages = "Language";
    std::string_view site_name = "Your account";
    std::string_view operator_name = {};  ///< name of who runs the site, on pages of consent; empty: the host of auth_url
    std::string_view skip = "Skip to content";
    std::string_view navigation = "Settings";
    std::string_view signed_in_as = "Signed in as {}";
    std::string_view sign_out = "Sign out";
    std::string_view documentation = "Documentation";
    std::string_view documentation_language = {};  ///< language of the linked documentation; empty if it is the language of the page
    std::string_view error_title = "Error: {}";
};

/// The texts of error pages, by status.
struct error_texts {
    message_texts malformed{"Bad request",
                            "Your browser sent a request that could not be read. Go back and try again."};
    message_texts forbidden{"Form expired",
                            "This form is no longer valid, or it was not sent from this site. Nothing was changed. Go "
                            "back, reload the page, and try again."};
    message_texts not_found{"Page not found", "The address may be mistyped, or the page no longer exists."};
    message_texts gone{"No longer available",
                       "The item that you tried to change was not found. It may have been deleted in another tab. Nothing was changed."};
    message_texts method{"Method not allowed", "This page does not support the HTTP method of the request."};
    message_texts submitted{"Already submitted",
                           "This form was submitted before, or the secret was replaced in another tab, so nothing was changed this "
                           "time. A new secret is shown only once: if you did not see it, go back to the page and create another one."};
    message_texts too_large{"Request too large", "The submitted form is too large. Nothing was changed."};
    message_texts too_long{"Address too long",
                           "The application's request is too long to be kept while you sign in. Sign in first, then start "
                           "again from the application."};
    message_texts address_too_long{"Address too long", "The address of the page is too long. Check the link that you followed."};
    message_texts header_too_large{"Request header too large",
                                   "Your browser sent too much with its request, probably too many cookies. Delete the cookies of this "
                                   "site in your browser, then try again."};
    message_texts media_type{"Unsupported media type",
                             "This page accepts only HTML form data without a content encoding. Nothing was changed."};
    message_texts too_many{"Too many requests", "Wait a moment, then try again."};
    message_texts unavailable{"Service unavailable", "The site is temporarily unavailable. Try again in a moment."};
    message_texts internal{"Something went wrong", "The error was logged. Try again in a moment."};
    message_texts other{"Request failed", "Go back and try again."};
    std::string_view home = "Go to the home page";
    std::string_view back = "Go back to the page";
};

/// The texts of what a scope permits. `{}` is the service's name.
struct scope_texts {
    std::string_view read = "View your {} accounts, and manage their webhooks";
    std::string_view write = "View and manage your {} accounts";
    std::string_view balance = "View your balance";
};

/// Every text of every page in one language, which is English unless the texts are replaced. All texts are plain; pages escape them.
///
///     page_texts texts;
///     texts.frame.site_name = "Example";
///
/// The texts must outlive the handler, as literals do.
struct page_texts {
    frame_texts frame;
    error_texts errors;
    form_texts forms;
    date_texts dates;
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
    overview_texts overview;
    security_texts security;
};

}  // namespace tollgate

#endif  // TOLLGATE_WEB_TEXTS_HPP
