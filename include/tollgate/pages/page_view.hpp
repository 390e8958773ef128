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
    bool done = false;  ///< the reader comes back from something that was done here
};

/// The names of hidden fields, which say what a form does.
inline constexpr std::string_view action_name = "action";

}  // namespace tollgate::pages
