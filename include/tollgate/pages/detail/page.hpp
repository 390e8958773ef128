#pragma once
#ifndef TOLLGATE_PAGES_DETAIL_PAGE_HPP
#define TOLLGATE_PAGES_DETAIL_PAGE_HPP

#include <tollgate/account/new_secret.hpp>
#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/account_store.hpp>
#include <tollgate/contract/observer.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/http/detail/form_body.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/limits/window_limiter.hpp>
#include <tollgate/model/account.hpp>
#include <tollgate/model/activity.hpp>
#include <tollgate/model/settings.hpp>
#include <tollgate/model/quota.hpp>
#include <tollgate/model/session.hpp>
#include <tollgate/pages/detail/submission.hpp>
#include <tollgate/pipeline/detail/error_response.hpp>
#include <tollgate/policy/policies.hpp>
#include <tollgate/web/detail/form.hpp>
#include <tollgate/web/detail/one_time.hpp>
#include <tollgate/web/detail/page.hpp>
#include <tollgate/web/detail/page_part.hpp>
#include <tollgate/web/page_theme.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tollgate::inline v0::pages {

/// The pages.
enum class page : std::uint8_t {
    sign_in,
    sign_out,
    tokens,
    applications,
    authorizations,
    webhooks,
    activity,
    overview,
    security,
    start,  ///< redirects to the overview
    none,
};

/// The placeholder for the language in the pattern of a path.
inline constexpr std::string_view language_pattern = "/{language}";

/// The pattern of a page's path below the site's root, with a trailing slash: for logs and metrics.
struct page_path {
    std::string_view pattern;
    pages::page page;

    /// Below the language.
    [[nodiscard]] constexpr std::string_view path() const noexcept { return pattern.substr(language_pattern.size()); }
};

inline constexpr std::array page_paths = {
    page_path{"/{language}/", page::start},
    page_path{"/{language}/user/", page::overview},
    page_path{"/{language}/user/settings/", page::start},
    page_path{"/{language}/user/sign_in/", page::sign_in},
    page_path{"/{language}/user/sign_out/", page::sign_out},
    page_path{"/{language}/user/settings/tokens/", page::tokens},
    page_path{"/{language}/user/settings/applications/", page::applications},
    page_path{"/{language}/user/settings/authorizations/", page::authorizations},
    page_path{"/{language}/user/settings/webhooks/", page::webhooks},
    page_path{"/{language}/user/settings/activity/", page::activity},
    page_path{"/{language}/user/settings/security/", page::security},
};

/// Where password managers look for the form to change a password (a well-known URL of the W3C): on the whole host, and below the
/// site's root.
inline constexpr std::string_view change_password_path = "/.well-known/change-password";

/// The path of a page, or the first one of several.
[[nodiscard]] constexpr const page_path& find_path(page which) noexcept {
    for (const page_path& each : page_paths)
        if (each.page == which) return each;
    return page_paths[0];
}

struct page_match {
    pages::page page = pages::page::none;
    bool slash_missing = false;
    std::size_t index = 0;  ///< of `page_paths`
};

/// The page of a path below its language. Compared byte by byte, except for the trailing slash.
[[nodiscard]] inline page_match find_page(std::string_view path) noexcept;

/// Returns true if a text is a path (and query) of this site that browsers cannot read as another host. Visible ASCII only.
[[nodiscard]] inline bool is_local_target(std::string_view text) noexcept;

/// The hidden field that names a form's action, and its values.
inline constexpr std::string_view action_name = "action";
inline constexpr std::string_view edit_action = "edit";
inline constexpr std::string_view delete_action = "delete";
inline constexpr std::string_view renew_action = "renew";
inline constexpr std::string_view revoke_action = "revoke";
inline constexpr std::string_view new_secret_action = "new_secret";
inline constexpr std::string_view remove_secret_action = "remove_secret";
inline constexpr std::string_view enable_action = "enable";
inline constexpr std::string_view test_action = "test";
inline constexpr std::string_view send_again_action = "send_again";
inline constexpr std::string_view resend_failed_action = "resend_failed";
inline constexpr std::string_view end_session_action = "end_session";
inline constexpr std::string_view end_others_action = "end_others";
inline constexpr std::string_view change_password_action = "change_password";

