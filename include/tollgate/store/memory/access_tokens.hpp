#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/outcome.hpp>
#include <tollgate/domain/personal_token.hpp>
#include <tollgate/store/memory/sharded_table.hpp>

#include <atomic>
#include <cstddef>
#include <optional>

namespace tollgate::memory {

/// The access-token verbs of `token_store`, in memory.
class access_tokens {
public:
    explicit access_tokens(std::size_t tokens_max) : tokens_max_{tokens_max} {}

    [[nodiscard]] outcome<std::optional<token_credential>> find(const digest& token) const {
        using found = outcome<std::optional<token_credential>>;
        return by_digest_.with(token, [](const token_credential* kept) -> found {
            return kept == nullptr ? std::nullopt : std::optional{*kept};
        });
    }
    TOLLGATE_DECL outcome<void> create(const new_access_token& made);
    TOLLGATE_DECL outcome<bool> revoke(const digest& token);

private:
    const std::size_t tokens_max_;
    std::atomic<std::size_t> count_ = 0;  // those that are being created included
    sharded_table<digest, token_credential> by_digest_;
};

}  // namespace tollgate::memory

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/memory/access_tokens.ipp>
#endif
