#pragma once
#ifndef TOLLGATE_TESTING_DETAIL_CONTRACTS_HPP
#define TOLLGATE_TESTING_DETAIL_CONTRACTS_HPP

#include <tollgate/contract/hook_store.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/contract/outbox.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/contract/token_store.hpp>
#include <tollgate/testing/detail/test_case.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tollgate::inline v0::testing {

/// The contracts of stores, as template arguments (a concept cannot be one):
///
///     run<contracts::token_store, contracts::hook_store>(make, report);
///
/// `is_met` says whether a store satisfies the concept, `is_begun` whether it has a member that is only in this contract, and
/// `require` stops the compiler with the concept's reason. A contract that `needs` another one is not tested without it.
namespace contracts {

struct token_store {
    static constexpr std::string_view name = "token_store";
    template <class S>
    static constexpr bool is_met = tollgate::token_store<S>;
    template <class S>
    static constexpr bool is_begun = requires { &S::create_personal_token; } || requires { &S::personal_tokens_of; };
    template <class S>
    static consteval void require() {
        static_assert(tollgate::token_store<S>, "tollgate: this does not satisfy token_store; read tollgate/contract/token_store.hpp");
    }
};

struct access_token_store {
    static constexpr std::string_view name = "access_token_store";
    template <class S>
    static constexpr bool is_met = tollgate::access_token_store<S> && tollgate::credential_source<S>;
    template <class S>
    static constexpr bool is_begun = requires { &S::create_access_token; };
    template <class S>
    static consteval void require() {
        static_assert(tollgate::access_token_store<S>,
                      "tollgate: this does not satisfy access_token_store; read tollgate/contract/token_store.hpp");
        static_assert(tollgate::credential_source<S>,
                      "tollgate: this does not satisfy credential_source; read tollgate/contract/token_store.hpp");
    }
};

struct credential_cache {
    static constexpr std::string_view name = "credential_cache";
    using needs = token_store;
    template <class S>
    static constexpr bool is_met = tollgate::token_store<S> && tollgate::credential_cache<S>;
    template <class S>
    static constexpr bool is_begun = requires { &S::cached_credential; };
    template <class S>
    static consteval void require() {
        if constexpr (tollgate::token_store<S>)
            static_assert(tollgate::credential_cache<S>,
                          "tollgate: this does not satisfy credential_cache; read tollgate/contract/token_store.hpp");
        else
            token_store::require<S>();
    }
};

struct use_recorder {
    static constexpr std::string_view name = "use_recorder";
    template <class S>
    static constexpr bool is_met = tollgate::use_recorder<S>;
    template <class S>
    static constexpr bool is_begun = requires { &S::record_use; };
    template <class S>
    static consteval void require() {
        static_assert(tollgate::use_recorder<S>, "tollgate: this does not satisfy use_recorder; read tollgate/contract/token_store.hpp");
    }
};

struct hook_store {
    static constexpr std::string_view name = "hook_store";
    template <class S>
    static constexpr bool is_met = tollgate::hook_store<S>;
    template <class S>
    static constexpr bool is_begun = requires { &S::create_hook; } || requires { &S::hooks_of; } || requires { &S::delete_hook; };
    template <class S>
    static consteval void require() {
        static_assert(tollgate::hook_store<S>, "tollgate: this does not satisfy hook_store; read tollgate/contract/hook_store.hpp");
    }
};

struct outbox {
    static constexpr std::string_view name = "outbox";
    using needs = hook_store;
    template <class S>
    static constexpr bool is_met = tollgate::hook_store<S> && tollgate::outbox<S>;
    template <class S>
    static constexpr bool is_begun = requires { &S::due_hooks; } || requires { &S::deliveries_of; };
    template <class S>
    static consteval void require() {
        if constexpr (tollgate::hook_store<S>)
            static_assert(tollgate::outbox<S>, "tollgate: this does not satisfy outbox; read tollgate/contract/outbox.hpp");
        else
            hook_store::require<S>();
    }
};

struct shared_outbox {
    static constexpr std::string_view name = "shared_outbox";
    using needs = outbox;
    template <class S>
    static constexpr bool is_met = outbox::is_met<S> && tollgate::shared_outbox<S>;
    template <class S>
    static constexpr bool is_begun = requires { &S::changes_seen; };
    template <class S>
    static consteval void require() {
        if constexpr (outbox::is_met<S>)
            static_assert(tollgate::shared_outbox<S>, "tollgate: this does not satisfy shared_outbox; read tollgate/contract/outbox.hpp");
        else
            outbox::require<S>();
    }
};

struct backlog_source {
    static constexpr std::string_view name = "backlog_source";
    using needs = outbox;
    template <class S>
    static constexpr bool is_met = outbox::is_met<S> && tollgate::backlog_source<S>;
    template <class S>
    static constexpr bool is_begun = requires { &S::backlog; };
    template <class S>
    static consteval void require() {
        if constexpr (outbox::is_met<S>)
            static_assert(tollgate::backlog_source<S>, "tollgate: this does not satisfy backlog_source; read tollgate/contract/outbox.hpp");
        else
            outbox::require<S>();
    }
};

struct application_store {
    static constexpr std::string_view name = "application_store";
    template <class S>
    static constexpr bool is_met = tollgate::application_store<S>;
    template <class S>
    static constexpr bool is_begun = requires { &S::create_application; } || requires { &S::find_application; };
    template <class S>
    static consteval void require() {
        static_assert(tollgate::application_store<S>,
                      "tollgate: this does not satisfy application_store; read tollgate/contract/oauth_store.hpp");
    }
};

struct oauth_store {
    static constexpr std::string_view name = "oauth_store";
    template <class S>
    static constexpr bool is_met = tollgate::oauth_store<S>;
    template <class S>
    static constexpr bool is_begun = requires { &S::create_code; } || requires { &S::redeem_code; };
    template <class S>
    static consteval void require() {
        static_assert(tollgate::oauth_store<S>, "tollgate: this does not satisfy oauth_store; read tollgate/contract/oauth_store.hpp");
    }
};

struct session_store {
    static constexpr std::string_view name = "session_store";
    template <class S>
    static constexpr bool is_met = tollgate::session_store<S>;
    template <class S>
    static constexpr bool is_begun = requires { &S::create_session; } || requires { &S::find_session; };
    template <class S>
    static consteval void require() {
        static_assert(tollgate::session_store<S>,
                      "tollgate: this does not satisfy session_store; read tollgate/contract/session_source.hpp");
    }
};

}  // namespace contracts

