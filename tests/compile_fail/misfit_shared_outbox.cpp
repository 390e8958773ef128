// expect: tollgate: a member named changes_seen exists, but this does not satisfy shared_outbox; read tollgate/contract/outbox.hpp
// misfit 1 names changes_seen: tollgate: a member named changes_seen exists, but this does not satisfy shared_outbox; read tollgate/contract/outbox.hpp
// misfit 2 names changes_seen: tollgate: a member named changes_seen exists, but this does not satisfy shared_outbox; read tollgate/contract/outbox.hpp
#include <tollgate/store/memory.hpp>
#include <tollgate/webhooks/hook_dispatcher.hpp>

using namespace tollgate;

struct own_store : memory_store {
#if TOLLGATE_MISFIT == 1
    std::uint64_t changes_seen() const noexcept { return 0; }
#elif TOLLGATE_MISFIT == 2
    std::optional<std::uint64_t> changes_seen(auto...) const { return 0; }
#else
    std::optional<std::uint64_t> changes_seen() const noexcept { return 0; }
#endif
};

int main() {
    own_store store;
    hook_dispatcher dispatcher{store};
    return dispatcher.start() ? 0 : 1;
}
