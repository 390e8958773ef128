#pragma once
#ifndef TOLLGATE_MANUAL_DOCUMENTATION_IPP
#define TOLLGATE_MANUAL_DOCUMENTATION_IPP

#include <tollgate/http/detail/request_id.hpp>
#include <tollgate/http/site.hpp>
#include <tollgate/http/url.hpp>
#include <tollgate/manual/detail/pages.hpp>
#include <tollgate/manual/detail/style.hpp>
#include <tollgate/manual/documentation.hpp>
#include <tollgate/pipeline/detail/error_response.hpp>
#include <tollgate/pipeline/detail/row.hpp>
#include <tollgate/pipeline/judge.hpp>
#include <tollgate/web/html_writer.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tollgate::inline v0 {

namespace manual {

// The pages are the same for all clients, so caches may keep them. They load nothing but our style sheet.
inline constexpr std::string_view page_field_lines =
    "Content-Type: text/html; charset=utf-8\r\n"
    "Cache-Control: public, max-age=300\r\n"
    "Content-Security-Policy: default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: no-referrer\r\n";

inline constexpr std::string_view style_field_lines =
    "Content-Type: text/css; charset=utf-8\r\n"
    "Cache-Control: public, max-age=300\r\n"
    "X-Content-Type-Options: nosniff\r\n";

inline constexpr std::string_view refusal_field_lines =
    "Content-Type: text/html; charset=utf-8\r\n"
    "Cache-Control: no-store\r\n"
    "Content-Security-Policy: default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: no-referrer\r\n";

inline constexpr std::string_view documentation_pattern = "/docs/";

/// The rows of the documentation: its pages, which are in memory.
class documentation_part final : public pipeline::part {
public:
    documentation_part(account_service_settings&& settings, const route_table& routes, tollgate::policies&& policies)
        : settings_{std::move(settings)},
          policies_{std::move(policies)},
          root_{http::url::root(settings_.auth_url, "auth_url").path + "/docs"} {
        const page_writer writer{settings_, routes, root_};
        for (auto& each : writer.write_all())
            pages_.push_back({std::string{root_}.append("/").append(each.path), page_field_lines, std::move(each.html)});
        pages_.push_back({root_ + "/style.css", style_field_lines, std::string{style_sheet}});
        for (const page& each : pages_) {
            rows_.push_back({.pattern = documentation_pattern, .form = &form, .steps = page_steps, .data = &each});
            redirect_rows_.push_back({.pattern = documentation_pattern, .form = &form, .steps = redirect_steps, .data = &each});
        }
        not_found_ = writer.write_error("Page not found", "This page does not exist. Use the navigation to find the other pages.");
        constexpr std::string_view reason = "$REASON";
        refused_before_ = writer.write_error("Request refused", reason);
        const auto at = refused_before_.rfind(reason);
        refused_behind_ = refused_before_.substr(at + reason.size());
        refused_before_.resize(at);
        method_not_allowed_ = writer.write_error("Method not allowed", "Documentation pages support GET and HEAD only.");
    }

    [[nodiscard]] bool serves(const http::request& request) const noexcept override {
        return http::detail::is_below(request.target.path, root_);
    }

    void find_row(pipeline::row_call& call) const override {
        const std::string_view path = call.request.target.path;
        for (std::size_t i = 0; i < pages_.size(); ++i) {
            const std::string_view known = pages_[i].path;
            if (known == path) return pipeline::find_by_method(call, {{http::method::get, &rows_[i]}}, unknown_row_);
            // A page's name without its last slash: only a page that exists is redirected to.
            if (known.ends_with('/') && known.substr(0, known.size() - 1) == path)
                return pipeline::find_by_method(call, {{http::method::get, &redirect_rows_[i]}}, unknown_row_);
        }
        call.state.row = &unknown_row_;
        call.state.no_row = pipeline::no_such_resource;
    }

    [[nodiscard]] bool may_block() const noexcept override { return false; }

