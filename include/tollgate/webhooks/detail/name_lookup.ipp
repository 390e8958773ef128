#pragma once

#include <tollgate/webhooks/detail/name_lookup.hpp>

#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <exception>
#include <list>
#include <mutex>
#include <new>
#include <string_view>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>

namespace tollgate::inline v0 {

TOLLGATE_DECL std::vector<ip_address> system_lookup(const std::string& host) {
#if defined(__GLIBC__)
    // `shop` is not `shop.our-office.example`: what is inside may not be reached by leaving a domain out. The state is
    // this thread's own; a change of resolv.conf makes it as new, so it is said each time.
    if ((_res.options & RES_INIT) == 0) static_cast<void>(res_init());
    _res.options &= ~static_cast<decltype(_res.options)>(RES_DNSRCH | RES_DEFNAMES);
#endif
    addrinfo wanted{};
    wanted.ai_family = AF_UNSPEC;
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* first = nullptr;
    errno = 0;
    if (const int failed = ::getaddrinfo(host.c_str(), nullptr, &wanted, &first); failed != 0) {
        const int cause = errno;
        if (failed == EAI_MEMORY) throw std::bad_alloc{};
        if (failed == EAI_SYSTEM || cause == EMFILE || cause == ENFILE || cause == ENOBUFS)
            throw std::system_error{cause, std::generic_category(), "names cannot be looked up"};
        if (failed == EAI_AGAIN) throw std::system_error{std::make_error_code(std::errc::timed_out)};
        return {};
    }

    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all{first, ::freeaddrinfo};

    std::vector<ip_address> found;
    for (const addrinfo* each = first; each != nullptr; each = each->ai_next) {
        if (each->ai_family == AF_INET) {
            sockaddr_in one{};
            std::memcpy(&one, each->ai_addr, sizeof one);
            std::array<std::uint8_t, 4> bytes{};
            std::memcpy(bytes.data(), &one.sin_addr, bytes.size());
            found.push_back(ip_address::v4(bytes[0], bytes[1], bytes[2], bytes[3]));
        } else if (each->ai_family == AF_INET6) {
            sockaddr_in6 one{};
            std::memcpy(&one, each->ai_addr, sizeof one);
            std::array<std::uint8_t, 16> bytes{};
            std::memcpy(bytes.data(), &one.sin6_addr, bytes.size());
            found.push_back(ip_address::from_bytes(bytes));
        }
    }
    return found;
}

namespace webhooks {

namespace detail {

/// The last names that were added, a bounded number.
class recent_names {
public:
    explicit recent_names(std::size_t names_max) : names_max_{names_max} {}

    [[nodiscard]] bool contains(const std::string& name) const { return places_.contains(name); }
    void add(const std::string& name) {
        if (const auto known = places_.find(name); known != places_.end())
            return names_.splice(names_.begin(), names_, known->second);
        std::list<std::string> made{name};
        places_.emplace(made.front(), made.begin());
        names_.splice(names_.begin(), made);
        if (names_.size() > names_max_) remove(std::string{names_.back()});
    }
    void remove(const std::string& name) {
        const auto known = places_.find(name);
        if (known == places_.end()) return;
        const auto place = known->second;
        places_.erase(known);
        names_.erase(place);
    }

private:
    const std::size_t names_max_;
    std::list<std::string> names_;  // the last first
    std::unordered_map<std::string_view, std::list<std::string>::iterator> places_;
};

TOLLGATE_DECL std::string domain_of(std::string_view host) {
    if (host.ends_with('.')) host.remove_suffix(1);
    const auto before = [host](std::size_t end) {
        const auto dot = end == 0 ? std::string_view::npos : host.rfind('.', end - 1);
        return dot == std::string_view::npos ? std::size_t{0} : dot + 1;
    };
    const std::size_t top = before(host.size());
    if (top == 0) return std::string{host};
    const std::size_t second = before(top - 1);
    constexpr std::size_t country_bytes = 2, kind_bytes_max = 3;  // co, com, org
    if (second == 0 || host.size() - top != country_bytes || top - 1 - second > kind_bytes_max)
        return std::string{host.substr(second)};
    return std::string{host.substr(before(second - 1))};
}

}  // namespace detail

/// Shared by the threads, which may outlive the pool.
class lookup_pool::state : public std::enable_shared_from_this<state> {
public:
    state(name_lookup look_up, std::size_t threads_max)
        : look_up_{std::move(look_up)}, threads_max_{(std::max)(threads_max, std::size_t{2})} {}

    void ask(const std::string& host, on_answer tell) {
        const std::lock_guard hold{mutex_};
        if (stopping_) return;
        if (const auto same = asked_.find(host); same != asked_.end())
            return same->second->tell.push_back(std::move(tell));
        std::list<question> made;
        made.push_back({host, detail::domain_of(host), known::little});
        question& one = made.front();
        one.how = quick_names_.contains(host)           ? known::quick
                  : slow_domains_.contains(one.domain) ? known::slow
                                                       : known::little;
        one.tell.push_back(std::move(tell));
        asked_.emplace(host, made.begin());
        waiting_.splice(waiting_.end(), made);
        if (idle_ >= waiting_.size() || threads_ == threads_max_) {
            came_.notify_one();
            return;
        }
        try {
            std::thread{[self = shared_from_this()] { self->run(); }}.detach();
            ++threads_;
        } catch (const std::exception&) {  // those that are there will come to it
        }
    }

