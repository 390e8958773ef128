#pragma once

#include <sqlite3.h>

#include <atomic>
#include <cstdio>
#include <limits>
#include <new>
#include <string>

namespace tollgate_test {

/// The real file system for SQLite, except that changes of the disk (write, truncate, sync) fail from the nth one on when a
/// test says so. Registered under `name()` for as long as it lives.
class faulty_vfs {
public:
    explicit faulty_vfs(bool shared_memory = true)
        : real_{sqlite3_vfs_find(nullptr)}, vfs_{*real_}, methods_{make_methods(shared_memory)} {
        std::snprintf(name_, sizeof name_, "faulty-%p", static_cast<void*>(this));
        vfs_.szOsFile = static_cast<int>(sizeof(file)) + real_->szOsFile;
        vfs_.zName = name_;
        vfs_.pAppData = this;
        vfs_.xOpen = &open;
        sqlite3_vfs_register(&vfs_, 0);
    }
    faulty_vfs(const faulty_vfs&) = delete;
    faulty_vfs& operator=(const faulty_vfs&) = delete;
    ~faulty_vfs() { sqlite3_vfs_unregister(&vfs_); }

    [[nodiscard]] std::string name() const { return name_; }

    /// `changes_left` more succeed; then each fails with `code`.
    void fail_after(long changes_left, int code) noexcept {
        code_ = code;
        changes_left_ = changes_left;
    }
    void heal() noexcept { changes_left_ = std::numeric_limits<long>::max(); }

private:
    /// What SQLite sees; the real file lies behind it in the same block.
    struct file : sqlite3_file {
        faulty_vfs* owner;
        sqlite3_file* real() noexcept { return reinterpret_cast<sqlite3_file*>(this + 1); }
    };
    static file* mine(sqlite3_file* given) noexcept { return static_cast<file*>(given); }
    static sqlite3_file* real(sqlite3_file* given) noexcept { return mine(given)->real(); }

    /// Whether a change may happen now.
    int permit() noexcept { return changes_left_.fetch_sub(1) > 0 ? SQLITE_OK : code_.load(); }

    static int open(sqlite3_vfs* vfs, sqlite3_filename name, sqlite3_file* given, int flags, int* out_flags) {
        auto* self = static_cast<faulty_vfs*>(vfs->pAppData);
        auto* made = new (given) file{};
        made->owner = self;
        const int code = self->real_->xOpen(self->real_, name, made->real(), flags, out_flags);
        made->pMethods = code == SQLITE_OK ? &self->methods_ : nullptr;
        return code;
    }

    static sqlite3_io_methods make_methods(bool shared_memory) {
        sqlite3_io_methods made{};
        made.iVersion = shared_memory ? 2 : 1;
        made.xClose = [](sqlite3_file* f) { return real(f)->pMethods->xClose(real(f)); };
        made.xRead = [](sqlite3_file* f, void* to, int size, sqlite3_int64 at) {
            return real(f)->pMethods->xRead(real(f), to, size, at);
        };
        made.xWrite = [](sqlite3_file* f, const void* from, int size, sqlite3_int64 at) {
            if (const int code = mine(f)->owner->permit(); code != SQLITE_OK) return code;
            return real(f)->pMethods->xWrite(real(f), from, size, at);
        };
        made.xTruncate = [](sqlite3_file* f, sqlite3_int64 size) {
            if (const int code = mine(f)->owner->permit(); code != SQLITE_OK) return code;
            return real(f)->pMethods->xTruncate(real(f), size);
        };
        made.xSync = [](sqlite3_file* f, int flags) {
            if (const int code = mine(f)->owner->permit(); code != SQLITE_OK) return code;
            return real(f)->pMethods->xSync(real(f), flags);
        };
        made.xFileSize = [](sqlite3_file* f, sqlite3_int64* size) { return real(f)->pMethods->xFileSize(real(f), size); };
        made.xLock = [](sqlite3_file* f, int level) { return real(f)->pMethods->xLock(real(f), level); };
        made.xUnlock = [](sqlite3_file* f, int level) { return real(f)->pMethods->xUnlock(real(f), level); };
        made.xCheckReservedLock = [](sqlite3_file* f, int* out) {
            return real(f)->pMethods->xCheckReservedLock(real(f), out);
        };
        made.xFileControl = [](sqlite3_file* f, int op, void* argument) {
            return real(f)->pMethods->xFileControl(real(f), op, argument);
        };
        made.xSectorSize = [](sqlite3_file* f) { return real(f)->pMethods->xSectorSize(real(f)); };
        made.xDeviceCharacteristics = [](sqlite3_file* f) { return real(f)->pMethods->xDeviceCharacteristics(real(f)); };
        made.xShmMap = [](sqlite3_file* f, int page, int size, int extend, void volatile** out) {
            return real(f)->pMethods->xShmMap(real(f), page, size, extend, out);
        };
        made.xShmLock = [](sqlite3_file* f, int offset, int count, int flags) {
            return real(f)->pMethods->xShmLock(real(f), offset, count, flags);
        };
        made.xShmBarrier = [](sqlite3_file* f) { real(f)->pMethods->xShmBarrier(real(f)); };
        made.xShmUnmap = [](sqlite3_file* f, int remove) { return real(f)->pMethods->xShmUnmap(real(f), remove); };
        return made;
    }

    sqlite3_vfs* real_;
    sqlite3_vfs vfs_;
    sqlite3_io_methods methods_;
    char name_[40];
    std::atomic<long> changes_left_ = std::numeric_limits<long>::max();
    std::atomic<int> code_ = SQLITE_OK;
};

}  // namespace tollgate_test
