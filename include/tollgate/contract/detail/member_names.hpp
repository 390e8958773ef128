#pragma once

#include <tollgate/base/detail/member_name.hpp>

/// `names_x<T>` for each member by which a class shows that it means to satisfy a contract that is optional for it. If it does not satisfy
/// it, that is an error: otherwise the member would be ignored without a word.
namespace tollgate::inline v0::detail {

// user_directory.hpp
TOLLGATE_DEFINE_NAMES(cached_quota_of);
TOLLGATE_DEFINE_NAMES(cached_balance_of);
TOLLGATE_DEFINE_NAMES(has_account);
TOLLGATE_DEFINE_NAMES(activity_of);

// token_store.hpp
TOLLGATE_DEFINE_NAMES(create_personal_token);
TOLLGATE_DEFINE_NAMES(personal_tokens_of);
TOLLGATE_DEFINE_NAMES(create_access_token);
TOLLGATE_DEFINE_NAMES(cached_personal_token);
TOLLGATE_DEFINE_NAMES(cached_access_token);
TOLLGATE_DEFINE_NAMES(record_personal_token_use);
TOLLGATE_DEFINE_NAMES(record_access_token_use);

// hook_store.hpp and outbox.hpp
TOLLGATE_DEFINE_NAMES(create_hook);
TOLLGATE_DEFINE_NAMES(hooks_of);
TOLLGATE_DEFINE_NAMES(delete_hook);
TOLLGATE_DEFINE_NAMES(due_hooks);
TOLLGATE_DEFINE_NAMES(deliveries_of);
TOLLGATE_DEFINE_NAMES(sweep_deliveries);
TOLLGATE_DEFINE_NAMES(changes_seen);

// oauth_store.hpp
TOLLGATE_DEFINE_NAMES(create_application);
TOLLGATE_DEFINE_NAMES(find_application);
TOLLGATE_DEFINE_NAMES(create_code);
TOLLGATE_DEFINE_NAMES(redeem_code);

// session_source.hpp
TOLLGATE_DEFINE_NAMES(create_session);
TOLLGATE_DEFINE_NAMES(find_session);
TOLLGATE_DEFINE_NAMES(is_active);
TOLLGATE_DEFINE_NAMES(password_version);
TOLLGATE_DEFINE_NAMES(set_password);

// rate_limiter.hpp
TOLLGATE_DEFINE_NAMES(windows_of);
TOLLGATE_DEFINE_NAMES(may_block);
TOLLGATE_DEFINE_NAMES(try_take);
TOLLGATE_DEFINE_NAMES(try_peek);

// observer.hpp, authenticator.hpp, sources.hpp
TOLLGATE_DEFINE_NAMES(on_attempt);
TOLLGATE_DEFINE_NAMES(on_activity);
TOLLGATE_DEFINE_NAMES(read);
TOLLGATE_DEFINE_NAMES(field);
TOLLGATE_DEFINE_NAMES(steady_now);

}  // namespace tollgate::detail
