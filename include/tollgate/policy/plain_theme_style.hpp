#pragma once

#include <string_view>

namespace tollgate::detail {

/// One sheet for all pages: light and dark as the reader's system is, every text with a contrast of 4.5 to 1 or more.
inline constexpr std::string_view plain_style_sheet = R"(:root { color-scheme: light dark; }
body { max-width: 44rem; margin: 0 auto; padding: 1.5rem; font: 1rem/1.6 system-ui, sans-serif; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; }
)";

}  // namespace tollgate::detail
