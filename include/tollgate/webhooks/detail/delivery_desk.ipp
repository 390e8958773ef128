#pragma once

#include <tollgate/webhooks/detail/delivery_desk.hpp>
#include <tollgate/webhooks/detail/desk_core.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace tollgate::inline v0::webhooks {

TOLLGATE_DECL delivery_desk::core::~core() {
    stop(milliseconds{0});
    if (desk_thread_.joinable()) desk_thread_.join();
}

TOLLGATE_DECL result<void> delivery_desk::core::start() {
    const std::lock_guard hold{mutex_};
    if (state_ != state::fresh) return unavailable("a dispatcher starts once, and not after it was stopped");
    try {
        asio::any_io_executor where = executor_;
        if (!where) {
            own_context_ = std::make_unique<asio::io_context>(1);
            own_context_stays_.emplace(own_context_->get_executor());
            where = own_context_->get_executor();
        }
        mail_ = std::make_shared<mailbox>(*this);
        auto made = hook_client::make(where, settings_.client, mail_);
        if (!made) {
            state_ = state::stopped;
            return std::move(made).error();
        }
        client_ = *std::move(made);
        if (own_context_) own_thread_ = std::thread{[this] { serve_sockets(); }};
        desk_thread_ = std::thread{[this] { run(); }};
        state_ = state::running;
        return {};
    } catch (const std::exception& failed) {
        if (own_thread_.joinable()) {
            own_context_stays_.reset();
            own_thread_.join();
        }
        state_ = state::stopped;
        return internal_error(std::string{"the dispatcher could not start: "} + failed.what());
    }
}

TOLLGATE_DECL void delivery_desk::core::stop(milliseconds deadline) {
    {
        const std::lock_guard hold{mutex_};
        if (state_ == state::fresh) state_ = state::stopped;
        if (state_ == state::running || state_ == state::stopping) {
            state_ = state::stopping;
            constexpr milliseconds longest = std::chrono::hours{24};
            stop_at_ = (std::min)(stop_at_, clock::now() + (std::min)(deadline, longest));
            changed_.notify_all();
        }
        if (detail::inside_of == this) return;
    }
    const std::lock_guard joining{join_mutex_};
    if (desk_thread_.joinable() && desk_thread_.get_id() != std::this_thread::get_id()) desk_thread_.join();
}

TOLLGATE_DECL void delivery_desk::core::wake() noexcept {
    const std::lock_guard hold{mutex_};
    if (woken_) return;
    woken_ = true;
    changed_.notify_all();
}

TOLLGATE_DECL void delivery_desk::core::take(incoming_list ended) noexcept {
    const std::lock_guard hold{mutex_};
    const bool first = ended_.empty();
    ended_.splice(ended_.end(), ended);
    if (first) changed_.notify_all();
}

TOLLGATE_DECL void delivery_desk::core::serve_sockets() noexcept {
    const detail::inside mark{this};  // an observer that hears of a problem here may stop the dispatcher
    for (;;) {
        try {
            own_context_->run();
            return;
        } catch (const std::exception& failed) {
            // Memory is short: the attempt that it happened to ends by its time-out.
            back_.on_problem(internal_error(std::string{"the dispatcher's sockets: "} + failed.what()));
        }
    }
}

TOLLGATE_DECL void delivery_desk::core::run() noexcept {
    const detail::inside mark{this};
    std::unique_lock hold{mutex_};
    for (;;) {
        const bool stopping = state_ == state::stopping;
        if (stopping && (under_way() == 0 || clock::now() >= stop_at_)) break;
        const auto stop_at = stop_at_;
        auto until = stopping ? stop_at : (std::max)((std::min)(next_claim_, next_look_), no_claim_before_);
        if (!stopping) until = (std::min)(until, next_sweep_);
        if (!settled_next_.empty()) until = (std::min)(until, next_settle_);
        if (!arrived_.empty()) until = (std::min)(until, next_judge_);
        changed_.wait_until(hold, until,
                            [&] { return !ended_.empty() || (woken_ && !stopping) || stop_at_ != stop_at; });

        const bool stops = state_ == state::stopping;
        arrived_.splice(arrived_.end(), ended_);
        if (std::exchange(woken_, false)) next_claim_ = clock::now();
        hold.unlock();
        try {
            work(!stops);
        } catch (const std::exception& failed) {
            // Memory is short. What has arrived is judged later; what was claimed and did not get away comes back when
            // its lease is over.
            back_.on_problem(internal_error(failed.what()));
            no_claim_before_ = next_settle_ = next_judge_ = clock::now() + first_pause;
        }
        hold.lock();
    }
    hold.unlock();
    finish();
    hold.lock();
    state_ = state::stopped;
}

