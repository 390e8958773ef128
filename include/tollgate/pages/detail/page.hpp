#pragma once

#include <tollgate/base/digest.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/observer.hpp>
#include <tollgate/http/detail/form_body.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/model/detail/caller.hpp>
#include <tollgate/model/detail/session.hpp>
#include <tollgate/pipeline/detail/observed_request.hpp>
#include <tollgate/policy/detail/policy_set.hpp>
#include <tollgate/web/detail/form.hpp>
#include <tollgate/web/detail/one_time.hpp>
#include <tollgate/web/detail/page.hpp>
#include <tollgate/web/page_theme.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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
    start,  ///< redirects to the settings
    none,
};

/// A page's path below the site's root, with a trailing slash.
struct page_path {
    std::string_view path;
    page which;
};

inline constexpr std::array page_paths = {
    page_path{"/", page::start},
    page_path{"/en/", page::start},
    page_path{"/en/user/", page::start},
    page_path{"/en/user/settings/", page::start},
    page_path{"/en/user/sign_in/", page::sign_in},
    page_path{"/en/user/sign_out/", page::sign_out},
    page_path{"/en/user/settings/tokens/", page::tokens},
    page_path{"/en/user/settings/applications/", page::applications},
    page_path{"/en/user/settings/authorizations/", page::authorizations},
    page_path{"/en/user/settings/webhooks/", page::webhooks},
    page_path{"/en/user/settings/activity/", page::activity},
};

/// The path of a page below the site's root.
[[nodiscard]] constexpr std::string_view path_of(page which) noexcept {
    std::string_view found = page_paths[0].path;
    for (const page_path& each : page_paths)
        if (each.which == which) found = each.path;
    return found;
}

struct page_match {
    page which = page::none;
    bool slash_missing = false;
};

/// The page of a path. Compared byte by byte, except for the trailing slash.
[[nodiscard]] inline page_match find_page(std::string_view path, std::string_view root) noexcept;

/// Whether a text is a path (and query) of this site that browsers cannot read as another host. Visible ASCII only.
[[nodiscard]] inline bool is_local_target(std::string_view text) noexcept;

/// What settings pages are rendered from. Views: valid during the call.
struct page_view {
    const page_texts& texts;
    const web::scope_text_list& scopes;
    std::string_view url;  ///< of this page; the target of its forms
    std::string_view form_token;
    std::string_view done = {};  ///< the action that redirected here; empty for none
    instant now{};
};

/// The hidden field that names a form's action.
inline constexpr std::string_view action_name = "action";

/// The query parameter that names the last action, and its value after a deletion.
inline constexpr std::string_view done_name = "done";
inline constexpr std::string_view removal_done = "1";

/// The query parameter with a sealed `secret_view`.
inline constexpr std::string_view shown_name = "shown";

/// What is known of a request so far.
struct request_state {
    pipeline::request_start start;
    ip_address client;
    std::string_view route{};        ///< the page's path; empty for one that is unknown
    std::optional<caller> who{};     ///< the signed-in user, for the observer
    bool admitted = false;           ///< counted, and its session is known
    std::optional<session> signed_in{};  ///< empty on the sign-in page
};

/// A request with a session.
struct page_context {
    page which;
    const http::request& request;
    const session& who;
    std::string_view form_token;     ///< for the forms of the response
    std::string_view posted_token;   ///< the form token of `form`; empty if nothing was posted
    const http::form_fields& form;   ///< what was posted, with a valid form token; empty otherwise
    const http::form_fields& query;  ///< of the URL
    ip_address client;
    instant now;
};

/// What the handlers of pages are called with. Lives for the duration of the call.
template <class Pages>
class page_call {
public:
    page_call(Pages& pages, const page_context& context, http::response& response)
        : pages_{pages},
          context_{context},
          response_{response},
          url_{pages.renderer().site().root + std::string{path_of(context.which)}} {}

    [[nodiscard]] auto& users() const noexcept { return pages_.users(); }
    [[nodiscard]] auto& store() const noexcept { return pages_.store(); }
    [[nodiscard]] const auto& settings() const noexcept { return pages_.settings(); }
    [[nodiscard]] const auto& random() const noexcept { return policy(pages_.policies().random); }
    [[nodiscard]] const auto& target_rule() const noexcept { return policy(pages_.policies().target_rule); }
    [[nodiscard]] const page_texts& texts() const noexcept { return pages_.renderer().texts(); }

