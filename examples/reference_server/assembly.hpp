#pragma once

#include "chosen_limiter.hpp"
#include "failure.hpp"
#include "handler_settings.hpp"
#include "observers.hpp"
#include "user_passwords.hpp"

#include <tollgate/api/account_service.hpp>
#include <tollgate/api/sign_in.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/base/system_sources.hpp>
#include <tollgate/policy/default_policies.hpp>
#include <tollgate/web/cookie_sessions.hpp>
#include <tollgate/web/german.hpp>
#include <tollgate/web/page_theme.hpp>
#include <tollgate/webhooks/hook_dispatcher.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <string>

namespace reference {

/// The users, the store of everything else, and the clock that both use.
template <class Directory, class Store, class Clock>
struct stored_data {
    Directory& users;
    Store& store;
    Clock clock;
};
template <class Directory, class Store, class Clock>
stored_data(Directory&, Store&, Clock) -> stored_data<Directory, Store, Clock>;

/// The library's `account_service` with sign-in by password, and the dispatcher of its webhooks.
template <class Directory, class Store, class Clock>
class assembly {
    static tollgate::policies make_policies(const settings& settings, const Clock& clock, chosen_limiter& limiter, observers& observer) {
        return tollgate::default_policies()
            .with_clock(clock)
            .with_limiter(std::ref(limiter))
            .with_observer(std::ref(observer))
            .with_target_rule(to_target_rule(settings));
    }
    static tollgate::plain_theme make_theme() {
        tollgate::plain_theme theme;
        theme.languages = {tollgate::page_texts{}, tollgate::german_texts()};
        return theme;
    }
    /// Browsers that have signed in stay known after a restart, and to all nodes.
    static std::string browser_key_of(Directory& users) {
        std::array<std::byte, 32> random;
        if (!tollgate::system_random{}.fill(random)) throw run_error{"OpenSSL returned no random bytes."};
        const auto key = tollgate::make_secret(tollgate::secret_kind::session, random);
        return expect(users.shared_key("known browsers", key), "--store: cannot read the key of known browsers");
    }
    using passwords_type = user_passwords<Directory>;
    using sessions_type = tollgate::cookie_sessions<Store, passwords_type>;

public:
    /// `urls` are those that clients use. The data and the observers must outlive it.
    assembly(const settings& settings, const public_urls& urls, const tollgate::service_catalog& services,
             const stored_data<Directory, Store, Clock>& data, observers& observer)
        : limiter_{settings, observer.log},
          passwords_{data.users},
          sessions_{{.auth_url = urls.auth_url, .cookie_name = settings.cookie_name, .browser_key = browser_key_of(data.users)},
                    data.store,
                    passwords_},
          service_{to_service_settings(settings, urls, services), data.users, data.store, sessions_,
                   make_policies(settings, data.clock, limiter_, observer), tollgate::account_routes(), make_theme()},
          dispatcher_{data.store, make_dispatch_settings(settings, data.users), service_.policies()} {
        observer.log.set_audit_log([&users = data.users](const tollgate::activity& activity) { return users.record(activity); });
    }

    [[nodiscard]] tollgate::account_service& service() noexcept { return service_; }
    [[nodiscard]] auto& dispatcher() noexcept { return dispatcher_; }
    [[nodiscard]] chosen_limiter& limiter() noexcept { return limiter_; }

private:
    /// The webhooks of a disabled user stop with them. Only a database has disabled users.
    [[nodiscard]] static tollgate::hook_dispatch_settings make_dispatch_settings(const settings& settings, Directory& users) {
        auto made = to_dispatch_settings(settings);
        if constexpr (requires(const tollgate::account_ref& account) { users.owner_of(account); })
            made.is_owner_active = [&users](const tollgate::account_ref& account) -> tollgate::result<bool> {
                const auto owner = users.owner_of(account);
                if (!owner) return owner.error();
                if (!*owner) return false;
                return users.is_active(**owner);
            };
        return made;
    }

    chosen_limiter limiter_;
    passwords_type passwords_;
    sessions_type sessions_;
    tollgate::account_service service_;
    tollgate::hook_dispatcher dispatcher_;
};

}  // namespace reference
