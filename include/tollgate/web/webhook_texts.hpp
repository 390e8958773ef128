#pragma once
#ifndef TOLLGATE_WEB_WEBHOOK_TEXTS_HPP
#define TOLLGATE_WEB_WEBHOOK_TEXTS_HPP

#include <string_view>

// The texts of webhooks and their deliveries. All other texts are in texts.hpp.
namespace tollgate::inline v0 {

/// The texts of the results of delivery attempts.
struct attempt_texts {
    std::string_view answered = "HTTP status {}";  ///< the status
    std::string_view redirected = "HTTP status {}: redirects are not followed";
    std::string_view no_address = "The host name could not be resolved";
    std::string_view refused_address = "The host name resolves to an address that webhooks may not be sent to";
    std::string_view no_connection = "Could not connect";
    std::string_view no_tls = "TLS handshake failed: the certificate may be invalid or expired";
    std::string_view timed_out = "Timed out before the response was complete";
    std::string_view broken_off = "Connection closed before the response was complete";
    std::string_view bad_response = "Invalid or oversized HTTP response";
    // These texts replace those above if the cause is known.
    std::string_view name_not_found = "The host name does not exist, or has no address";
    std::string_view no_name_server = "The name servers of the host did not respond in time";
    std::string_view connection_refused = "Connection refused: nothing listens on the port, or a firewall blocks it";
    std::string_view unreachable = "No route to the address of the host";
    std::string_view connect_timeout = "Timed out while connecting: the host did not respond";
    std::string_view handshake_timeout = "Timed out during the TLS handshake";
    std::string_view response_timeout = "Timed out while waiting for the response: the request was sent";
    std::string_view certificate_expired = "TLS handshake failed: the certificate has expired";
    std::string_view certificate_not_yet_valid = "TLS handshake failed: the certificate is not valid yet";
    std::string_view certificate_for_other_host = "TLS handshake failed: the certificate is for another host name";
    std::string_view certificate_not_trusted =
        "TLS handshake failed: the certificate is self-signed, from an unknown authority, or sent without its intermediate certificates";
    std::string_view certificate_invalid = "TLS handshake failed: the certificate is invalid";
};

/// The texts of the deliveries of a webhook. `{}` is a point in time unless a comment says otherwise.
struct delivery_texts {
    std::string_view link = "Deliveries";
    std::string_view title = "Deliveries of {}";  ///< the event
    std::string_view back = "All webhooks";

    std::string_view state = "State";
    std::string_view active = "Active";
    std::string_view failing = "Failing";
    std::string_view disabled = "Disabled";
    std::string_view failing_about =
        "No attempt has succeeded since {}. If attempts keep failing for too long, the webhook is disabled.";
    std::string_view failing_retries = "Pending deliveries are retried at increasing intervals.";  ///< while there are pending deliveries
    std::string_view gone_about = "Disabled on {}: the URL responded with status 410 (Gone).";
    std::string_view failed_about = "Disabled on {}: all attempts had failed for too long.";
    std::string_view disabled_about =
        "New events are not sent to a disabled webhook. Pending deliveries are held until you enable it.";
    std::string_view enable = "Enable webhook";
    std::string_view enabled = "The webhook was enabled. Pending deliveries are being sent.";

    std::string_view none = "No deliveries yet. The next {} event and its attempts will be listed here.";  ///< the event
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
    std::string_view show_attempts = "Attempts";
    std::string_view one_title = "Delivery of {}";  ///< a time
    std::string_view back_to_all = "All deliveries of the webhook";
    std::string_view send_again = "Send again";
    std::string_view sent_again = "The delivery was queued again.";
    std::string_view not_while_disabled = "Deliveries of a disabled webhook cannot be sent. Enable the webhook first, then try again.";

    std::string_view filter = "Filter by result";
    std::string_view all = "All";
    std::string_view none_in_state = "There are no deliveries with this result.";
    std::string_view test = "Send test event";
    std::string_view tested = "A ping test event was queued.";
    std::string_view see_result = "See the result";  ///< the text of a link, in the notice that something was queued
    std::string_view resend_failed = "Resend all failed deliveries";
    std::string_view resend_since = "Failed in the last";
    std::string_view hour = "hour";
    std::string_view day = "24 hours";
    std::string_view week = "7 days";
    std::string_view month = "30 days";
    std::string_view resent = "Deliveries queued again: {} (at most 1,000 at a time).";  ///< a number
    std::string_view resent_none = "No failed deliveries are left from that time.";

    attempt_texts attempts = {};
    std::string_view milliseconds = "{} ms";  ///< a number
    std::string_view seconds = "{} s";        ///< a number
    std::string_view decimal_point = ".";     ///< separates the digits of `seconds`
    std::string_view request = "Request";
    std::string_view request_cut = "Request (truncated)";
    std::string_view response = "Response body";
    std::string_view response_cut = "Response body (truncated)";
};

/// The texts of the page of webhooks.
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
    std::string_view next_step = "Continue";
    std::string_view all_accounts = "Webhooks of all accounts";
    std::string_view edit = "Edit";
    std::string_view edit_title = "Edit webhook";
    std::string_view edit_about =
        "Pending deliveries are sent to the new URL. The new event applies from now on.";
    std::string_view save = "Save changes";
    std::string_view edited = "The changes were saved.";
    std::string_view event_of_other_service = "The service {} does not have this event.";
    std::string_view target_url = "URL";
    std::string_view target_url_hint = "Events are sent to this URL, such as https://example.com/hooks.";
    std::string_view target_url_missing = "Enter the URL to send events to.";
    // Refusals of `public_targets`. Pages display the messages of other target rules unchanged.
    std::string_view target_has_user_info = "The URL must not have a username or password.";
    std::string_view target_has_fragment = "The URL must not have a fragment.";
    std::string_view target_host_not_ascii = "The host name has characters outside ASCII. Use its xn-- form (Punycode).";
    std::string_view target_not_printable = "The URL has a space, a control character or one outside ASCII. Percent-encode it.";
    std::string_view target_stray_percent =
        "The URL has a % that is not followed by two hexadecimal digits. Write %25 for a percent sign.";
    std::string_view target_unsafe_character =
        "The URL has a quotation mark or one of the characters < > \\ ^ ` { | }. Percent-encode it (%7B for {), or replace a placeholder "
        "such as {id} with its value.";
    std::string_view target_is_private = "The URL must point to a public address.";
    std::string_view button = "Create webhook";
    std::string_view id = "ID";
    std::string_view source = "Created via";
    std::string_view by_api = "API";
    std::string_view by_hand = "Settings page";
    std::string_view too_many =
        "The account has reached the maximum number of webhooks for this event. Delete one, then try again.";
    std::string_view made_title = "Your new webhook";
    std::string_view renewed_title = "New signing secret";
    std::string_view made_about = "Events will be sent to {}. Verify their signatures with this secret.";
    std::string_view renewed_about =
        "Deliveries are signed with this secret from now on. For 24 hours, they are also signed with the previous "
        "secret, so that you can switch without losing events.";
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

}  // namespace tollgate

#endif  // TOLLGATE_WEB_WEBHOOK_TEXTS_HPP
