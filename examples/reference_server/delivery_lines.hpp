#pragma once

#include "settings.hpp"

#include <tollgate/contract/observer.hpp>

#include <string>

namespace reference {

/// What failed deliveries of one kind have in common: `webhook answered 503`.
[[nodiscard]] std::string failure_kind(const tollgate::delivery_record& record);

/// A failed attempt as a line of the log, without its end. Of the target it shows the host alone: there may be a secret in the rest.
[[nodiscard]] std::string delivery_line(const tollgate::delivery_record& record, log_form form);

}  // namespace reference
