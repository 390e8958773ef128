#pragma once
#ifndef TOLLGATE_WEBHOOKS_DETAIL_NAME_LOOKUP_IPP
#define TOLLGATE_WEBHOOKS_DETAIL_NAME_LOOKUP_IPP

#include <tollgate/base/detail/keyed_hash.hpp>
#include <tollgate/base/detail/start_thread.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/webhooks/detail/name_lookup.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <exception>
#include <fstream>
#include <istream>
#include <list>
#include <mutex>
#include <netdb.h>
#include <netinet/in.h>
#include <new>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>

namespace tollgate::inline v0 {

TOLLGATE_DECL std::vector<ip_address> system_lookup(const std::string& host) {
    return webhooks::detail::look_up_absolute(host, "/etc/hosts", &::getaddrinfo);
}

namespace webhooks {

namespace detail {

TOLLGATE_DECL std::vector<ip_address> find_host(std::istream& hosts_file, std::string_view host) {
    constexpr std::string_view blanks = " \t\r";
    std::vector<ip_address> found;
    for (std::string line; std::getline(hosts_file, line);) {
        std::string_view rest{line};
        rest = rest.substr(0, rest.find('#'));
        const auto next_word = [&rest, blanks] {
            const auto begin = rest.find_first_not_of(blanks);
            rest.remove_prefix(begin == std::string_view::npos ? rest.size() : begin);
            const auto word = rest.substr(0, rest.find_first_of(blanks));
            rest.remove_prefix(word.size());
            return word;
        };
        const auto address = next_word();
        auto name = next_word();
        while (!name.empty() && !ascii_iequals(name, host)) name = next_word();
        if (name.empty()) continue;
        if (const auto parsed = ip_address::parse(address); parsed && std::find(found.begin(), found.end(), *parsed) == found.end())
            found.push_back(*parsed);
    }
    return found;
}

TOLLGATE_DECL std::vector<ip_address> look_up_absolute(const std::string& host, const char* hosts_file,
                                                       decltype(&::getaddrinfo) look_up) {
    const std::string_view name = std::string_view{host}.substr(0, host.size() - (host.ends_with('.') ? 1 : 0));
    if (std::ifstream file{hosts_file}; file)
        if (auto found = find_host(file, name); !found.empty()) return found;
    // A final dot makes the name absolute, so that no search list applies, whatever the system. glibc does not compare such a name with
    // those in /etc/hosts, therefore the file is read above. (To change the options in `_res` instead would keep glibc from
    // reading a changed resolv.conf.)
    const std::string absolute = std::string{name} + '.';
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* first = nullptr;
    errno = 0;
    if (const int failed = look_up(absolute.c_str(), nullptr, &hints, &first); failed != 0) {
        const int cause = errno;
        if (failed == EAI_MEMORY) throw std::bad_alloc{};
        if (failed == EAI_SYSTEM || cause == EMFILE || cause == ENFILE || cause == ENOBUFS)
            throw std::system_error{cause, std::generic_category(), "cannot look up names"};
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

/// The most recently added names, a bounded number.
class recent_names {
public:
    explicit recent_names(std::size_t names_max) : names_max_{names_max} {}

    [[nodiscard]] bool contains(const std::string& name) const { return places_.contains(name); }
    void add(const std::string& name) {
        if (const auto known = places_.find(name); known != places_.end())
            return names_.splice(names_.begin(), names_, known->second);
        std::list<std::string> added{name};
        places_.emplace(added.front(), added.begin());
        names_.splice(names_.begin(), added);
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
    std::list<std::string> names_;  // most recent first
    std::unordered_map<std::string_view, std::list<std::string>::iterator, keyed_hash> places_;  // keyed, because users choose the names
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
    constexpr std::size_t country_bytes = 2, kind_bytes_max = 3;  // such as co, com, org
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

    std::uint64_t resolve(const std::string& host, on_result done) {
        const std::lock_guard hold{mutex_};
        const std::uint64_t number = ++last_number_;
        if (stopping_) return number;
        if (const auto same = by_host_.find(host); same != by_host_.end()) {
            same->second->callers.push_back({number, std::move(done)});
            return number;
        }
        std::list<query> added;
        added.push_back({host, detail::domain_of(host)});
        query& one = added.front();
        if (quick_names_.contains(host)) one.expected = pace::quick;
        else if (slow_domains_.contains(one.domain)) one.expected = pace::slow;
        one.callers.push_back({number, std::move(done)});
        by_host_.emplace(host, added.begin());
        waiting_.splice(waiting_.end(), added);
        if (idle_ >= waiting_.size() || threads_ == threads_max_) {
            changed_.notify_one();
            return number;
        }
        try {
            tollgate::detail::start_thread([self = shared_from_this()] { self->run(); }).detach();
            ++threads_;
        } catch (const std::exception&) {
            changed_.notify_one();  // the existing threads will serve it
        }
        return number;
    }

    bool withdraw(const std::string& host, std::uint64_t number) {
        const std::lock_guard hold{mutex_};
        const auto found = by_host_.find(host);
        if (found == by_host_.end()) return true;
        const auto place = found->second;
        if (place->running) return false;
        std::erase_if(place->callers, [number](const caller& each) { return each.number == number; });
        if (!place->callers.empty()) return true;
        by_host_.erase(found);
        waiting_.erase(place);
        return true;
    }

    void stop() noexcept {
        const std::lock_guard hold{mutex_};
        stopping_ = true;
        by_host_.clear();
        waiting_.clear();
        // Now: the callbacks belong to an executor that may be gone when the lookup ends.
        for (query& each : running_) each.callers.clear();
        changed_.notify_all();
    }

private:
    using clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds slow_lookup{1};
    static constexpr std::size_t names_max = 8192;  // at most 2 MB

    enum class pace : std::uint8_t { unknown, quick, slow };
    struct caller {
        std::uint64_t number;
        on_result done;
    };
    struct query {
        std::string host;
        std::string domain;
        pace expected = pace::unknown;
        bool running = false;
        std::vector<caller> callers{};
    };
    using queries = std::list<query>;

    [[nodiscard]] std::size_t part_of_threads(std::size_t divisor) const noexcept {
        return (std::max)(threads_max_ / divisor, std::size_t{1});
    }

    /// The next name that a thread may look up now.
    [[nodiscard]] queries::iterator next() {
        const auto count = [this](auto which) {
            return static_cast<std::size_t>(std::count_if(running_.begin(), running_.end(), which));
        };
        const bool others_allowed =
            count([](const query& one) { return one.expected != pace::quick; }) < part_of_threads(2);
        const bool slow_allowed = count([](const query& one) { return one.expected == pace::slow; }) < part_of_threads(4);
        return std::find_if(waiting_.begin(), waiting_.end(), [&](const query& each) {
            const bool quick = each.expected == pace::quick;
            if (!quick && (!others_allowed || (each.expected == pace::slow && !slow_allowed))) return false;
            const std::size_t of_domain = count([&](const query& one) { return one.domain == each.domain; });
            return of_domain < part_of_threads(quick ? 4 : 8);
        });
    }

    void run() noexcept {
        std::unique_lock hold{mutex_};
        for (;;) {
            ++idle_;
            changed_.wait(hold, [this] { return stopping_ || next() != waiting_.end(); });
            --idle_;
            if (stopping_) return;
            const auto one = next();
            one->running = true;
            running_.splice(running_.end(), waiting_, one);
            hold.unlock();

            const auto started = clock::now();
            const lookup_result looked_up = look_up(one->host);
            const bool was_quick = clock::now() - started < slow_lookup;

            hold.lock();
            queries finished;
            finished.splice(finished.end(), running_, one);
            changed_.notify_one();
            if (stopping_) return;
            by_host_.erase(one->host);
            if (looked_up.end == lookup_end::resolved || !was_quick) remember(*one, was_quick);
            for (const caller& each : one->callers) call(each.done, looked_up);
        }
    }

    [[nodiscard]] lookup_result look_up(const std::string& host) const noexcept {
        try {
            return {.addresses = look_up_(host)};
        } catch (const std::system_error& failed) {
            const bool no_response =
                failed.code() == std::errc::timed_out || failed.code() == std::errc::resource_unavailable_try_again;
            return failed_as(no_response ? lookup_end::no_response : lookup_end::local_failure, failed.what());
        } catch (const std::bad_alloc& failed) {
            return failed_as(lookup_end::local_failure, failed.what());
        } catch (...) {
            return {};
        }
    }
    [[nodiscard]] static lookup_result failed_as(lookup_end end, const char* reason) noexcept {
        try {
            return {.end = end, .reason = reason};
        } catch (const std::exception&) {
            return {.end = end};
        }
    }

    void remember(const query& one, bool was_quick) noexcept {
        try {
            if (was_quick) {
                quick_names_.add(one.host);
                slow_domains_.remove(one.domain);
            } else {
                quick_names_.remove(one.host);
                slow_domains_.add(one.domain);
            }
        } catch (const std::exception&) {  // only slows later lookups
        }
    }
    static void call(const on_result& done, const lookup_result& looked_up) noexcept {
        try {
            done(looked_up);
        } catch (const std::exception&) {  // the caller has a timeout
        }
    }

    const name_lookup look_up_;
    const std::size_t threads_max_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::unordered_map<std::string, queries::iterator, keyed_hash> by_host_;  // keyed, because users choose the hosts
    queries waiting_, running_;
    detail::recent_names quick_names_{names_max}, slow_domains_{names_max};
    std::uint64_t last_number_ = 0;
    std::size_t threads_ = 0;
    std::size_t idle_ = 0;
    bool stopping_ = false;
};

TOLLGATE_DECL lookup_pool::lookup_pool(name_lookup look_up, std::size_t threads_max)
    : state_{std::make_shared<state>(look_up ? std::move(look_up) : name_lookup{&system_lookup}, threads_max)} {}

TOLLGATE_DECL lookup_pool::~lookup_pool() { state_->stop(); }

TOLLGATE_DECL void lookup_pool::stop() noexcept { state_->stop(); }

TOLLGATE_DECL std::uint64_t lookup_pool::resolve(const std::string& host, on_result done) {
    return state_->resolve(host, std::move(done));
}

TOLLGATE_DECL bool lookup_pool::withdraw(const std::string& host, std::uint64_t number) {
    return state_->withdraw(host, number);
}

}  // namespace webhooks
}  // namespace tollgate::inline v0

#endif  // TOLLGATE_WEBHOOKS_DETAIL_NAME_LOOKUP_IPP