/// Ends what is left, when the time for it is over, and settles it: what had been asked is on record, and all of it is
/// due again at once. What an executor that nobody runs still holds comes back when its lease is over.
TOLLGATE_DECL void delivery_desk::core::finish() noexcept {
    try {
        client_->abort();
    } catch (const std::exception&) {  // no memory to ask for it
        if (own_context_) own_context_->stop();
    }
    if (own_thread_.joinable()) {
        own_context_stays_.reset();
        own_thread_.join();
    } else {
        // A guest's executor may be busy, or run by nobody any more.
        std::unique_lock hold{mutex_};
        changed_.wait_for(hold, milliseconds{200}, [&] { return ended_.size() + arrived_.size() >= flights_.size(); });
    }
    mail_->close();
    try {
        next_settle_ = {};
        arrived_.splice(arrived_.end(), ended_);
        work(false);
    } catch (const std::exception&) {  // as if they had not come back
    }
    client_.reset();
}

TOLLGATE_DECL void delivery_desk::core::work(bool claims) {
    judge();
    settle();
    if (!claims) return;
    const auto now = clock::now();
    if (now >= no_claim_before_) {
        bool looks = now >= next_claim_ || hands_came_free_;
        if (now >= next_look_) {
            next_look_ = now + (back_.tells_changes() ? settings_.look_interval : settings_.claim_interval);
            looks = back_.may_have_more() || looks;
        }
        if (looks) claim();
    }
    if (now >= next_sweep_) sweep();
}

TOLLGATE_DECL void delivery_desk::core::judge() {
    const instant now = back_.now();
    bool some_tried = false;
    const incoming* short_one = nullptr;
    for (const incoming& each : arrived_) {
        some_tried = some_tried || each.tried;
        if (each.shortage) short_one = &each;
    }
    if (short_one != nullptr) rest_from_shortage(short_one->why);
    else if (some_tried) shortage_pause_ = {};
    for (; !arrived_.empty(); arrived_.pop_front()) judge_one(arrived_.front(), now);
}

/// Whatever is short, asking for more at once would only make it shorter.
TOLLGATE_DECL void delivery_desk::core::rest_from_shortage(std::string_view why) {
    const auto present = clock::now();
    if (present >= no_claim_before_) shortage_pause_ = (std::clamp)(2 * shortage_pause_, first_pause, longest_pause);
    no_claim_before_ = present + shortage_pause_;
    if (present < next_shortage_told_) return;
    next_shortage_told_ = present + longest_pause;
    back_.on_problem(unavailable("webhooks wait, for this machine cannot connect: " + std::string{why}));
}

/// Takes memory before it changes anything, so that one that could not be judged can be judged again.
TOLLGATE_DECL void delivery_desk::core::judge_one(incoming& each, instant now) {
    const auto reserve_one_more = [](auto& rows) {
        if (rows.size() == rows.capacity()) rows.reserve(2 * rows.size() + 16);
    };
    reserve_one_more(settled_next_);
    reserve_one_more(settled_flights_);
    const auto found = flights_.find(each.number);
    if (found == flights_.end()) return;
    flight& one = found->second;
    attempt made{.at = one.began, .duration = each.duration, .end = each.end, .status = each.status,
                 .answer = std::move(each.answer)};
    settlement judged =
        judge_attempt(settings_.retry, one.sent, {std::move(made), each.retry_after}, now, back_.chance());
    if (one.unsendable) {
        judged.verdict = delivery_verdict::given_up;
    } else if (each.cut_off) {  // by us: it says little of the receiver
        judged.verdict = delivery_verdict::again;
        judged.again_at = now;
        judged.disable_if_failing_since.reset();
    } else if (!each.tried) {
        judged.verdict = delivery_verdict::unsent;
        // What waited in vain for a look-up may do so again, and holds a hand for as long.
        judged.again_at = now + (each.shortage ? shortage_pause_ : each.why.empty() ? milliseconds{0} : longest_pause);
        judged.disable_if_failing_since.reset();
    }
    settled_next_.push_back(std::move(judged));
    settled_flights_.emplace_back(std::move(one), std::move(each.why));
    numbers_.erase(settled_flights_.back().first.sent.lease.delivery.value());
    flights_.erase(found);
}

