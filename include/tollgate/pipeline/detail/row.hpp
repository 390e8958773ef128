#pragma once
#ifndef TOLLGATE_PIPELINE_DETAIL_ROW_HPP
#define TOLLGATE_PIPELINE_DETAIL_ROW_HPP

#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/observer.hpp>
#include <tollgate/contract/rate_limiter.hpp>
#include <tollgate/contract/router.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/model/quota.hpp>
#include <tollgate/model/resource.hpp>
#include <tollgate/model/service_catalog.hpp>
#include <tollgate/model/settings.hpp>
#include <tollgate/pipeline/detail/authenticate.hpp>
#include <tollgate/pipeline/detail/error_response.hpp>
#include <tollgate/pipeline/detail/observed_request.hpp>
#include <tollgate/pipeline/route_table.hpp>
#include <tollgate/policy/policies.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What `judge` knows of a path: a row of a part. The API, OAuth, the pages and the documentation are parts.
namespace tollgate::inline v0::pipeline {

struct row_call;

/// What a function of a row did.
enum class progress : std::uint8_t {
    goes_on,    ///< its part of the work; the next function is called
    waits,      ///< nothing, because it has to wait and this thread must not: it is called again on a worker
    responded,  ///< it wrote the response
};

/// How the callers of a row prove who they are. The functions set `request_state::auth`.
struct caller_rule {
    bool in_body = false;  ///< the credentials may be in the body, so the caller is found when it has arrived
    http::work_kind work = http::work_kind::other;  ///< what `find` waits for
    void (*read)(row_call&) = nullptr;             ///< reads the head; called again before the caller is found again
    progress (*find)(row_call&) = nullptr;         ///< looks the caller up; may be null
    progress (*record_use)(row_call&) = nullptr;   ///< of the credentials, waiting for `work_kind::token_uses`; may be null
    http::work_kind user_work = http::work_kind::users;  ///< what `find_user` waits for
    progress (*find_user)(row_call&) = nullptr;    ///< looks up what is known of the caller's user; may be null
};

/// Which window a request of a row counts in. `count` decides `request_state::limit`, or leaves it empty.
struct limit_rule {
    progress (*count)(row_call&) = nullptr;
};

/// Which body a row takes. A row without this rule has no body: it is answered when its head has arrived.
struct body_rule {
    bool (*is_cross_site)(const row_call&) = nullptr;  ///< returns true for a form that another site sent; may be null
    progress (*check)(row_call&) = nullptr;            ///< refuses by the head, before the body has arrived and again after it
    progress (*read)(row_call&) = nullptr;             ///< reads the body; may be null
};

/// How the responses of a row are written.
struct response_form {
    void (*reject)(row_call&, const rejection&) = nullptr;  ///< a request that a stage refuses
    void (*fail)(row_call&, const error&) = nullptr;        ///< the error of a store, a directory or an endpoint
    void (*add_fields)(row_call&) = nullptr;                ///< the fields of every response
};

/// A part of an endpoint, and the one kind of work that it waits for. An error is written by the row's `fail`.
struct step {
    http::work_kind work = http::work_kind::other;
    result<progress> (*run)(row_call&) = nullptr;
    bool decides = false;  ///< it looks up what allows the request: if time passes before the endpoint acts, the first such step runs again
};

struct row {
    std::string_view pattern{};            ///< the path in logs and metrics, with static storage
    const caller_rule* caller = nullptr;   ///< null: credentials are not read
    const limit_rule* limit = nullptr;     ///< null: requests are not counted
    const body_rule* body = nullptr;       ///< null: the body is not awaited
    const response_form* form = nullptr;
    access_rule access = open_to_all;
    resource_id resource{};                ///< the resource that tokens must be for
    std::size_t body_bytes_max = no_body_bound;
    std::span<const step> steps{};         ///< in this order; the last one responds
    const void* data = nullptr;            ///< what the endpoint needs; belongs to the part
};

/// What a part keeps for one request.
struct kept_data {
    kept_data() = default;
    kept_data(const kept_data&) = delete;
    kept_data& operator=(const kept_data&) = delete;
    virtual ~kept_data() = default;
    /// What observers get to know of an OAuth request.
    [[nodiscard]] virtual oauth_outcome outcome() const noexcept { return {}; }
    /// Forgets what steps with `decides` have looked up.
    virtual void forget() noexcept {}
};

/// A group of paths with their rows.
class part {
public:
    part() = default;
    part(const part&) = delete;
    part& operator=(const part&) = delete;
    virtual ~part() = default;