/// The query parameter, and the hidden field of forms, that names the page of a list, from 1.
inline constexpr std::string_view page_number_name = "page";

/// Proves that a page of this session listed the item that these fields name, so that a form about an item that is gone can be told
/// from one about an item that never was. `value_of(name)` is empty for a field that is missing.
template <class ValueOf>
[[nodiscard]] std::string item_mark_of(const session& session, ValueOf value_of) {
    std::string message{"listed item\0", 12};
    for (const std::string_view each : {"token", "application", "session", "account", "hook", "delivery"})
        message.append(value_of(each)).append(1, '\0');
    constexpr std::size_t mark_bytes = 12;
    return tollgate::detail::base64url_encode(hmac_sha256({.key = session.secret, .message = message}).raw().substr(0, mark_bytes));
}

/// The reason for displaying a form again that came with the token of another session. Views: valid during the call.
struct stale_form {
    std::string_view reason = {};                 ///< if empty, no form is displayed again
    const http::form_fields* submitted = nullptr;  ///< null if another user submitted it
};

/// What settings pages are rendered from. Views: valid during the call.
struct page_view {
    const page_texts& texts;
    const web::scope_text_list& scopes;
    std::string_view url;  ///< URL of this page, the target of its forms
    std::string_view form_token;
    std::string_view root = {};  ///< root of the pages in this language
    std::string_view done = {};  ///< the action that redirected here; empty for none
    stale_form stale = {};
    instant now{};
    std::size_t page_number = 1;  ///< page number of a list, as requested
    const tollgate::session* session = nullptr;  ///< marks items with its secret; null: no marks
    const usage_counter* counts = nullptr;       ///< of requests; null if nothing counts them

    /// This page of a list, with this query.
    [[nodiscard]] std::string list_url(std::string query = {}) const {
        if (page_number > 1)
            query.append(query.empty() ? "" : "&").append(page_number_name).append("=").append(std::to_string(page_number));
        return std::string{url}.append(query.empty() ? "" : "?").append(query);
    }
    [[nodiscard]] std::string url_of(page which) const { return std::string{root}.append(find_path(which).path()); }

    /// A form of this page. `action` is the value of `action_name`; without one, the form creates an item.
    [[nodiscard]] web::form_target form(std::string_view action = {},
                                        std::vector<std::pair<std::string_view, std::string>> fields = {}) const {
        std::string mark;
        if (session != nullptr && !action.empty() && !fields.empty())
            mark = item_mark_of(*session, [&](std::string_view name) {
                for (const auto& [field, value] : fields)
                    if (field == name) return std::string_view{value};
                return std::string_view{};
            });
        if (!action.empty()) fields.emplace(fields.begin(), action_name, action);
        if (page_number > 1) fields.emplace_back(page_number_name, std::to_string(page_number));  // to return to it
        return {.url = url, .form_token = form_token, .hidden = std::move(fields), .item_mark = std::move(mark)};
    }

    /// Returns true if this is the form that is displayed again. Its return URL, and the secret that it replaces, may have changed.
    [[nodiscard]] bool is_stale(const web::form_target& form) const {
        if (stale.submitted == nullptr) return false;
        return std::all_of(form.hidden.begin(), form.hidden.end(), [&](const auto& field) {
            return field.first == page_number_name || stale.submitted->value_of(field.first) == field.second;
        });
    }
};

/// The query parameter that names the last action, and its value after a deletion and after an edit.
inline constexpr std::string_view done_name = "done";
inline constexpr std::string_view removal_done = "1";
inline constexpr std::string_view edit_done = "edited";
inline constexpr std::string_view signed_out_done = "signed_out";  ///< nothing: the form came without a session

/// The query parameter that names the application or webhook to edit.
inline constexpr std::string_view edit_name = "edit";