    bool is_asking_for(const std::string& host) {
        const std::lock_guard hold{mutex_};
        const auto found = asked_.find(host);
        if (found == asked_.end()) return false;
        const auto place = found->second;
        if (place->running) return true;
        asked_.erase(found);
        waiting_.erase(place);
        return false;
    }

    void stop() noexcept {
        const std::lock_guard hold{mutex_};
        stopping_ = true;
        asked_.clear();
        waiting_.clear();
        // Now: what they hold belongs to an executor that may be gone when the look-up ends.
        for (question& each : running_) each.tell.clear();
        came_.notify_all();
    }

private:
    using clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds long_time{1};
    static constexpr std::size_t names_max = 8192;  // 2 MB at the most, if all are as long as they may be

    enum class known : std::uint8_t { quick, little, slow };
    struct question {
        std::string host;
        std::string domain;
        known how;
        bool running = false;
        std::vector<on_answer> tell{};
    };
    using questions = std::list<question>;

    [[nodiscard]] std::size_t part_of_threads(std::size_t divisor) const noexcept {
        return (std::max)(threads_max_ / divisor, std::size_t{1});
    }

    /// The name to look up next, if there is one that this thread may.
    [[nodiscard]] questions::iterator next() {
        const auto count = [this](auto which) {
            return static_cast<std::size_t>(std::count_if(running_.begin(), running_.end(), which));
        };
        const bool room_for_others =
            count([](const question& one) { return one.how != known::quick; }) < part_of_threads(2);
        const bool room_for_slow =
            count([](const question& one) { return one.how == known::slow; }) < part_of_threads(4);
        return std::find_if(waiting_.begin(), waiting_.end(), [&](const question& each) {
            const bool quick = each.how == known::quick;
            if (!quick && (!room_for_others || (each.how == known::slow && !room_for_slow))) return false;
            const std::size_t of_domain = count([&](const question& one) { return one.domain == each.domain; });
            return of_domain < part_of_threads(quick ? 4 : 8);
        });
    }

    void run() noexcept {
        std::unique_lock hold{mutex_};
        for (;;) {
            ++idle_;
            came_.wait(hold, [this] { return stopping_ || next() != waiting_.end(); });
            --idle_;
            if (stopping_) return;
            const auto one = next();
            one->running = true;
            running_.splice(running_.end(), waiting_, one);
            hold.unlock();

            const auto began = clock::now();
            const lookup_answer heard = look_up(one->host);
            const bool was_quick = clock::now() - began < long_time;

            hold.lock();
            questions done;
            done.splice(done.end(), running_, one);
            came_.notify_one();
            if (stopping_) return;
            asked_.erase(one->host);
            if (heard.end == lookup_end::answered || !was_quick) remember(*one, was_quick);
            for (const on_answer& each : one->tell) tell(each, heard);
        }
    }

    [[nodiscard]] lookup_answer look_up(const std::string& host) const noexcept {
        try {
            return {.addresses = look_up_(host)};
        } catch (const std::system_error& failed) {
            const bool nobody_there =
                failed.code() == std::errc::timed_out || failed.code() == std::errc::resource_unavailable_try_again;
            return failed_as(nobody_there ? lookup_end::no_answer : lookup_end::short_of_something, failed.what());
        } catch (const std::bad_alloc& failed) {
            return failed_as(lookup_end::short_of_something, failed.what());
        } catch (...) {
            return {};
        }
    }
    [[nodiscard]] static lookup_answer failed_as(lookup_end end, const char* why) noexcept {
        try {
            return {.end = end, .why = why};
        } catch (const std::exception&) {
            return {.end = end};
        }
    }

    void remember(const question& one, bool was_quick) noexcept {
        try {
            if (was_quick) {
                quick_names_.add(one.host);
                slow_domains_.remove(one.domain);
            } else {
                quick_names_.remove(one.host);
                slow_domains_.add(one.domain);
            }
        } catch (const std::exception&) {  // then it is less known than it could be
        }
    }
    static void tell(const on_answer& who, const lookup_answer& heard) noexcept {
        try {
            who(heard);
        } catch (const std::exception&) {  // who was not told has a time-out
        }
    }

    const name_lookup look_up_;
    const std::size_t threads_max_;
    std::mutex mutex_;
    std::condition_variable came_;
    std::unordered_map<std::string, questions::iterator> asked_;
    questions waiting_, running_;
    detail::recent_names quick_names_{names_max}, slow_domains_{names_max};
    std::size_t threads_ = 0;
    std::size_t idle_ = 0;
    bool stopping_ = false;
};

TOLLGATE_DECL lookup_pool::lookup_pool(name_lookup look_up, std::size_t threads_max)
    : state_{std::make_shared<state>(look_up ? std::move(look_up) : name_lookup{&system_lookup}, threads_max)} {}

TOLLGATE_DECL lookup_pool::~lookup_pool() { state_->stop(); }

TOLLGATE_DECL void lookup_pool::stop() noexcept { state_->stop(); }

TOLLGATE_DECL void lookup_pool::ask(const std::string& host, on_answer tell) { state_->ask(host, std::move(tell)); }

TOLLGATE_DECL bool lookup_pool::is_asking_for(const std::string& host) { return state_->is_asking_for(host); }

}  // namespace webhooks
}  // namespace tollgate
