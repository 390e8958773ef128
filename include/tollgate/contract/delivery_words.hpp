#pragma once

#include <string_view>

namespace tollgate {

/// How an attempt ended.
struct attempt_words {
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
struct delivery_words {
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

    attempt_words attempts = {};
    std::string_view milliseconds = "{} ms";  ///< a number
    std::string_view seconds = "{} s";        ///< a number
    std::string_view answer = "What it answered";
    std::string_view answer_cut = "What it answered, as far as it was kept";
};

}  // namespace tollgate
