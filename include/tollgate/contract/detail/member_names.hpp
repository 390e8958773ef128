#pragma once
#ifndef TOLLGATE_CONTRACT_DETAIL_MEMBER_NAMES_HPP
#define TOLLGATE_CONTRACT_DETAIL_MEMBER_NAMES_HPP

#include <tollgate/base/detail/member_name.hpp>

/// `names_x<T>` for each member by which a class shows that it means to satisfy a contract that is optional for it. If it does not satisfy
/// it, that is an error: otherwise the member would be ignored silently. A private or privately inherited name counts, too: an error that
/// names it is better than a limit that is not applied. Names that a class may well have for another purpose are not listed.
namespace tollgate::inline v0::detail {

// user_directory.hpp
TOLLGATE_DEFINE_NAMES(quota_of);
TOLLGATE_DEFINE_NAMES(has_account);
TOLLGATE_DEFINE_NAMES(activity_of);

// outbox.hpp
TOLLGATE_DEFINE_NAMES(changes_seen);

// key_value_store.hpp
TOLLGATE_DEFINE_NAMES(commits_seen);

// session_source.hpp
TOLLGATE_DEFINE_NAMES(is_active);
TOLLGATE_DEFINE_NAMES(password_version);

// rate_limiter.hpp
TOLLGATE_DEFINE_NAMES(windows_of);

TOLLGATE_DEFINE_NAMES(try_take);
TOLLGATE_DEFINE_NAMES(try_peek);

// observer.hpp, authenticator.hpp, sources.hpp
TOLLGATE_DEFINE_NAMES(on_attempt);
TOLLGATE_DEFINE_NAMES(on_activity);
TOLLGATE_DEFINE_NAMES(field);
TOLLGATE_DEFINE_NAMES(steady_now);

}  // namespace tollgate::detail

#endif  // TOLLGATE_CONTRACT_DETAIL_MEMBER_NAMES_HPP
