#pragma once

#include <sqlite3.h>

#include <atomic>
#include <cstdio>
#include <limits>
#include <new>
#include <string>

namespace tollgate_test {

/// The real file system for SQLite, except that changes of the disk (write, truncate, sync) fail from the nth one on when a
/// test requires it. Registered as `name()` during its lifetime.
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

    /// The next `changes_left` changes succeed; later ones fail with `code`.
    void fail_after(long changes_left, int code) noexcept {
        code_ = code;
        changes_left_ = changes_left;
    }
    void heal() noexcept { changes_left_ = std::numeric_limits<long>::max(); }

private:
    /// The file that SQLite uses; the real file follows it in the same block.
    struct file : sqlite3_file {
        faulty_vfs* owner;
        sqlite3_file* real() noexcept { return reinterpret_cast<sqlite3_file*>(this + 1); }
    };
    static file* as_file(sqlite3_file* handle) noexcept { return static_cast<file*>(handle); }
    static sqlite3_file* real(sqlite3_file* handle) noexcept { return as_file(handle)->real(); }

    /// Whether a change is permitted.
    int permit() noexcept { return changes_left_.fetch_sub(1) > 0 ? SQLITE_OK : code_.load(); }

    static int open(sqlite3_vfs* vfs, sqlite3_filename name, sqlite3_file* handle, int flags, int* out_flags) {
        auto* self = static_cast<faulty_vfs*>(vfs->pAppData);
        auto* opened = new (handle) file{};
        opened->owner = self;
        const int code = self->real_->xOpen(self->real_, name, opened->real(), flags, out_flags);
        opened->pMethods = code == SQLITE_OK ? &self->methods_ : nullptr;
        return code;
    }

    static sqlite3_io_methods make_methods(bool shared_memory) {
        sqlite3_io_methods methods{};
        methods.iVersion = shared_memory ? 2 : 1;
        methods.xClose = [](sqlite3_file* f) { return real(f)->pMethods->xClose(real(f)); };
        methods.xRead = [](sqlite3_file* f, void* to, int size, sqlite3_int64 at) {
            return real(f)->pMethods->xRead(real(f), to, size, at);
        };
        methods.xWrite = [](sqlite3_file* f, const void* from, int size, sqlite3_int64 at) {
            if (const int code = as_file(f)->owner->permit(); code != SQLITE_OK) return code;
            return real(f)->pMethods->xWrite(real(f), from, size, at);
        };
        methods.xTruncate = [](sqlite3_file* f, sqlite3_int64 size) {
            if (const int code = as_file(f)->owner->permit(); code != SQLITE_OK) return code;
            return real(f)->pMethods->xTruncate(real(f), size);
        };
        methods.xSync = [](sqlite3_file* f, int flags) {
            if (const int code = as_file(f)->owner->permit(); code != SQLITE_OK) return code;
            return real(f)->pMethods->xSync(real(f), flags);
        };
        methods.xFileSize = [](sqlite3_file* f, sqlite3_int64* size) { return real(f)->pMethods->xFileSize(real(f), size); };
        methods.xLock = [](sqlite3_file* f, int level) { return real(f)->pMethods->xLock(real(f), level); };
        methods.xUnlock = [](sqlite3_file* f, int level) { return real(f)->pMethods->xUnlock(real(f), level); };
        methods.xCheckReservedLock = [](sqlite3_file* f, int* out) {
            return real(f)->pMethods->xCheckReservedLock(real(f), out);
        };
        methods.xFileControl = [](sqlite3_file* f, int op, void* argument) {
            return real(f)->pMethods->xFileControl(real(f), op, argument);
        };
        methods.xSectorSize = [](sqlite3_file* f) { return real(f)->pMethods->xSectorSize(real(f)); };
        methods.xDeviceCharacteristics = [](sqlite3_file* f) { return real(f)->pMethods->xDeviceCharacteristics(real(f)); };
        methods.xShmMap = [](sqlite3_file* f, int page, int size, int extend, void volatile** out) {
            return real(f)->pMethods->xShmMap(real(f), page, size, extend, out);
        };
        methods.xShmLock = [](sqlite3_file* f, int offset, int count, int flags) {
            return real(f)->pMethods->xShmLock(real(f), offset, count, flags);
        };
        methods.xShmBarrier = [](sqlite3_file* f) { real(f)->pMethods->xShmBarrier(real(f)); };
        methods.xShmUnmap = [](sqlite3_file* f, int remove) { return real(f)->pMethods->xShmUnmap(real(f), remove); };
        return methods;
    }

    sqlite3_vfs* real_;
    sqlite3_vfs vfs_;
    sqlite3_io_methods methods_;
    char name_[40];
    std::atomic<long> changes_left_ = std::numeric_limits<long>::max();
    std::atomic<int> code_ = SQLITE_OK;
};

}  // namespace tollgate_test
