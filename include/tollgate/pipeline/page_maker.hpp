#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/contract/page_theme.hpp>
#include <tollgate/http/html_writer.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/pipeline/page_site.hpp>
#include <tollgate/pipeline/page_text.hpp>
#include <tollgate/policy/plain_theme.hpp>
#include <tollgate/policy/policy_set.hpp>

#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tollgate::pipeline {

/// `Theme` if it is one; otherwise one that is, so that a handler's message about it is the only one.
template <class Theme>
using fitting_theme = std::conditional_t<page_theme<policy_type<Theme>>, Theme, plain_theme>;

template <class Theme>
[[nodiscard]] fitting_theme<Theme> fit_theme(Theme theme) {
    if constexpr (page_theme<policy_type<Theme>>) return theme;
    else return {};
}

/// Makes pages of one site in one theme. Nothing in it changes once it is made: any thread.
template <class Theme>
    requires page_theme<policy_type<Theme>>
class page_maker {
public:
    /// `reach` is that of all pages for which nothing else is said. Throws std::invalid_argument for an auth_url that
    /// is no absolute http or https URL.
    page_maker(std::string_view auth_url, const service_catalog& services, Theme theme,
               page_reach reach = page_reach::here)
        : theme_{std::move(theme)}, site_{make_site(auth_url)}, scopes_{list_scopes(services)}, reach_{reach} {}

    [[nodiscard]] const page_site& site() const noexcept { return site_; }
    [[nodiscard]] const page_words& words() const noexcept { return policy(theme_).words(); }
    [[nodiscard]] const scope_texts& scopes() const noexcept { return scopes_; }

    /// A whole page: `write(html)` writes its content, between what the theme puts around it.
    template <class Write>
    void answer(http::response& out, page_frame frame, Write&& write) const {
        answer(out, frame, std::forward<Write>(write), reach_);
    }
    template <class Write>
    void answer(http::response& out, page_frame frame, Write&& write, page_reach reach) const {
        const auto home_url = site_.root + "/";
        frame.style_url = site_.style_url;
        frame.home_url = home_url;
        // Without TLS browsers send no Sec-Fetch-Site, and where nothing is referred their Origin is `null`: of forms
        // that come from here no more could be told than of any other site's.
        if (!site_.secure) frame.referrer_policy = "same-origin";
        add_page_fields(out, site_, reach);
        out.body().clear();
        http::html_writer html{out.body()};
        policy(theme_).begin_page(html, frame);
        write(html);
        policy(theme_).end_page(html, frame);
    }

    /// A page that says why there is no other. What it has in its frame, besides the title, is the caller's.
    void answer_message(http::response& out, http::status status, const message_words& said,
                        page_frame frame = {}) const {
        frame.title = said.heading;
        frame.shape = page_shape::narrow;
        out.set_status(status);
        answer(out, frame, [&](http::html_writer& html) {
            write_message(html, said);
            html.add("<p><a href=\"{}/\">{}</a></p>\n", site_.root, words().errors.home);
        });
    }

    /// The same with the words for this status.
    void answer_status(http::response& out, http::status status, const page_frame& frame = {}) const {
        answer_message(out, status, message_for(status, words().errors), frame);
    }

private:
    page_site make_site(std::string_view auth_url) const {
        auto made = page_site::make(auth_url, policy(theme_).style_sheet());
        if (!made)
            throw std::invalid_argument{"tollgate: '" + std::string{auth_url} + "' is no absolute http or https URL"};
        return std::move(*made);
    }

    scope_texts list_scopes(const service_catalog& services) const {
        scope_texts made;
        for (auto& scope : services.scopes()) {
            auto text = policy(theme_).scope_text(scope, services);
            made.add(std::move(scope), std::move(text));
        }
        return made;
    }

    Theme theme_;
    page_site site_;
    scope_texts scopes_;
    page_reach reach_;
};

}  // namespace tollgate::pipeline
