#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_PERSONAL_TOKENS_IPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_PERSONAL_TOKENS_IPP

#include <tollgate/store/detail/postgres/store_impl.ipp>

#include <string>

namespace tollgate::inline v0::postgres_detail {

/// Verbs of `token_store`.
struct personal_token_verbs : verbs {
    using verbs::verbs;

    result<token_id> create_personal_token(const new_personal_token& token, std::size_t tokens_per_user_max) noexcept {
        return impl_->with_batch([&](postgres::batch& batch) -> result<token_id> {
            postgres::lock_until_commit(batch, "personal_tokens " + std::to_string(token.user.value()));
            const auto existing = batch.add(sql::statements::find_repeated_personal_token, token.username, token.user, token.secret_digest);
            batch.add(sql::statements::insert_personal_token, token.user, token.username, token.secret_digest, token.description,
                      token.scopes, token.created_at, token.expires_at, tokens_per_user_max);
            auto results = impl_->database.run(batch);
            if (!results) return personal_token_exists(std::move(results).error());
            const bool is_repeated = (*results)[existing].count() > 0;
            const auto id = sql::read_value<token_id>(is_repeated ? (*results)[existing] : results->back());
            if (!id) return id.error();
            if (!*id) return too_many_personal_tokens(tokens_per_user_max);
            impl_->changes->forget_key(impl_->personal_tokens.hash_of(token.username));
            return **id;
        });
    }

    result<bool> renew_personal_token(user_id user, token_id id, const personal_token_renewal& renewed) noexcept {
        return detail::without_exceptions([&]() -> result<bool> {
            auto done = impl_->database.execute(sql::statements::renew_personal_token, renewed.secret_digest, renewed.created_at,
                                                renewed.expires_at, id, user, renewed.replaced);
            if (!done) return impl_->forget_all_after(std::move(done).error());
            impl_->changes->forget(user);
            return done->affected() > 0;
        });
    }
};

}  // namespace tollgate::postgres_detail

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_PERSONAL_TOKENS_IPP