    /// Returns true if the path of the request belongs to this part.
    [[nodiscard]] virtual bool serves(const http::request& request) const noexcept = 0;
    /// Finds the row of a request, which may be one for an unknown path: sets `row` and `pattern`, and where the request has no endpoint
    /// also `no_row` and `allowed`.
    virtual void find_row(row_call& call) const = 0;
    /// Returns the settings of the part.
    [[nodiscard]] virtual const account_service_settings& settings() const noexcept = 0;
    /// Responds to a request that the server refused. Never waits.
    virtual void refuse(const http::refusal& refused, http::response& response) const = 0;
    /// Returns true if a request may have to wait.
    [[nodiscard]] virtual bool may_block() const noexcept = 0;
};

/// The stage at which `judge` continues.
enum class stage : std::uint8_t { head, caller, use, user, limit, checks, body, again, endpoint };

/// What is known of a request so far.
struct request_state {
    request_state() noexcept;

    stage next = stage::head;
    http::work_kind waits_for = http::work_kind::other;  ///< kind of work that `next` waits for
    bool user_agent_accepted = false;
    bool is_preflight = false;
    bool is_cross_site = false;  ///< a form that another site sent
    bool has_waited = false;     ///< for its body or a worker
    bool has_body = false;       ///< the body has been read
    bool has_acted = false;      ///< a step has changed something, so that the request is not judged again
    std::uint8_t repeated = 0;  ///< number of repeated judgements
    std::uint8_t step = 0;      ///< index of the next step
    const pipeline::part* part = nullptr;
    const pipeline::row* row = nullptr;
    std::string_view pattern;   ///< the path in logs and metrics; empty for an unknown path
    request_start start;
    instant now;        ///< when the head arrived, or when the request was judged again
    instant judged_at;  ///< when the caller was found
    ip_address client;
    authentication auth;
    std::optional<quota> own_quota;       ///< the caller's, if it is not the default
    std::optional<limit_decision> limit;  ///< decision for the caller or the client's address; empty if nothing was counted yet
    std::optional<rejection> no_row;      ///< why the request has no endpoint: 404, 405 or 501
    method_set allowed;                   ///< the methods of the path, for OPTIONS and 405; may be empty
    std::optional<route_match> route;     ///< the API's match
    const service* route_service = nullptr;  ///< service that `{service}` in the path names
    std::size_t body_bytes_max = no_body_bound;  ///< bound of a body that has yet to arrive
    const char* route_path = nullptr;  ///< address of the path when `route` was found; captures are views of it
    std::unique_ptr<kept_data> kept;   ///< what the part keeps
};
// Defined outside of the class, because `request_state()` would first fill all of it, 1.6 kB, with zeros.
inline request_state::request_state() noexcept = default;

/// A request on its way to its endpoint.
struct row_call {
    const http::request& request;
    http::response& response;
    request_state& state;
    const tollgate::policies& policies;
    http::thread_kind thread;  ///< `worker` if the function that is called may wait for its kind of work

    [[nodiscard]] bool may_wait() const noexcept { return thread == http::thread_kind::worker; }
    [[nodiscard]] const pipeline::row& row() const noexcept { return *state.row; }
    /// The part of the row, of a class that the function knows.
    template <class Part>
    [[nodiscard]] const Part& part() const noexcept {
        return static_cast<const Part&>(*state.part);
    }
    /// What the part keeps for the request, of a class that the function knows; created by the first call.
    template <class Kept>
    [[nodiscard]] Kept& kept() const {
        if (state.kept == nullptr) state.kept = std::make_unique<Kept>();
        return static_cast<Kept&>(*state.kept);
    }
    [[nodiscard]] observed_request observed() const noexcept { return {state.start, request, state.client, state.pattern}; }
    /// Refuses the request in the form of its row.
    progress reject(const rejection& reason) {
        state.row->form->reject(*this, reason);
        return progress::responded;
    }
};

/// A row of a path for a method, GET for HEAD too; null if the path does not support the method.
struct method_row {
    http::method method;
    const pipeline::row* row;
};

/// Finds a row by method among the rows of one path, and sets the state. A request without a row is an OPTIONS, or is refused;
/// `without_endpoint` is the row of its response.
inline void find_by_method(row_call& call, std::initializer_list<method_row> rows, const row& without_endpoint) {
    request_state& state = call.state;
    const auto method = call.request.method == http::method::head ? http::method::get : call.request.method;
    for (const method_row& each : rows) {
        if (each.row == nullptr) continue;
        state.pattern = each.row->pattern;
        if (each.method == method) {
            state.row = each.row;
            return;
        }
    }
    state.row = &without_endpoint;
    for (const method_row& each : rows)
        if (each.row != nullptr) state.allowed.add(each.method);
    if (method == http::method::options) return;
    state.no_row = rejection{method == http::method::other ? http::status::not_implemented : http::status::method_not_allowed,
                             "This path does not support this method; see the Allow header.", about_requests};
}

}  // namespace tollgate::pipeline

#endif  // TOLLGATE_PIPELINE_DETAIL_ROW_HPP
