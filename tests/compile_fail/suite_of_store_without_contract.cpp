// expect: tollgate: this does not satisfy hook_store; read tollgate/contract/hook_store.hpp
// misfit 1 names delete_hook: tollgate: this does not satisfy hook_store; read tollgate/contract/hook_store.hpp
// misfit 2 names create_hook: tollgate: this does not satisfy hook_store; read tollgate/contract/hook_store.hpp
// misfit 3 names create_session: tollgate: this does not satisfy session_store; read tollgate/contract/session_source.hpp
// misfit 4 names delete_hook: tollgate: this does not satisfy hook_store; read tollgate/contract/hook_store.hpp
// misfit 5 names append_event: tollgate: this does not satisfy outbox; read tollgate/contract/outbox.hpp
// misfit 6 names outbox: tollgate: make() must return a token_store, hook_store (with or without an outbox)
#include <tollgate/store/memory.hpp>
#include <tollgate/testing/store_suite.hpp>

using namespace tollgate;
using namespace testing;

struct own_store : memory_store {
#if TOLLGATE_MISFIT == 1 || TOLLGATE_MISFIT == 4
    result<bool> delete_hook(hook_id);  // hides the one that takes the account
#elif TOLLGATE_MISFIT == 5
    void append_event() = delete;
#endif
};

struct no_store {};

int main() {
    const auto ignore = [](const case_result&) {};
#if TOLLGATE_MISFIT == 2
    return run<contracts::hook_store, contracts::outbox>([] { return std::make_unique<no_store>(); }, ignore) ? 0 : 1;
#elif TOLLGATE_MISFIT == 3
    return run<contracts::session_store>([] { return no_store{}; }, ignore) ? 0 : 1;
#elif TOLLGATE_MISFIT == 4
    return run<contracts::outbox>([] { return std::make_unique<own_store>(); }, ignore) ? 0 : 1;
#elif TOLLGATE_MISFIT == 6
    return run([] { return no_store{}; }, ignore) ? 0 : 1;
#else
    return run<contracts::token_store, contracts::hook_store, contracts::outbox>([] { return std::make_unique<own_store>(); }, ignore) ? 0 : 1;
#endif
}
