#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/http/detail/form_body.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/model/session.hpp>
#include <tollgate/policy/detail/policy_set.hpp>
#include <tollgate/web/detail/form.hpp>
#include <tollgate/web/detail/page.hpp>
#include <tollgate/web/page_theme.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace tollgate::inline v0::pages {

/// Where a person can be.
enum class room : std::uint8_t {
    sign_in,
    sign_out,
    tokens,
    applications,
    authorizations,
    webhooks,
    start,  ///< leads to the settings
    none,
};

/// A path below a site's root, and what is there. All end in a slash.
struct room_path {
    std::string_view path;
    room where;
};

inline constexpr std::array room_paths = {
    room_path{"/", room::start},
    room_path{"/en/", room::start},
    room_path{"/en/user/", room::start},
    room_path{"/en/user/settings/", room::start},
    room_path{"/en/user/sign_in/", room::sign_in},
    room_path{"/en/user/sign_out/", room::sign_out},
    room_path{"/en/user/settings/tokens/", room::tokens},
    room_path{"/en/user/settings/applications/", room::applications},
    room_path{"/en/user/settings/authorizations/", room::authorizations},
    room_path{"/en/user/settings/webhooks/", room::webhooks},
};

/// The path of a room below its root.
[[nodiscard]] constexpr std::string_view path_of(room where) noexcept {
    std::string_view found = room_paths[0].path;
    for (const room_path& each : room_paths)
        if (each.where == where) found = each.path;
    return found;
}

struct found_room {
    room where = room::none;
    bool slash_missing = false;
};

/// What a path leads to. Compared byte by byte, but for the slash at its end.
[[nodiscard]] TOLLGATE_DECL found_room find_room(std::string_view path, std::string_view root) noexcept;

/// Whether a text is a path (and query) of the site itself that a browser may be sent to: nothing that it could read as
/// another host. Visible ASCII alone.
[[nodiscard]] TOLLGATE_DECL bool is_local_target(std::string_view text) noexcept;

/// What every page in the settings is written from. Views: valid during the call.
struct page_view {
    const page_texts& texts;
    const pipeline::scope_text_list& scopes;
    std::string_view url;  ///< the page's own, where its forms lead
    std::string_view form_token;
    std::string_view done = {};  ///< what was done before the reader came back here; empty for nothing
};

/// The name of the hidden field that says what a form does.
inline constexpr std::string_view action_name = "action";

/// The query parameter that says what was done, and what it says where something was taken from a list.
inline constexpr std::string_view done_name = "done";
inline constexpr std::string_view removal_done = "1";

/// A request for a room, before it is known whose it is.
struct caller_at_door {
    room where;
    const http::request& asked;
    http::form_fields form;   ///< what was posted; empty otherwise
    http::form_fields query;  ///< behind the `?` of the address
    instant now;
};

/// A request of somebody who is signed in.
struct page_visit {
    room where;
    const http::request& asked;
    const session& who;
    std::string_view form_token;     ///< for the forms of the answer
    const http::form_fields& form;   ///< what was posted, which is theirs; empty otherwise
    const http::form_fields& query;  ///< behind the `?` of the address
    instant now;
};

/// What a room is called with. Lives for the call.
template <class Pages>
class page_call {
public:
    page_call(Pages& pages, const page_visit& visit, http::response& out)
        : pages_{pages},
          visit_{visit},
          out_{out},
          url_{pages.maker().site().root + std::string{path_of(visit.where)}} {}

    [[nodiscard]] auto& users() const noexcept { return pages_.users(); }
    [[nodiscard]] auto& store() const noexcept { return pages_.store(); }
    [[nodiscard]] const auto& settings() const noexcept { return pages_.settings(); }
    [[nodiscard]] const auto& random() const noexcept { return policy(pages_.policies().random); }
    [[nodiscard]] const auto& target_rule() const noexcept { return policy(pages_.policies().target_rule); }
    [[nodiscard]] const page_texts& texts() const noexcept { return pages_.maker().texts(); }

    [[nodiscard]] instant now() const noexcept { return visit_.now; }
    [[nodiscard]] const session& who() const noexcept { return visit_.who; }
    [[nodiscard]] const http::form_fields& form() const noexcept { return visit_.form; }
    [[nodiscard]] const http::form_fields& query() const noexcept { return visit_.query; }

    [[nodiscard]] page_view view() const noexcept {
        return {texts(), pages_.maker().scopes(), url_, visit_.form_token, visit_.query.value_of(done_name)};
    }

    /// Answers with a page of this room; 422 if there are faults to correct.
    template <class Write>
    void page(std::string_view title, const pipeline::form_faults& faults, Write&& write) const {
        const auto status = faults.empty() ? http::status::ok : http::status::unprocessable_content;
        page_with_status(title, status, std::forward<Write>(write));
    }
    template <class Write>
    void page_with_status(std::string_view title, http::status status, Write&& write) const {
        out_.set_status(status);
        pages_.answer_room(out_, visit_, {.title = title, .faulty = status != http::status::ok},
                           std::forward<Write>(write));
    }

    /// After something was done: so that loading the page again does not do it again.
    [[nodiscard]] result<void> back_to_list() const { return back_to({}, removal_done); }
    /// The same for a part of the room, which `query` names.
    [[nodiscard]] result<void> back_to(std::string_view query, std::string_view done) const {
        auto url = url_ + "?";
        if (!query.empty()) url.append(query).append("&");
        return pipeline::answer_see_other(out_, pages_.maker().site(), url.append(done_name).append("=").append(done));
    }

private:
    Pages& pages_;
    const page_visit& visit_;
    http::response& out_;
    std::string url_;
};

}  // namespace tollgate::pages

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pages/detail/page.ipp>
#endif
