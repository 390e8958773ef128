#pragma once

#include <tollgate/base/outcome.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/domain/session.hpp>
#include <tollgate/http/form_body.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/pages/page_view.hpp>
#include <tollgate/pages/room.hpp>
#include <tollgate/pipeline/page_form.hpp>
#include <tollgate/pipeline/page_site.hpp>
#include <tollgate/policy/policy_set.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace tollgate::pages {

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
    [[nodiscard]] const page_words& words() const noexcept { return pages_.maker().words(); }

    [[nodiscard]] instant now() const noexcept { return visit_.now; }
    [[nodiscard]] const session& who() const noexcept { return visit_.who; }
    [[nodiscard]] const http::form_fields& form() const noexcept { return visit_.form; }
    [[nodiscard]] const http::form_fields& query() const noexcept { return visit_.query; }

    [[nodiscard]] page_view view() const noexcept {
        return {words(), pages_.maker().scopes(), url_, visit_.form_token, visit_.query.value_of(done_name)};
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
    [[nodiscard]] outcome<void> back_to_list() const { return back_to({}, removal_done); }
    /// The same for a part of the room, which `query` names.
    [[nodiscard]] outcome<void> back_to(std::string_view query, std::string_view done) const {
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