/// The query parameter with a sealed `secret_view`, which can be reloaded for a short time.
inline constexpr std::string_view shown_name = "shown";

/// What the directory and the limiter say of the user, as far as the page shows it.
struct user_data {
    std::vector<std::pair<service_name, account>> accounts{};  ///< ordered by service
    std::optional<balance> owned{};
    quota allowed{};
    std::optional<limit_decision> window{};              ///< of all requests of the user; none if there is no limit
    std::optional<std::vector<activity>> activities{};  ///< none if they could not be read

    /// Returns true if this is an account of the user.
    [[nodiscard]] bool owns(const account_ref& named) const noexcept {
        return std::any_of(accounts.begin(), accounts.end(), [&](const auto& each) {
            return each.first == named.service && each.second.id == named.account;
        });
    }
};

/// What a page keeps for one request.
struct kept_page : web::kept_page {
    pages::page which = page::none;
    bool is_language_missing = false;
    user_data user{};

    void forget() noexcept override { user = {}; }
};

/// A request with a session.
struct page_context {
    pages::page which;
    const web::page_language& language;
    const http::request& request;
    const tollgate::session& session;
    const user_data& user;
    std::string_view form_token;     ///< token for the forms of the response
    const http::form_fields& form;   ///< the posted form; `dispatch` checks its form token before a page acts on it
    const http::form_fields& query;  ///< query of the URL
    ip_address client;
    instant now;
    std::optional<web::form_nonce> form_nonce = {};  ///< nonce of the posted form; empty if its token is not valid
};

/// All forms share one purpose: each is bound to the session only.
[[nodiscard]] inline web::form_binding form_binding_of(const session& session) noexcept { return {session, "account pages"}; }

/// A message about the last action.
inline void write_notice(html_writer& html, std::string_view text) {
    html.add("<p class=\"notice\" role=\"status\">{}</p>\n", text);
}

/// What all calls share: the parts of `account_pages`.
struct page_environment {
    const account_service_settings& settings;
    user_directory_ref users;
    session_source_ref sessions;
    account_store_ref store;
    const tollgate::policies& policies;
    const web::page_renderer& renderer;
    window_limiter limiter{{.users = std::size_t{1} << 14, .addresses = std::size_t{1} << 14}};

    /// The path of a page.
    [[nodiscard]] std::string url_of(page which, const web::page_language& language) const {
        return renderer.in(language).url(find_path(which).path());
    }

    /// Returns true if there is such a page: some depend on what users and sessions can do.
    [[nodiscard]] bool is_served(page which) const noexcept {
        if (which == page::activity) return users.has_activity();
        if (which == page::security) return sessions.lists_sessions() || sessions.changes_passwords();
        return which != page::none && (sessions.signs_in() || (which != page::sign_in && which != page::sign_out));
    }
};

/// What the handlers of pages are called with: the request, and how to respond. Lives for the duration of the call.
class page_call : public page_context {
public:
    page_call(page_environment& pages, const page_context& context, http::response& response)
        : page_context{context}, pages_{pages}, response_{response}, url_{pages.url_of(which, language)} {}

    [[nodiscard]] bool has_activity() const noexcept { return pages_.users.has_activity(); }
    [[nodiscard]] const auto& sessions() const noexcept { return pages_.sessions; }
    [[nodiscard]] const auto& store() const noexcept { return pages_.store; }
    [[nodiscard]] const auto& settings() const noexcept { return pages_.settings; }
    [[nodiscard]] const auto& random() const noexcept { return pages_.policies.random(); }
    [[nodiscard]] const auto& target_rule() const noexcept { return pages_.policies.target_rule(); }
    /// The counts of requests; null if nothing counts them.
    [[nodiscard]] const usage_counter* usage() const noexcept { return pages_.policies.usage(); }
    [[nodiscard]] const page_texts& texts() const noexcept { return *language.texts; }
    [[nodiscard]] http::response& response() const noexcept { return response_; }