/// One entry of the report: whether it is tested that changes survive a restart. A store that loses them would pass otherwise, with
/// nothing in the report that says so.
inline void add_durability_entry(std::vector<test_case>& to, bool has_reopen) {
    const auto report = [has_reopen] { return std::string{has_reopen ? "tested with reopen()" : "not tested: there is no reopen()"}; };
    to.push_back(test_case{std::string{"durability"}, report});
}

/// One entry of the report for each contract: found; not found; or a failure, for a store that has some of its members, but not
/// as the contract has them. Without it a misspelled member would only make the suite shorter.
template <class Store, class... Contract>
void add_contract_cases(std::vector<test_case>& to) {
    const auto add = [&to]<class C>(C) {
        const std::string contract{C::name};
        const auto add_one = [&](auto body) { to.push_back(test_case{"contract: " + contract, std::move(body)}); };
        if constexpr (C::template is_met<Store>) {
            add_one([] { return std::string{"found"}; });
        } else if constexpr (C::template is_begun<Store>) {
            add_one([contract]() -> std::string {
                if constexpr (requires { typename C::needs; })
                    if constexpr (!C::needs::template is_met<Store>)
                        throw failed{"its rules are not tested, because the store does not satisfy " + std::string{C::needs::name}};
                throw failed{"the store has members of " + contract + ", but does not satisfy it; static_assert(tollgate::" + contract +
                             "<your_store>) makes the compiler say why"};
            });
        } else {
            add_one([] { return std::string{"not found: its rules are not tested"}; });
        }
    };
    (add(Contract{}), ...);
}

}  // namespace tollgate::testing

#endif  // TOLLGATE_TESTING_DETAIL_CONTRACTS_HPP
