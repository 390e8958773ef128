#pragma once

#include "chosen_limiter.hpp"
#include "handler_settings.hpp"
#include "request_log.hpp"
#include "user_passwords.hpp"

#include <tollgate/api/account_api.hpp>
#include <tollgate/http/site.hpp>
#include <tollgate/manual/documentation.hpp>
#include <tollgate/oauth/authorization_server.hpp>
#include <tollgate/pages/account_pages.hpp>
#include <tollgate/policy/default_policies.hpp>
#include <tollgate/web/cookie_sessions.hpp>
#include <tollgate/web/plain_theme.hpp>

#include <functional>

namespace reference {

/// All handlers, on one listener, with one limiter, one log and one look, and the clock that the store goes by.
template <class Directory, class Store, class Clock>
class handlers {
    static auto make_policies(const settings& with, const Clock& clock, chosen_limiter& limiter, request_log& log) {
        return tollgate::default_policies()
            .with_clock(clock)
            .with_limiter(std::ref(limiter))
            .with_observer(std::ref(log))
            .with_target_rule(to_target_rule(with));
    }

    using policies =
        decltype(make_policies(std::declval<settings>(), std::declval<Clock>(),
                               std::declval<chosen_limiter&>(), std::declval<request_log&>()));
    using theme = std::reference_wrapper<tollgate::plain_theme>;
    using passwords_type = user_passwords<Directory>;
    using sessions_type = tollgate::cookie_sessions<Store, passwords_type>;
    using api_type = tollgate::account_api<Directory, Store, policies>;
    using oauth_type = tollgate::authorization_server<sessions_type, Store, policies, theme>;
    using pages_type = tollgate::account_pages<Directory, sessions_type, Store, policies, theme>;

public:
    static constexpr bool blocking = true;

    handlers(const settings& with, const tollgate::api_settings& shared, Directory& users, Store& store,
             const Clock& clock, request_log& log)
        : hosts_{to_allowed_hosts(with, shared)},
          limiter_{with, log},
          passwords_{users},
          sessions_{to_session_settings(shared), store, passwords_},
          api_{shared, users, store, make_policies(with, clock, limiter_, log)},
          oauth_{to_oauth_settings(with, shared), sessions_, store, make_policies(with, clock, limiter_, log), theme_},
          pages_{to_page_settings(shared), users, sessions_, store, make_policies(with, clock, limiter_, log), theme_} {
    }

    /// Every request names its program, those for people's pages too; the API words the refusal, with its limit fields.
    void handle(const tollgate::http::request& asked, tollgate::http::response& out) noexcept {
        if (!hosts_.allows(asked)) return refuse_host(asked, out);
        if (names_its_agent(asked)) site_.handle(asked, out);
        else api_.handle(asked, out);
    }
    void handle(const tollgate::http::refusal& refused, tollgate::http::response& out) noexcept {
        site_.handle(refused, out);
    }
    [[nodiscard]] tollgate::http::handle_step advance(const tollgate::http::request& request, tollgate::http::response& response,
                                                      tollgate::http::handler_state& state,
                                                      tollgate::http::thread_kind thread) noexcept {
        if (!hosts_.allows(request)) {
            refuse_host(request, response);
            return tollgate::http::handle_step::done;
        }
        return names_its_agent(request) ? site_.advance(request, response, state, thread)
                                        : api_.advance(request, response, state, thread);
    }

    [[nodiscard]] const tollgate::api_settings& settings_told() const noexcept { return api_.settings(); }

private:
    void refuse_host(const tollgate::http::request& request, tollgate::http::response& response) noexcept {
        api_.handle(tollgate::http::refusal{tollgate::http::status::misdirected_request,
                                            "This server does not serve the requested host.", request.peer, request.secure},
                    response);
    }

    static bool names_its_agent(const tollgate::http::request& asked) noexcept {
        return tollgate::require_agent{}.accepts(asked.fields.find(tollgate::http::field_id::user_agent));
    }

    tollgate::http::allowed_hosts hosts_;
    chosen_limiter limiter_;
    tollgate::plain_theme theme_value_;
    theme theme_{theme_value_};
    passwords_type passwords_;
    sessions_type sessions_;
    api_type api_;
    oauth_type oauth_;
    tollgate::api_documentation documentation_{api_.settings(), api_.table(), oauth_.settings()};
    pages_type pages_;
    // The API first, because most ask for it; and last, for what is nobody's. Where people's pages are, a path that leads
    // nowhere is answered by a page.
    tollgate::http::site<api_type, tollgate::api_documentation, oauth_type, pages_type, pages_type, api_type> site_{
        tollgate::http::mounted(std::string{api_.root()}, api_),
        tollgate::http::mounted(documentation_.root(), documentation_), tollgate::http::mounted(oauth_),
        tollgate::http::mounted(pages_), tollgate::http::mounted(pages_.renderer().site().root + "/en", pages_),
        tollgate::http::mounted("", api_)};
};

}  // namespace reference