TOLLGATE_DECL void delivery_desk::core::land(flight& over) noexcept {
    if (over.sent.slow) --slow_under_way_;
    bytes_under_way_ -= over.bytes;
    hands_came_free_ = true;
}

TOLLGATE_DECL void delivery_desk::core::settle() {
    if (settled_next_.empty() || clock::now() < next_settle_) return;
    const auto results = back_.settle(settled_next_, back_.now());
    if (!results) {
        back_.on_problem(results.error());
        store_pause_ = (std::clamp)(2 * store_pause_, first_pause, longest_pause);
        next_settle_ = clock::now() + store_pause_;
        return forget_overdue();
    }
    store_pause_ = {};
    for (std::size_t i = 0; i < settled_next_.size(); ++i) {
        auto& [one, why] = settled_flights_[i];
        land(one);
        if (settled_next_[i].verdict == delivery_verdict::unsent) continue;
        back_.on_attempt(
            {one.sent, settled_next_[i], i < results->size() ? (*results)[i] : settle_result::too_late, why});
    }
    settled_next_.clear();
    settled_flights_.clear();
}

/// What the store would not take until its lease was over is sent again anyway: no use in holding it.
TOLLGATE_DECL void delivery_desk::core::forget_overdue() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < settled_next_.size(); ++i) {
        if (clock::now() >= settled_flights_[i].first.lease_over) {
            land(settled_flights_[i].first);
            continue;
        }
        if (kept != i) {
            settled_next_[kept] = std::move(settled_next_[i]);
            settled_flights_[kept] = std::move(settled_flights_[i]);
        }
        ++kept;
    }
    settled_next_.erase(settled_next_.begin() + static_cast<std::ptrdiff_t>(kept), settled_next_.end());
    settled_flights_.erase(settled_flights_.begin() + static_cast<std::ptrdiff_t>(kept), settled_flights_.end());
}

TOLLGATE_DECL void delivery_desk::core::come_back_after(milliseconds wait) {
    next_claim_ = clock::now() + wait;
    next_look_ = (std::max)(next_look_, next_claim_);
}

TOLLGATE_DECL void delivery_desk::core::claim() {
    hands_came_free_ = false;
    const std::size_t hands = settings_.attempts_max - (std::min)(under_way(), settings_.attempts_max);
    if (hands == 0 || bytes_under_way_ >= settings_.data_bytes_max) {
        next_claim_ = clock::now() + settings_.claim_interval;  // or as soon as one comes free
        return;
    }
    const auto claimed_at = clock::now();  // before the store's time: a lease is over later than we think
    const instant now = back_.now();
    const auto lease = settings_.client.attempt_timeout + settings_.lease_margin;
    claim_terms terms{.now = now, .lease_until = now + lease};
    // After a shortage a few show whether it is over.
    constexpr std::size_t few = 8;
    const bool was_short = shortage_pause_ > milliseconds{0};
    terms.deliveries_max = (std::min)(hands, was_short ? few : settings_.claim_max);
    terms.slow_deliveries_max = (std::min)(
        terms.deliveries_max, settings_.slow_attempts_max - (std::min)(slow_under_way_, settings_.slow_attempts_max));
    terms.per_host_max = settings_.per_host_max;
    terms.per_slow_host_max = settings_.per_slow_host_max;
    terms.data_bytes_max = settings_.data_bytes_max - bytes_under_way_;
    auto claimed = back_.claim_due(terms);
    if (!claimed) {
        back_.on_problem(claimed.error());
        store_pause_ = (std::clamp)(2 * store_pause_, first_pause, longest_pause);
        return come_back_after(store_pause_);
    }
    store_pause_ = {};
    const bool got_some = !claimed->deliveries.empty();
    if (got_some) send(std::move(claimed->deliveries), now, claimed_at);

    const auto present = clock::now();
    if (was_short) no_claim_before_ = present + first_pause;
    // Now and then whatever was said, for a clock may be set.
    const milliseconds longest = (back_.tells_changes() ? 10 : 1) * settings_.claim_interval;
    if (!claimed->next_at) next_claim_ = present + longest;
    // A store that promises more, and gives none, is not asked without a pause.
    else if (*claimed->next_at <= now) next_claim_ = got_some ? present : present + milliseconds{10};
    else next_claim_ = present + (std::min)(*claimed->next_at - now, longest);
}

