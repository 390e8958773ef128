#pragma once
#ifndef TOLLGATE_WEB_CONSENT_TEXTS_HPP
#define TOLLGATE_WEB_CONSENT_TEXTS_HPP

#include <tollgate/base/config.hpp>

#include <string>
#include <string_view>

namespace tollgate::inline v0 {

/// The texts of a page that replaces the requested page.
struct message_texts {
    std::string_view heading;
    std::string_view explanation;
};

/// Returns `text` with its first `{}` replaced by `value`. The result is plain text, which must be escaped as a whole.
[[nodiscard]] inline std::string fill_in(std::string_view text, std::string_view value) {
    std::string filled{text};
    if (const auto at = filled.find("{}"); at != std::string::npos) filled.replace(at, 2, value);
    return filled;
}

/// Returns `texts` with its first two `{}` replaced by `first` and `second`. A `{}` in `first` is not replaced.
[[nodiscard]] inline std::string fill_in(std::string_view texts, std::string_view first, std::string_view second) {
    const auto at = texts.find("{}");
    if (at == std::string_view::npos) return std::string{texts};
    return std::string{texts.substr(0, at)}.append(first).append(fill_in(texts.substr(at + 2), second));
}

/// The texts of the consent page and its error pages. `{}` is the application's name unless a comment says otherwise.
struct consent_texts {
    std::string_view title = "Authorize {}?";
    std::string_view asks = "{} requests access to your account at {}.";  ///< the application and the operator
    std::string_view scopes = "This application will be able to:";
    std::string_view website = "Website, according to the application: {}";  ///< the website
    std::string_view unproved =
        "Any program can claim to be this application. Continue only if you have just started it yourself.";
    std::string_view registered_itself = "This application registered itself. Nobody has checked what it says of itself.";
    std::string_view not_registered =
        "This application is not registered here. It is described by {}. Continue only if you trust that site.";  ///< the host
    std::string_view resource = "It can be used with {} only.";  ///< the URL of a part of the API
    std::string_view signed_in_as = "You are signed in as {}.";  ///< the login
    std::string_view other_user = "Not you?";                    ///< the text of a button that signs out
    std::string_view allow = "Authorize {}";
    std::string_view deny = "Cancel";
    std::string_view leads_to = "Either way, you will be returned to {}.";  ///< the host of the redirect URL
    std::string_view revocable = "You can revoke access at any time in your account settings.";

    std::string_view sign_in = "Sign in to continue";  ///< title of the page on which sign-in and consent are together

    message_texts missing_client{"Missing or invalid client_id",
                                 "The link that you followed does not identify an application. Go back to the "
                                 "application, and contact its developer if this happens again."};
    message_texts unknown_client{
        "Unknown application",
        "The link that you followed does not belong to a registered application. No access was granted."};
    message_texts unusable_document{
        "Application cannot be identified",
        "The application names a document that describes it, and this document cannot be used. No access was granted. If you develop "
        "this application:"};
    message_texts too_many_documents{"Try again later",
                                     "Too many applications were looked up in a short time. Wait a moment, and reload this page."};
    message_texts stopped_client{"Application suspended",
                                 "The application, or the account of its owner, is suspended. No access was granted."};
    message_texts no_redirect_url{
        "No redirect URL registered",
        "The application is a public client without a redirect URL, so it can only use the device flow. No access was granted."};
    message_texts unregistered_redirect{
        "Redirect URL not registered",
        "The redirect_uri of this request is not registered for the application. The link may be wrong, or it may be an attempt "
        "to deceive you. No access was granted."};
    std::string_view received_redirect = "The request has this redirect_uri:";
    std::string_view compare_redirect =
        "If you develop this application, compare it with the registered redirect URLs, character by character. Only the port of "
        "http://127.0.0.1 and http://[::1] may differ. If there is no registered redirect URL, compare scheme, host and port with those "
        "of the application's website.";
    message_texts missing_redirect{
        "Missing redirect_uri",
        "The application does not have exactly one registered redirect URL, so each request must contain a redirect_uri. No "
        "access was granted."};
    message_texts answered{
        "This request was already answered",
        "The application has already received your decision. Return to it, and start again there if necessary."};
};

/// The texts of the page where a user enters the code that a device displays.
struct device_texts {
    std::string_view title = "Connect a device";
    std::string_view about = "Enter the code that your device shows.";
    std::string_view code = "Code";
    std::string_view code_hint = "8 letters, such as BCDF-GHJK.";
    std::string_view next = "Continue";
    std::string_view malformed = "Enter the code. It has 8 letters and no vowels, such as BCDF-GHJK.";
    std::string_view unknown = "This code is wrong, has expired or was already used. Check your device for the current code.";
    std::string_view too_many = "Too many wrong codes. Try again in {}.";  ///< a duration
    std::string_view asks = "A device that uses {} requests access to your account at {}.";  ///< the application and the operator
    /// Arguments: the address of the device, and the time of its request.
    std::string_view warning =
        "The request was made from {} on {}. Continue only if you started it yourself just now, on a device that is "
        "with you. If someone sent you the code or this link, cancel: they would get access to your account.";
    std::string_view code_shown = "Your device must show this code: {}";
    /// Argument: the login of the user.
    message_texts approved{"Device authorized",
                           "The device has access to the account of {}. You can return to it: it will continue in a few seconds."};
    message_texts denied{"Access denied", "The device did not get access to your account."};
    message_texts approved_before{"Device authorized",  ///< the page after a decision about a request that was approved before
                                  "You already authorized this device, so your last decision had no effect. To remove its access, revoke "
                                  "the authorization of its application in your account settings."};
    message_texts denied_before{"Access denied",
                                "You already denied the request of this device, so your last decision had no effect. To connect the "
                                "device, start again there."};
    message_texts answered_by_other{"Answered by another user",
                                    "Another user has answered the request of this device first, so your decision had no effect. The "
                                    "device did not get access to your account."};
    message_texts answered{"This code was already used", "Return to your device, and start again there if necessary."};
};

}  // namespace tollgate

#endif  // TOLLGATE_WEB_CONSENT_TEXTS_HPP
