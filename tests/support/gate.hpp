#pragma once

#include <condition_variable>
#include <mutex>

namespace tollgate_test {

/// A gate that handlers wait at until the test opens it.
class gate {
public:
    void wait() {
        std::unique_lock hold{mutex_};
        ++waiting_;
        changed_.notify_all();
        changed_.wait(hold, [this] { return open_; });
    }
    void wait_for_calls(int count) {
        std::unique_lock hold{mutex_};
        changed_.wait(hold, [&] { return waiting_ >= count; });
    }
    void open() {
        const std::lock_guard hold{mutex_};
        open_ = true;
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int waiting_ = 0;
    bool open_ = false;
};

}  // namespace tollgate_test