TOLLGATE_DECL void delivery_desk::core::send(std::vector<due_delivery> claimed, instant now,
                                             clock::time_point claimed_at) {
    std::vector<outgoing> requests;
    requests.reserve(claimed.size());
    std::vector<std::uint64_t> numbers;
    numbers.reserve(claimed.size());
    const auto lease_over = claimed_at + settings_.client.attempt_timeout + settings_.lease_margin;
    try {
        for (due_delivery& each : claimed) {
            if (have_already(each, lease_over)) continue;
            send_one(std::move(each), now, claimed_at, requests);
            if (requests.size() != numbers.size()) numbers.push_back(requests.back().number);
        }
        if (!requests.empty()) client_->send(std::move(requests));
    } catch (const std::exception&) {
        for (const std::uint64_t each : numbers) forget(each);
        throw;
    }
}

/// What is still on its way, or has come back and is not settled, is not sent twice because it took so long: the lease
/// that replaces the one that is over will settle it.
TOLLGATE_DECL bool delivery_desk::core::have_already(const due_delivery& again, clock::time_point lease_over) {
    if (const auto number = numbers_.find(again.lease.delivery.value()); number != numbers_.end()) {
        flight& same = flights_.find(number->second)->second;
        same.sent.lease = again.lease;
        same.lease_over = lease_over;
        return true;
    }
    for (std::size_t i = 0; i < settled_next_.size(); ++i) {
        if (settled_next_[i].lease.delivery != again.lease.delivery) continue;
        settled_next_[i].lease = settled_flights_[i].first.sent.lease = again.lease;
        settled_flights_[i].first.lease_over = lease_over;
        return true;
    }
    return false;
}

TOLLGATE_DECL void delivery_desk::core::send_one(due_delivery next, instant now, clock::time_point claimed_at,
                                                 std::vector<outgoing>& requests) {
    const std::uint64_t number = ++last_number_;
    const auto lease_over = claimed_at + settings_.client.attempt_timeout + settings_.lease_margin;
    const std::int64_t id = next.lease.delivery.value();
    numbers_.emplace(id, number);
    try {
        flight& one = flights_.emplace(number, flight{std::move(next), now, lease_over}).first->second;
        if (one.sent.slow) ++slow_under_way_;
        incoming_list here(1);
        here.front().number = number;
        const auto end_here = [&](attempt_end how, std::string why) {
            here.front().end = how;
            here.front().why = std::move(why);
            arrived_.splice(arrived_.end(), here);
        };
        auto target = http::url::parse(one.sent.target_url);
        if (!target) return end_here(attempt_end::no_address, "the target is no URL");
        // Once more, as it was when the hook was made: the rule may have become stricter.
        if (const auto checked = back_.check(*target); !checked)
            return end_here(attempt_end::refused_address, checked.error().message);
        fields_.clear();
        std::string body;
        if (const auto written = back_.write(one.sent, now, fields_, body); !written) {
            back_.on_problem(written.error());
            one.unsendable = true;
            return end_here(attempt_end::no_connection, "it cannot be put into its format");
        }
        outgoing made{number, *std::move(target), std::string{fields_.view()}, std::move(body),
                      claimed_at + settings_.client.attempt_timeout + settings_.lease_margin / 3};
        one.bytes = made.body.size();
        bytes_under_way_ += one.bytes;
        requests.push_back(std::move(made));  // there is room for it
    } catch (const std::exception&) {
        forget(number);
        numbers_.erase(id);
        throw;
    }
}

/// A flight that did not get away.
TOLLGATE_DECL void delivery_desk::core::forget(std::uint64_t number) noexcept {
    const auto found = flights_.find(number);
    if (found == flights_.end()) return;
    land(found->second);
    numbers_.erase(found->second.sent.lease.delivery.value());
    flights_.erase(found);
}

TOLLGATE_DECL void delivery_desk::core::sweep() {
    const auto swept = back_.sweep(back_.now() - settings_.history, sweep_rows_max);
    if (!swept) back_.on_problem(swept.error());
    next_sweep_ = clock::now() + (swept && *swept == sweep_rows_max ? sweep_pause : sweep_interval);
}

TOLLGATE_DECL delivery_desk::delivery_desk(desk_back& back, hook_dispatch_settings settings,
                                           const asio::any_io_executor* guest_of)
    : core_{std::make_unique<core>(back, std::move(settings), guest_of)} {}

TOLLGATE_DECL delivery_desk::~delivery_desk() = default;

TOLLGATE_DECL result<void> delivery_desk::start() { return core_->start(); }
TOLLGATE_DECL void delivery_desk::stop(milliseconds deadline) { core_->stop(deadline); }
TOLLGATE_DECL void delivery_desk::wake() noexcept { core_->wake(); }

}  // namespace tollgate::webhooks
