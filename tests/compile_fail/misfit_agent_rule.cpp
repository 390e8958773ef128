// expect: tollgate: this does not satisfy agent_rule; read tollgate/contract/authenticator.hpp
#include <tollgate/policy/default_policies.hpp>

using namespace tollgate;

struct own_agent_rule {
#if defined(TOLLGATE_MISFIT)
    bool accepts(std::string_view user_agent) const { return !user_agent.empty(); }  // may throw
#else
    bool accepts(std::string_view user_agent) const noexcept { return !user_agent.empty(); }
#endif
};

int main() {
    [[maybe_unused]] const auto policies = default_policies().with_agent_rule(own_agent_rule{});
}
