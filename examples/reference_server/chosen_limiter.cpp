#include "chosen_limiter.hpp"

#include "failure.hpp"

#if defined(TOLLGATE_WITH_REDIS)
#include <tollgate/limits/redis_limiter.hpp>
#endif

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace reference {

using tollgate::instant;
using tollgate::limit_key;
using tollgate::quota;
using tollgate::limit_decision;

#if defined(TOLLGATE_WITH_REDIS)

struct chosen_limiter::shared_windows {
    /// What the limiter last said of Redis.
    struct event {
        std::mutex mutex;
        std::string text = "Redis does not respond";
    };

    std::shared_ptr<event> last;
    tollgate::redis_limiter windows;
};

chosen_limiter::chosen_limiter(const settings& settings, const request_log& log) {
    if (settings.limits_url.empty()) {
        here_.emplace();
        return;
    }
    tollgate::redis_limiter_settings redis_settings;
    redis_settings.authorities_file = settings.limits_ca.string();
    const auto last = std::make_shared<shared_windows::event>();
    redis_settings.on_state = [&log, last](bool up, std::string_view event) {
        if (!up) {
            const std::scoped_lock hold{last->mutex};
            last->text = event;
        }
        log.on_change(up ? std::string{"Redis is available again; limits are shared again"}
                         : std::string{event} + "; this node counts requests separately until Redis is available again");
    };
    auto opened = tollgate::redis_limiter::open(settings.limits_url, redis_settings);
    if (!opened) throw usage_error{"--limits, --limits-ca: " + opened.error().log_text()};
    shared_ = std::make_unique<shared_windows>(shared_windows{last, *std::move(opened)});
    shared_->windows.try_now();
}

limit_decision chosen_limiter::take_shared(const limit_key& key, const quota& allowed, instant now) noexcept {
    return shared_->windows.take(key, allowed, now);
}

limit_decision chosen_limiter::peek_shared(const limit_key& key, const quota& allowed, instant now) noexcept {
    return shared_->windows.peek(key, allowed, now);
}

tollgate::result<void> chosen_limiter::check() {
    if (shared_ == nullptr || shared_->windows.try_now()) return {};
    const std::scoped_lock hold{shared_->last->mutex};
    return tollgate::unavailable(shared_->last->text);
}

tollgate::result<void> chosen_limiter::reload_authorities() noexcept {
    return shared_ == nullptr ? tollgate::result<void>{} : shared_->windows.reload_authorities();
}

tollgate::backend_statistics chosen_limiter::statistics() const noexcept {
    return shared_ == nullptr ? tollgate::backend_statistics{} : shared_->windows.statistics();
}

std::optional<limit_decision> chosen_limiter::try_take(const limit_key& key, const quota& allowed, instant now) noexcept {
    if (shared_ == nullptr) return here_->take(key, allowed, now);
    return shared_->windows.try_take(key, allowed, now);
}

std::optional<limit_decision> chosen_limiter::try_peek(const limit_key& key, const quota& allowed, instant now) noexcept {
    if (shared_ == nullptr) return here_->peek(key, allowed, now);
    return shared_->windows.try_peek(key, allowed, now);
}

#else

// The settings refuse `--limits redis:` in this build.
struct chosen_limiter::shared_windows {};

chosen_limiter::chosen_limiter(const settings&, const request_log&) { here_.emplace(); }

limit_decision chosen_limiter::take_shared(const limit_key& key, const quota& allowed, instant now) noexcept {
    return here_->take(key, allowed, now);
}

limit_decision chosen_limiter::peek_shared(const limit_key& key, const quota& allowed, instant now) noexcept {
    return here_->peek(key, allowed, now);
}

tollgate::result<void> chosen_limiter::check() { return {}; }

tollgate::result<void> chosen_limiter::reload_authorities() noexcept { return {}; }

tollgate::backend_statistics chosen_limiter::statistics() const noexcept { return {}; }

std::optional<limit_decision> chosen_limiter::try_take(const limit_key& key, const quota& allowed, instant now) noexcept {
    return here_->take(key, allowed, now);
}

std::optional<limit_decision> chosen_limiter::try_peek(const limit_key& key, const quota& allowed, instant now) noexcept {
    return here_->peek(key, allowed, now);
}

#endif

chosen_limiter::~chosen_limiter() = default;

}  // namespace reference
