// expect: tollgate: this does not satisfy key_value_store; read tollgate/contract/key_value_store.hpp
// misfit 1 names read: tollgate: this does not satisfy key_value_store; read tollgate/contract/key_value_store.hpp
// misfit 2 names scan: tollgate: this does not satisfy key_value_transaction; read tollgate/contract/key_value_store.hpp
// misfit 3 names commits_seen: tollgate: a member named commits_seen exists, but this does not satisfy shared_key_value_store; read tollgate/contract/key_value_store.hpp
#include <tollgate/contract/key_value_store.hpp>

using namespace tollgate;

struct rows {
    result<bool> get(std::string_view, std::string&) { return false; }
    result<void> put(std::string_view, std::string_view) { return {}; }
    result<void> erase(std::string_view) { return {}; }
#if TOLLGATE_MISFIT != 2
    result<void> scan(std::string_view, std::string_view, std::size_t, key_value_visitor) { return {}; }
#endif
};

struct own_database {
    result<void> transact(key_value_work work) { return work(all); }
#if TOLLGATE_MISFIT != 1
    result<void> read(key_value_work work) { return work(all); }
#endif
#if TOLLGATE_MISFIT == 3
    std::uint64_t commits_seen() const noexcept { return 0; }
#endif
    rows all;
};

int main() {
    own_database database;
    key_value_store_ref store{database};
    return store.may_block() ? 0 : 1;
}
