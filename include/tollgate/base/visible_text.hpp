#pragma once

#include <tollgate/base/config.hpp>

#include <cstddef>
#include <string_view>

namespace tollgate {

/// Whether `text` is a line that a person sees as it is: 1 to `bytes_max` bytes of UTF-8, not blanks alone, no control
/// characters, no line or paragraph separators, and none of the invisible characters that turn the direction of what
/// follows or hide in a name (Unicode's Bidi_Control, zero-width space, word joiner, byte order mark). The joiners that
/// scripts and emoji need may stand in it.
[[nodiscard]] TOLLGATE_DECL bool is_visible_line(std::string_view text, std::size_t bytes_max) noexcept;

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/base/visible_text.ipp>
#endif
