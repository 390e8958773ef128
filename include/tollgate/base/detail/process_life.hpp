#pragma once
#ifndef TOLLGATE_BASE_DETAIL_PROCESS_LIFE_HPP
#define TOLLGATE_BASE_DETAIL_PROCESS_LIFE_HPP

#include <tollgate/base/detail/system/process.hpp>
#include <tollgate/base/detail/thread_mark.hpp>

#include <openssl/crypto.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

/// What objects with threads need to know about the life of their process: whether it was forked, and when it ends.
namespace tollgate::inline v0::detail {

/// The process that started something. A child process made by `fork` has a copy of all objects, but none of their threads, and any
/// lock may be held for ever. Such an object belongs to the parent: the child must neither wait for it nor destroy it.
class owning_process {
public:
    owning_process() = default;
    owning_process(owning_process&& from) noexcept : id_{from.id_.load(std::memory_order_relaxed)} {}
    owning_process& operator=(owning_process&& from) noexcept {
        id_.store(from.id_.load(std::memory_order_relaxed), std::memory_order_relaxed);
        return *this;
    }
    ~owning_process() = default;

    /// Before this call, nothing is owned. Call it before the first thread is started.
    void take() noexcept { id_.store(process_number(), std::memory_order_relaxed); }
    [[nodiscard]] bool is_parent() const noexcept {
        const process_id id = id_.load(std::memory_order_relaxed);
        return id != 0 && id != process_number();
    }

private:
    std::atomic<process_id> id_{0};  // one thread may start what another one stops
};

/// A condition variable for objects that a child process may destroy: their destructor would wait for the parent's waiting threads.
class condition_of_process {
public:
    condition_of_process() {
        process_.take();
        new (&condition_) std::condition_variable;
    }
    condition_of_process(const condition_of_process&) = delete;
    condition_of_process& operator=(const condition_of_process&) = delete;
    ~condition_of_process() {
        if (!process_.is_parent()) condition_.~condition_variable();
    }

    std::condition_variable* operator->() noexcept { return &condition_; }

private:
    owning_process process_;
    union {
        std::condition_variable condition_;
    };
};

/// Counts the threads of a group that have not ended, so that one of them can end the process without waiting for ever.
class thread_count {
public:
    /// Counts the calling thread while it runs `body`.
    template <class Body>
    void run(Body&& body) {
        const thread_mark<thread_count> mark{*this};
        ++running_;
        body();
        --running_;
    }
    /// Joins the threads except the calling one. Gives up after a second: a thread may wait for something that the calling one holds.
    template <class... Thread>
    void join_others(Thread&... all) noexcept {
        constexpr int waits_max = 1000;
        const int own = thread_mark<thread_count>::is_set_for(*this) ? 1 : 0;
        for (int i = 0; running_ != own; ++i) {
            if (i == waits_max) return;
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
        (join_other(all), ...);
    }

private:
    static void join_other(std::thread& one) noexcept {
        if (one.joinable() && one.get_id() != std::this_thread::get_id()) one.join();
    }
    static void join_other(std::vector<std::thread>& all) noexcept {
        for (std::thread& each : all) join_other(each);
    }

    std::atomic<int> running_ = 0;
};

/// Instead of destroying the object. It stays reachable, so that a leak checker does not report it.
template <class T>
void leave_undestroyed(std::unique_ptr<T>& one) noexcept {
    struct node {
        T* left;
        node* next;
    };
    static std::atomic<node*> last = nullptr;
    T* const left = one.release();
    auto* const added = new (std::nothrow) node{left, last};
    if (added == nullptr) return;
    while (!last.compare_exchange_weak(added->next, added)) {
    }
}

/// Calls a function before OPENSSL_cleanup frees OpenSSL's state. At the end of a process, this often happens before static objects are
/// destroyed, and any thread that still uses OpenSSL then reads freed memory.
class before_openssl_end {
public:
    before_openssl_end() noexcept = default;
    before_openssl_end(const before_openssl_end&) = delete;
    before_openssl_end& operator=(const before_openssl_end&) = delete;
    /// The function is not called any more when this returns.
    ~before_openssl_end() { cancel(); }

    /// Calls `function(owner)` once, on the thread that ends OpenSSL. It must not throw. Replaces an earlier function.
    void call(void (*function)(void*) noexcept, void* owner) {
        registry& all = registry::instance();
        const std::lock_guard hold{all.mutex};
        function_ = function;
        owner_ = owner;
        for (const before_openssl_end* each = all.first; each != nullptr; each = each->next_)
            if (each == this) return;
        next_ = all.first;
        all.first = this;
    }
    /// Does nothing on the thread that is calling the function.
    void cancel() noexcept {
        if (function_ == nullptr) return;
        registry& all = registry::instance();
        std::unique_lock hold{all.mutex};
        for (before_openssl_end** each = &all.first; *each != nullptr; each = &(*each)->next_)
            if (*each == this) {
                *each = next_;
                return;
            }
        if (all.thread != std::this_thread::get_id()) all.called.wait(hold, [&] { return all.current != this; });
    }

private:
    /// Never destroyed, because static objects may be destroyed later.
    struct registry {
        static registry& instance() {
            static registry* const only = [] {
                OPENSSL_atexit([] { instance().call_all(); });
                return new registry;
            }();
            return *only;
        }
        void call_all() noexcept {
            std::unique_lock hold{mutex};
            thread = std::this_thread::get_id();
            while (first != nullptr) {
                current = first;
                first = current->next_;
                before_openssl_end& each = *current;
                hold.unlock();
                each.function_(each.owner_);
                hold.lock();
                current = nullptr;
                called.notify_all();
            }
            thread = {};
        }

        std::mutex mutex;
        std::condition_variable called;
        std::thread::id thread;
        before_openssl_end* first = nullptr;
        before_openssl_end* current = nullptr;
    };

    void (*function_)(void*) noexcept = nullptr;
    void* owner_ = nullptr;
    before_openssl_end* next_ = nullptr;
};

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_PROCESS_LIFE_HPP
