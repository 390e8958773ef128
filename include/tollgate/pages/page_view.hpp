#pragma once

#include <tollgate/contract/page_theme.hpp>
#include <tollgate/pipeline/page_text.hpp>

#include <string_view>

namespace tollgate::pages {

/// What every page in the settings is written from. Views: valid during the call.
struct page_view {
    const page_words& words;
    const pipeline::scope_texts& scopes;
    std::string_view url;  ///< the page's own, where its forms lead
    std::string_view form_token;
    std::string_view done = {};  ///< what was done before the reader came back here; empty for nothing
};

/// The name of the hidden field that says what a form does.
inline constexpr std::string_view action_name = "action";

/// The query parameter that says what was done, and what it says where something was taken from a list.
inline constexpr std::string_view done_name = "done";
inline constexpr std::string_view removal_done = "1";

}  // namespace tollgate::pages
