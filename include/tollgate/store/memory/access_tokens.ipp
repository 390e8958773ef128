#pragma once

#include <tollgate/store/memory/access_tokens.hpp>

#include <string>

namespace tollgate::memory {

TOLLGATE_DECL outcome<void> access_tokens::create(const new_access_token& made) {
    // Counted first and given back after, whichever way this ends, so that parallel calls cannot pass the bound.
    struct place {
        std::atomic<std::size_t>& count;
        const bool free;
        bool taken = false;

        place(std::atomic<std::size_t>& count_, std::size_t max) : count{count_}, free{count_.fetch_add(1) < max} {}
        ~place() {
            if (!taken) count.fetch_sub(1);
        }
    } here{count_, tokens_max_};

    if (!here.free)
        return unavailable("The memory store holds " + std::to_string(tokens_max_) +
                           " access tokens, as many as it may (memory_settings::access_tokens_max).");
    here.taken = by_digest_.insert(
        made.token_digest, {made.user, made.token_digest, made.scopes, made.expires_at, made.application});
    if (!here.taken) return problem{problem_kind::conflict, "This access token exists already.", {}};
    return {};
}

TOLLGATE_DECL outcome<bool> access_tokens::revoke(const digest& token) {
    const bool was_there = by_digest_.erase(token);
    if (was_there) count_.fetch_sub(1);
    return was_there;
}

}  // namespace tollgate::memory
