#pragma once

#include <tollgate/pipeline/api_settings.hpp>
#include <tollgate/api/detail/openapi.hpp>
#include <tollgate/api/routes.hpp>
#include <tollgate/contract/hook_store.hpp>
#include <tollgate/contract/token_store.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/pipeline/detail/at_once.hpp>
#include <tollgate/pipeline/judge.hpp>
#include <tollgate/pipeline/route_table.hpp>
#include <tollgate/policy/default_policies.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace tollgate::inline v0 {

namespace pipeline {

template <class Authenticators, class Store>
inline constexpr bool all_authenticate_over = false;
template <class... A, class Store>
inline constexpr bool all_authenticate_over<std::tuple<A...>, Store> = (authenticator_over<policy_type<A>, Store> && ...);

}  // namespace pipeline

/// Everything under `{base_url}`: a handler, to be hosted by `server` or by any other HTTP server.
///
///     account_api api{settings, users, store};
///     account_api api{settings, users, store, default_policies().with_limiter(night_limiter{})};
///     account_api api{settings, users, store, default_policies(), account_routes() + my_routes};
///
/// Users and store are the integrator's and must outlive it. Thread rule: `handle` may be called from many threads at once.
/// Blocking: exactly if the users, the store or the limiter block.
template <class Users, class Store, class Policies = decltype(default_policies())>
class account_api {
    static constexpr bool users_fit = user_directory<Users>;
    static constexpr bool store_fits = token_store<Store> && hook_store<Store>;
    static constexpr bool authenticators_fit =
        pipeline::all_authenticate_over<decltype(Policies::authenticators), Store>;
    static_assert(users_fit, "tollgate: this is no user_directory; read tollgate/contract/user_directory.hpp");
    static_assert(store_fits, "tollgate: this is no token_store and hook_store; read tollgate/contract/token_store.hpp and "
                              "tollgate/contract/hook_store.hpp");
    static_assert(!store_fits || authenticators_fit,
                  "tollgate: one of these is no authenticator over this store; read tollgate/contract/authenticator.hpp");
    static constexpr bool fits = users_fit && store_fits && authenticators_fit;

    // Keeps the compiler from reporting the consequences of a misfit, too.
    struct no_context {
        no_context(const auto&...) noexcept {}
    };

public:
    /// Whether handling a request may block.
    static constexpr bool blocking =
        http::handler_blocks<Users>() || http::handler_blocks<Store>() || http::handler_blocks<policy_type<decltype(Policies::limiter)>>();

    /// Throws std::invalid_argument for a base_url or auth_url that is not an absolute URL, and for two routes with the same
    /// method and path.
    account_api(api_settings settings, Users& users, Store& store, Policies policies = default_policies(),
                route_table table = account_routes());

    // Routes and endpoints point into it.
    account_api(const account_api&) = delete;
    account_api& operator=(const account_api&) = delete;

    void handle(const http::request& asked, http::response& out) noexcept;
    void handle(const http::refusal& refused, http::response& out) noexcept;

    /// Judges a request as far as the thread allows.
    [[nodiscard]] http::handle_step advance(const http::request& request, http::response& response, http::handler_state&,
                                            http::thread_kind thread) noexcept {
        if (request.body_state == http::body_state::pending) return http::handle_step::needs_body;
        if (blocking && thread == http::thread_kind::io && may_block(request)) return http::handle_step::needs_worker;
        handle(request, response);
        return http::handle_step::done;
    }

    /// Every request is counted, and most ask the users or the store: where one of these may wait, any request may, but
    /// for those that are answered by what is remembered.
    [[nodiscard]] bool may_block(const http::request& asked) const noexcept {
        constexpr bool only_the_limiter = !http::handler_blocks<Users>() && !http::handler_blocks<Store>();
        if (only_the_limiter && !pipeline::limiter_may_block(policy(policies_.limiter))) return false;
        if constexpr (pipeline::can_recall<Users, Store, decltype(Policies::authenticators)>) {
            try {
                return !pipeline::answers_at_once(*this, asked);
            } catch (...) {  // what an integrator's policy throws is answered by `handle`
                return true;
            }
        } else {
            return true;
        }
    }

