#pragma once

#include <tollgate/http/html_writer.hpp>

#include <initializer_list>
#include <string_view>

namespace tollgate::documentation {

// It can be scrolled sideways on a narrow screen, and so has to be reached by keyboard.
inline void begin_table(http::html_writer& html, std::initializer_list<std::string_view> columns) {
    html.add(R"(<div class="table" tabindex="0"><table>
<thead><tr>)");
    for (const auto each : columns) html.add(R"(<th scope="col">{}</th>)", each);
    html.add("</tr></thead>\n<tbody>\n");
}

inline void end_table(http::html_writer& html) { html.add("</tbody>\n</table></div>\n"); }

}  // namespace tollgate::documentation