    [[nodiscard]] instant now() const noexcept { return context_.now; }
    [[nodiscard]] const session& who() const noexcept { return context_.who; }
    [[nodiscard]] const http::form_fields& form() const noexcept { return context_.form; }
    [[nodiscard]] const http::form_fields& query() const noexcept { return context_.query; }

    [[nodiscard]] page_view view() const noexcept {
        return {texts(), pages_.renderer().scopes(), url_, context_.form_token, context_.query.value_of(done_name), context_.now};
    }

    /// Tells the observer what the user did.
    void report(activity_kind kind, std::string subject) const {
        report_activity(policy(pages_.policies().observer), {kind, who().user, std::move(subject), context_.client, now()});
    }

    /// Responds with this page; 422 if there are faults.
    template <class Write>
    void page(std::string_view title, const web::form_faults& faults, Write&& write) const {
        const auto status = faults.empty() ? http::status::ok : http::status::unprocessable_content;
        page_with_status(title, status, std::forward<Write>(write));
    }
    template <class Write>
    void page_with_status(std::string_view title, http::status status, Write&& write) const {
        response_.set_status(status);
        pages_.answer_page(response_, context_, {.title = title, .has_errors = status != http::status::ok},
                           std::forward<Write>(write));
    }

    /// After an action, so that reloading does not repeat it.
    [[nodiscard]] result<void> redirect_to_list() const { return redirect_to({}, removal_done); }
    /// The same for the part of the page that `query` names.
    [[nodiscard]] result<void> redirect_to(std::string_view query, std::string_view done) const {
        auto url = url_ + "?";
        if (!query.empty()) url.append(query).append("&");
        return web::answer_see_other(response_, pages_.renderer().site(),
                                     url.append(done_name).append("=").append(done));
    }

    /// Claims the submitted form for something that must not be done twice, such as creating a secret; a 403 if the same
    /// token was used with the same content. A second form of the same page, filled in differently, is another one.
    [[nodiscard]] bool claim_form() {
        claimed_.assign(context_.posted_token).append(sha256(context_.request.body).raw());
        if (pages_.used().claim(claimed_)) return true;
        claimed_.clear();
        pages_.renderer().answer_status(response_, http::status::forbidden);
        return false;
    }
    /// Redirects to a page that shows a new secret once, so that reloading does not create another one.
    [[nodiscard]] result<void> redirect_to_secret(std::string_view text) {
        web::seal_nonce nonce;
        if (!random().fill(nonce)) return internal_error("the random source failed");
        const auto sealed = web::seal(who(), text, nonce, now());
        if (!sealed) return internal_error("a new secret could not be sealed");
        claimed_.clear();  // the form stays used
        return web::answer_see_other(response_, pages_.renderer().site(),
                                     url_ + "?" + std::string{shown_name} + "=" + *sealed);
    }
    /// What the query asks to be shown, the first time; empty otherwise.
    [[nodiscard]] std::optional<std::string> open_secret() {
        const auto sealed = query().value_of(shown_name);
        auto text = web::open_sealed(who(), sealed, now());
        // HEAD shows nothing.
        if (!text || context_.request.method != http::method::get || !pages_.used().claim(sealed)) return std::nullopt;
        return text;
    }
    [[nodiscard]] result<void> redirect_to_page() const {
        return web::answer_see_other(response_, pages_.renderer().site(), url_);
    }

    page_call(const page_call&) = delete;
    page_call& operator=(const page_call&) = delete;
    /// A form that created nothing can be submitted again.
    ~page_call() {
        if (!claimed_.empty()) pages_.used().release(claimed_);
    }

private:
    std::string claimed_;  ///< empty for none
    Pages& pages_;
    const page_context& context_;
    http::response& response_;
    std::string url_;
};

inline page_match find_page(std::string_view path, std::string_view root) noexcept {
    if (!path.starts_with(root)) return {};
    path.remove_prefix(root.size());
    for (const page_path& each : page_paths) {
        if (path == each.path) return {each.which, false};
        if (path == each.path.substr(0, each.path.size() - 1)) return {each.which, true};
    }
    return {};
}

inline bool is_local_target(std::string_view text) noexcept {
    // Browsers read `//host` and `/\host` as another host, and drop some characters that are not visible ASCII.
    if (text.size() > limits::target_bytes_max || !text.starts_with('/') || text.starts_with("//")) return false;
    for (char c : text)
        if (c <= ' ' || c > '~' || c == '\\') return false;
    return true;
}

}  // namespace tollgate::pages