    /// For tests, and for hosts that have no response to use again.
    [[nodiscard]] http::response handle(const http::request& asked) noexcept {
        http::response out;
        handle(asked, out);
        return out;
    }

    /// The API's OpenAPI 3.1 description: what `{base_url}/openapi.json` answers with.
    [[nodiscard]] const std::string& openapi() const noexcept { return openapi_; }

    // What the pipeline and the endpoints read.
    [[nodiscard]] const api_settings& settings() const noexcept { return settings_; }
    [[nodiscard]] Users& users() const noexcept { return users_; }
    [[nodiscard]] Store& store() const noexcept { return store_; }
    [[nodiscard]] Policies& policies() noexcept { return policies_; }
    [[nodiscard]] const Policies& policies() const noexcept { return policies_; }
    [[nodiscard]] const route_table& table() const noexcept { return table_; }
    [[nodiscard]] const auto& context() const noexcept { return context_; }
    [[nodiscard]] std::string_view root() const noexcept { return root_; }
    [[nodiscard]] std::string_view docs_url() const noexcept { return docs_url_; }

private:
    void answer_thrown(std::string_view what, const http::request& asked, pipeline::judgement& found, http::response& out) noexcept;

    api_settings settings_;
    Users& users_;
    Store& store_;
    Policies policies_;
    route_table table_;
    std::vector<route_pattern> patterns_;
    std::string root_;
    std::string docs_url_;
    std::string openapi_;
    std::conditional_t<fits, api_context, no_context> context_;
};

template <class Users, class Store, class Policies>
account_api<Users, Store, Policies>::account_api(api_settings settings, Users& users, Store& store, Policies policies, route_table table)
    : settings_{std::move(settings)},
      users_{users},
      store_{store},
      policies_{std::move(policies)},
      table_{std::move(table)},
      patterns_{pipeline::patterns_of(table_)},
      root_{path_of(settings_.base_url)},
      docs_url_{settings_.auth_url + "/docs/"},
      context_{users_, store_, policy(policies_.target_rule), policy(policies_.random), settings_, openapi_} {
    for (const auto* url : {&settings_.base_url, &settings_.auth_url})
        if (!url->starts_with("https://") && !url->starts_with("http://"))
            throw std::invalid_argument{"tollgate: '" + *url + "' is no absolute http or https URL"};
    policy(policies_.router).build(patterns_);
    openapi_ = make_openapi(settings_, table_);
}

template <class Users, class Store, class Policies>
void account_api<Users, Store, Policies>::handle(const http::request& asked, http::response& out) noexcept {
    if constexpr (fits) {
        pipeline::judgement found;
        try {
            pipeline::run(*this, asked, found, out);
        } catch (const std::exception& thrown) {
            answer_thrown(thrown.what(), asked, found, out);
        } catch (...) {
            answer_thrown("something that is no std::exception", asked, found, out);
        }
    }
}

template <class Users, class Store, class Policies>
void account_api<Users, Store, Policies>::handle(const http::refusal& refused, http::response& out) noexcept {
    if constexpr (fits) {
        try {
            pipeline::run(*this, refused, out);
        } catch (...) {
            // Only the heap throws here: without it there is a status, and nothing to say it with.
            out.clear();
            out.set_status(refused.status);
        }
    }
}

template <class Users, class Store, class Policies>
void account_api<Users, Store, Policies>::answer_thrown(std::string_view what, const http::request& asked,
                                                               pipeline::judgement& found, http::response& out) noexcept {
    try {
        pipeline::answer_thrown(*this, what, asked, found, out);
    } catch (...) {
        out.clear();
        out.set_status(http::status::internal_server_error);
    }
}

}  // namespace tollgate
