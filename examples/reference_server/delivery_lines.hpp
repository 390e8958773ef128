#pragma once

#include "settings.hpp"

#include <tollgate/contract/observer.hpp>

#include <string>

namespace reference {

/// What the failed deliveries of one webhook have in common: `webhook 4`.
[[nodiscard]] std::string webhook_name(const tollgate::delivery_record& record);

/// A failed attempt in a few words: `webhook 4 to https://receiver.example: answered 503`. Of the target it shows the host alone: there
/// may be a secret in the rest.
[[nodiscard]] std::string failure_summary(const tollgate::delivery_record& record);

/// A failed attempt as a line of the log, without its end.
[[nodiscard]] std::string delivery_line(const tollgate::delivery_record& record, log_form form);

}  // namespace reference
