#pragma once

#include <tollgate/base/config.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace tollgate {

/// Whether `text` is a line that a person sees as it is: 1 to `bytes_max` bytes of UTF-8, not blanks alone, no control
/// characters, no line or paragraph separators, and none of the invisible characters that turn the direction of what
/// follows or hide in a name (Unicode's Bidi_Control, zero-width space, word joiner, byte order mark, tags). The joiners
/// and variation selectors that scripts and emoji need may stand in it.
[[nodiscard]] TOLLGATE_DECL bool is_visible_line(std::string_view text, std::size_t bytes_max) noexcept;

/// Somebody else's bytes as a person can read them, whatever they are: lines of UTF-8, in which each byte that is none,
/// each control character and each invisible one that `is_visible_line` refuses is written out, as `\x1b` or `\u202e`.
/// Line ends become `\n`. It is the beginning of a text that may have been cut: a sequence that is incomplete at its end
/// is left out.
[[nodiscard]] TOLLGATE_DECL std::string make_readable(std::string_view bytes);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/base/visible_text.ipp>
#endif
