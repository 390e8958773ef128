#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace reference {

/// Reads files again on a thread of its own. They may be on a file system that hangs, which must delay neither the watchdog nor the
/// signal to stop.
class reload_thread {
public:
    /// `reload` must not throw.
    explicit reload_thread(std::function<void()> reload) : reload_{std::move(reload)}, thread_{[this] { run(); }} {}
    reload_thread(const reload_thread&) = delete;
    reload_thread& operator=(const reload_thread&) = delete;
    /// Waits for a reload that was asked for.
    ~reload_thread() {
        set(is_stopping_);
        thread_.join();
    }

    /// Returns at once. A reload that is in progress is followed by another one.
    void ask() { set(is_asked_); }

private:
    void set(bool& flag) {
        {
            const std::lock_guard hold{mutex_};
            flag = true;
        }
        changed_.notify_all();  // glibc before 2.41 may lose the notification of one thread (its bug 25847)
    }

    void run() {
        std::unique_lock lock{mutex_};
        for (;;) {
            changed_.wait(lock, [this] { return is_asked_ || is_stopping_; });
            if (!std::exchange(is_asked_, false)) return;
            lock.unlock();
            reload_();
            lock.lock();
        }
    }

    const std::function<void()> reload_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_asked_ = false;
    bool is_stopping_ = false;
    std::thread thread_;  // last: it uses the others
};

}  // namespace reference