    [[nodiscard]] page_view view() const noexcept {
        return {texts(), language.scopes, url_,          form_token, language.root, query.value_of(done_name),
                stale_,  now,             page_number(), &session,   usage()};
    }

    /// The page of a list that the form or the query names; 1 if neither does.
    [[nodiscard]] std::size_t page_number() const noexcept {
        const auto in_form = form.value_of(page_number_name);
        const auto number = tollgate::detail::parse_decimal(in_form.empty() ? query.value_of(page_number_name) : in_form);
        constexpr std::uint64_t number_max = 1'000'000;  // longer than any list
        return number ? static_cast<std::size_t>(std::clamp<std::uint64_t>(*number, 1, number_max)) : 1;
    }

    /// Tells the observer what the user did.
    void report(activity_kind kind, std::string subject) const {
        pages_.policies.observer().on_activity({kind, session.user, std::move(subject), client, now});
    }

    /// Responds with this page; 422 if there are faults.
    template <class Write>
    void page(std::string_view title, const web::form_faults& faults, Write&& write) const {
        const auto status = faults.empty() ? http::status::ok : http::status::unprocessable_content;
        page_with_status(title, status, std::forward<Write>(write));
    }
    template <class Write>
    void page_with_status(std::string_view title, http::status status, Write&& write) const {
        if (!stale_.reason.empty()) status = http::status::forbidden;
        response_.set_status(status);
        respond({.title = title, .has_errors = status != http::status::ok}, std::forward<Write>(write));
    }

    /// Responds with an error page that leads back to this page.
    void message(http::status status) const { message(status, web::message_for(status, texts().errors)); }
    void message(http::status status, const message_texts& message) const {
        response_.set_status(status);
        respond({.title = message.heading, .shape = page_shape::narrow}, [&](html_writer& html) {
            web::write_message(html, message);
            html.add("<p><a href=\"{}\">{}</a></p>\n", url_, texts().errors.back);
        });
    }

    /// After an action, so that reloading does not repeat it: to the page, or to the part of it that the query `part` names; in a list,
    /// to the page from which the form was sent.
    [[nodiscard]] result<void> redirect_to(std::string_view done, std::string_view part = {}) const {
        auto url = url_ + "?";
        if (!part.empty()) url.append(part).append("&");
        else if (const auto number = page_number(); number > 1)
            url.append(page_number_name).append("=").append(std::to_string(number)).append("&");
        return web::respond_see_other(response_, pages_.renderer.site(),
                                      url.append(done_name).append("=").append(done));
    }

    /// Returns true if a page of this session has listed the item that the form is about.
    [[nodiscard]] bool names_listed_item() const {
        return form.value_of(web::item_mark_name) == item_mark_of(session, [&](std::string_view name) { return form.value_of(name); });
    }

    /// Reports what was changed and redirects. not_found if nothing was: the user may have deleted it in another window.
    [[nodiscard]] result<void> finish_change(const result<bool>& changed, activity_kind kind, std::string subject,
                                             std::string_view done, std::string_view part = {}) const {
        if (!changed) return changed.error();
        if (!*changed) return not_found();
        report(kind, std::move(subject));
        return redirect_to(done, part);
    }

