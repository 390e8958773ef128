// expect: tollgate: this is no hook_store; read tollgate/contract/hook_store.hpp
// misfit 1 names delete_hook: tollgate: this is no hook_store; read tollgate/contract/hook_store.hpp
#include <tollgate/store/memory.hpp>
#include <tollgate/testing/store_suite.hpp>

using namespace tollgate;

struct own_store : memory_store {
#if defined(TOLLGATE_MISFIT)
    result<bool> delete_hook(hook_id);  // hides the one that asks for the account
#endif
};

int main() {
    using namespace testing;
    return run<contracts::token_store, contracts::hook_store>([] { return std::make_unique<own_store>(); }, [](const case_result&) {}) ? 0 : 1;
}