    void refuse(const http::refusal& refused, http::response& response) const override {
        write_refusal(response, refused.status, refused.reason);
        pipeline::add_transport_security(response, settings_.auth_url);
        pipeline::finish_refusal(policies_, refused, pipeline::client_of(refused, settings_), response);
    }

    [[nodiscard]] const account_service_settings& settings() const noexcept override { return settings_; }
    [[nodiscard]] const tollgate::policies& policies() const noexcept { return policies_; }
    [[nodiscard]] const std::string& root() const noexcept { return root_; }

private:
    struct page {
        std::string path;
        std::string_view field_lines;
        std::string body;
    };

    static result<pipeline::progress> respond_page(pipeline::row_call& call) {
        const auto& found = *static_cast<const page*>(call.row().data);
        call.response.add_prepared_lines(found.field_lines);
        call.response.body() = found.body;
        return pipeline::progress::responded;
    }
    static result<pipeline::progress> redirect(pipeline::row_call& call) {
        if (const auto location = http::field_value::from(static_cast<const page*>(call.row().data)->path))
            call.response.add("Location", *location);
        call.response.set_status(http::status::found);
        return pipeline::progress::responded;
    }
    static constexpr pipeline::step page_steps[]{{http::work_kind::other, &respond_page}};
    static constexpr pipeline::step redirect_steps[]{{http::work_kind::other, &redirect}};

    static void reject(pipeline::row_call& call, const pipeline::rejection& reason) {
        const auto& self = call.part<documentation_part>();
        const bool is_unknown = reason.status == http::status::not_found;
        if (!is_unknown && call.state.allowed.empty()) return self.write_refusal(call.response, reason.status, reason.message);
        call.response.set_status(reason.status);
        call.response.add_prepared_lines(page_field_lines);
        call.response.body() = is_unknown ? self.not_found_ : self.method_not_allowed_;
    }
    static void fail(pipeline::row_call& call, const error& failure) {
        call.response.clear();
        call.response.set_status(pipeline::to_status(failure.kind));
    }
    static void add_fields(pipeline::row_call& call) {
        pipeline::add_transport_security(call.response, call.part<documentation_part>().settings_.auth_url);
        http::add_request_id(call.response, call.observed().id());
    }
    static constexpr pipeline::response_form form{&reject, &fail, &add_fields};

    void write_refusal(http::response& response, http::status status, std::string_view reason) const {
        response.set_status(status);
        response.add_prepared_lines(refusal_field_lines);
        response.body() = refused_before_;
        html_writer{response.body()}.add("{}", reason);
        response.body().append(refused_behind_);
    }

    account_service_settings settings_;
    tollgate::policies policies_;
    std::string root_;
    std::vector<page> pages_;
    std::vector<pipeline::row> rows_, redirect_rows_;  // of the pages, in their order
    pipeline::row unknown_row_{.form = &form};
    std::string not_found_;
    std::string refused_before_, refused_behind_;  // the page of a refusal before and behind the reason
    std::string method_not_allowed_;
};

}  // namespace manual

TOLLGATE_COLD api_documentation::api_documentation(account_service_settings settings, const route_table& routes,
                                                   tollgate::policies policies)
    : part_{std::make_unique<manual::documentation_part>(std::move(settings), routes, std::move(policies))},
      judge_{std::make_unique<pipeline::judge>(part_->policies(), std::vector<const pipeline::part*>{part_.get()})} {}

TOLLGATE_COLD api_documentation::~api_documentation() = default;

TOLLGATE_DECL void api_documentation::handle(const http::request& request, http::response& response) const noexcept {
    judge_->handle(request, response);
}

TOLLGATE_DECL void api_documentation::handle(const http::refusal& refused, http::response& response) const noexcept {
    judge_->handle(refused, response);
}

TOLLGATE_DECL const std::string& api_documentation::root() const noexcept { return part_->root(); }
TOLLGATE_DECL const pipeline::part& api_documentation::part() const noexcept { return *part_; }

}  // namespace tollgate

#endif  // TOLLGATE_MANUAL_DOCUMENTATION_IPP