    /// Counts an action of this user that has a bound of its own. False: too many; answered with a 429.
    [[nodiscard]] bool admit(std::string_view action, const quota& allowed) const {
        const auto window = pages_.limiter.take(limit_key::of(session.user).in(action), allowed, now);
        if (window.admitted) return true;
        http::add_retry_after(response_, window.resets_at - now);
        message(http::status::too_many_requests);
        return false;
    }
    /// The submission of the posted form, whose token has this nonce.
    [[nodiscard]] form_submission submission() const { return {session, *form_nonce, request.body, now}; }
    /// Responds to a form that was submitted too long ago, or that replaces a secret that has been replaced since.
    [[nodiscard]] result<void> refuse_repetition() const {
        message(http::status::forbidden, texts().errors.submitted);
        return {};
    }
    /// From now on, the page shows the posted form again, or an empty one if `is_for_other_user`, and says why.
    void set_stale(bool is_for_other_user) {
        reason_ = web::stale_reason(session, form.value_of(web::form_token_name), texts().forms);
        stale_ = {reason_, is_for_other_user ? nullptr : &form};
    }
    /// Redirects to a page that shows a new secret for a short time, so that reloading does not create another one.
    [[nodiscard]] result<void> redirect_to_secret(std::string_view text) {
        web::seal_nonce nonce;
        if (!random().fill(nonce)) return random_source_error();
        const auto sealed = web::seal(session, text, nonce, now);
        if (!sealed) return internal_error("a new secret could not be sealed");
        return web::respond_see_other(response_, pages_.renderer.site(),
                                      view().list_url(std::string{shown_name}.append("=").append(*sealed)));
    }
    /// Returns the values that the query asks to display; empty after a short time.
    [[nodiscard]] std::optional<std::string> open_secret() const {
        return web::open_sealed(session, query.value_of(shown_name), now, web::sealed_secret_lifetime);
    }
    [[nodiscard]] result<void> redirect_to_page() const {
        return web::respond_see_other(response_, pages_.renderer.site(), view().list_url());
    }

    page_call(const page_call&) = delete;
    page_call& operator=(const page_call&) = delete;

private:
    /// Responds with a page that has navigation and sign-out.
    template <class Write>
    void respond(page_frame frame, Write&& write) const;

    std::string reason_;
    stale_form stale_ = {};
    page_environment& pages_;
    http::response& response_;
    std::string url_;
};

template <class Write>
void page_call::respond(page_frame frame, Write&& write) const {
    const page_texts& texts = this->texts();
    struct entry {
        pages::page page;
        std::string_view text;
    };
    const entry entries[] = {{pages::page::overview, texts.overview.link},
                             {pages::page::tokens, texts.tokens.link},
                             {pages::page::applications, texts.applications.link},
                             {pages::page::authorizations, texts.authorizations.link},
                             {pages::page::webhooks, texts.webhooks.link},
                             {pages::page::activity, texts.activity.link},
                             {pages::page::security, texts.security.link}};
    std::array<std::string, std::size(entries)> urls;
    std::vector<page_link> links;
    for (const entry& each : entries) {
        if (!pages_.is_served(each.page)) continue;
        auto& url = urls[links.size()] = pages_.url_of(each.page, language);
        links.push_back({url, each.text, which == each.page});
    }
    const auto sign_out_url = pages_.sessions.signs_in() ? pages_.url_of(pages::page::sign_out, language) : std::string{};
    // The sealed text has the words of its language.
    std::string path;
    frame.has_secret = query.find(shown_name) != nullptr;
    if (!frame.has_secret) {
        path = find_path(which).path();
        if (request.target.has_query) path.append("?").append(request.target.query);
    }
    frame.navigation = links;
    frame.path = path;
    frame.login = session.login;
    frame.sign_out_url = sign_out_url;
    frame.form_token = form_token;
    pages_.renderer.in(language).respond(response_, frame, std::forward<Write>(write));
}

inline page_match find_page(std::string_view path) noexcept {
    for (std::size_t i = 0; i < page_paths.size(); ++i) {
        const auto expected = page_paths[i].path();
        if (path == expected) return {page_paths[i].page, false, i};
        if (path == expected.substr(0, expected.size() - 1)) return {page_paths[i].page, true, i};
    }
    return {};
}

inline bool is_local_target(std::string_view text) noexcept {
    // Browsers read `//host` and `/\host` as another host, and drop some characters that are not visible ASCII.
    if (text.size() > limits::target_bytes_max || !text.starts_with('/') || text.starts_with("//")) return false;
    return text.substr(0, text.find('?')).find('\\') == std::string_view::npos &&
           std::all_of(text.begin(), text.end(), tollgate::detail::is_visible_ascii);
}

}  // namespace tollgate::pages

#endif  // TOLLGATE_PAGES_DETAIL_PAGE_HPP
