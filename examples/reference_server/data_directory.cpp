#include "data_directory.hpp"

#include "output.hpp"

#include <tollgate/base/secret.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace reference {

namespace {

run_error system_error(const std::string& message, const std::filesystem::path& path) {
    return run_error{message + " '" + path.string() + "': " + std::strerror(errno) + "."};
}

/// Closes what it holds.
class descriptor {
public:
    explicit descriptor(int number) noexcept : number_{number} {}
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    ~descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    [[nodiscard]] int number() const noexcept { return number_; }

private:
    int number_;
};

bool write_all(int to, std::string_view content) {
    while (!content.empty()) {
        const auto written = ::write(to, content.data(), content.size());
        if (written < 0 && errno != EINTR) return false;
        if (written > 0) content.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

}  // namespace

void make_private_directory(const std::filesystem::path& directory) {
    // Parents have default permissions; the last directory is private from its creation on.
    std::error_code ignored;
    const auto parent = directory.parent_path();
    if (!parent.empty()) std::filesystem::create_directories(parent, ignored);
    if (::mkdir(directory.c_str(), S_IRWXU) == 0) return;
    if (errno != EEXIST) throw system_error("--data: cannot create the directory", directory);
    struct stat found {};
    if (::stat(directory.c_str(), &found) != 0 || !S_ISDIR(found.st_mode))
        throw run_error{"--data: '" + directory.string() + "' is not a directory."};
    static bool has_warned = false;  // a command may open several parts of the directory
    if ((found.st_mode & (S_IRWXG | S_IRWXO)) != 0 && !std::exchange(has_warned, true))
        std::cerr << "warning: --data: other users can access '" << directory.string()
                  << "', which holds private keys and secrets. Restrict it with: chmod 700\n";
}

bool file_exists(const std::filesystem::path& file, std::string_view flag) {
    std::error_code failed;
    const bool exists = std::filesystem::exists(file, failed);
    if (failed) throw run_error{std::string{flag} + ": cannot access '" + file.string() + "': " + failed.message() + "."};
    return exists;
}

directory_lock::directory_lock(const std::filesystem::path& directory)
    : descriptor_{::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)} {
    if (descriptor_ < 0) throw system_error("cannot open the directory", directory);
    const auto end = std::chrono::steady_clock::now() + wait_max;
    while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
        const bool is_held = errno == EWOULDBLOCK;
        if ((is_held || errno == EINTR) && std::chrono::steady_clock::now() < end) {
            std::this_thread::sleep_for(std::chrono::milliseconds{10});
            continue;
        }
        const auto failed = is_held ? run_error{"another process has locked '" + directory.string() + "'."}
                                    : system_error("cannot lock the directory", directory);
        ::close(descriptor_);
        throw failed;
    }
}

directory_lock::~directory_lock() { ::close(descriptor_); }

private_file::private_file(std::filesystem::path file)
    : file_{std::move(file)}, unfinished_{file_.string() + "." + std::to_string(::getpid()) + ".new"} {
    // An existing file or link may have been planted to redirect the content, so it is refused. A file left by a crashed
    // process with the same id is removed first.
    ::unlink(unfinished_.c_str());
    descriptor_ = ::open(unfinished_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (descriptor_ < 0) throw system_error("cannot write", unfinished_);
}

private_file::~private_file() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    ::unlink(unfinished_.c_str());
}

void private_file::write(std::string_view content) {
    if (!write_all(descriptor_, content)) throw system_error("cannot write", unfinished_);
}

void private_file::finish(existing_file old) {
    if (::fsync(descriptor_) != 0) throw system_error("cannot write", unfinished_);
    if (old == existing_file::refused) {
        // A link never replaces a file. Where the file system has none, a file that appears at this moment is replaced.
        if (::link(unfinished_.c_str(), file_.c_str()) == 0) ::unlink(unfinished_.c_str());
        else if (errno == EEXIST || file_exists(file_, "cannot write")) throw run_error{"'" + file_.string() + "' exists already."};
        else old = existing_file::replaced;
    }
    if (old == existing_file::replaced && ::rename(unfinished_.c_str(), file_.c_str()) != 0) throw system_error("cannot write", file_);
    ::close(std::exchange(descriptor_, -1));
    // The new name is on disk, too, where the file system supports that.
    const auto parent = file_.parent_path();
    const descriptor directory{::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (directory.number() >= 0) ::fsync(directory.number());
}

void write_private_file(const std::filesystem::path& file, std::string_view content) {
    private_file written{file};
    written.write(content);
    written.finish(existing_file::replaced);
}

std::optional<std::string> read_small_file(const std::filesystem::path& file) {
    constexpr std::size_t bytes_max = 1 << 20;  // a device file never ends
    // A FIFO that no process writes to is empty. Without O_NONBLOCK, opening it would wait for one.
    const descriptor in{::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    if (in.number() < 0 && errno == ENOENT) return std::nullopt;
    if (in.number() < 0 || ::fcntl(in.number(), F_SETFL, O_RDONLY) != 0) throw system_error("cannot read", file);
    std::string content;
    char piece[4096];
    while (true) {
        const auto count = ::read(in.number(), piece, sizeof piece);
        if (count == 0) return content;
        if (count < 0 && errno != EINTR) throw system_error("cannot read", file);
        if (count > 0) content.append(piece, static_cast<std::size_t>(count));
        if (content.size() > bytes_max) throw run_error{"'" + file.string() + "' is too large."};
    }
}

namespace {

/// The content of a file with a secret that a flag names. Throws `usage_error`.
std::string read_secret_file(std::string_view flag, const std::filesystem::path& file) {
    const auto begin = std::string{"--"}.append(flag).append(": ");
    std::optional<std::string> text;
    try {
        text = read_small_file(file);
    } catch (const run_error& error) {
        throw usage_error{begin + error.what()};
    }
    if (!text) throw usage_error{begin + "there is no file '" + file.string() + "'."};
    return *std::move(text);
}

/// Warns on stderr when other users can read a file with a secret. For a file that is valid: an invalid one gets one message.
void warn_if_others_can_read(std::string_view flag, const std::filesystem::path& file) {
    struct stat found {};
    if (::stat(file.c_str(), &found) == 0 && (found.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        std::cerr << "warning: --" << flag << ": other users can access '" << file.string() << "'. Restrict it with: chmod 600\n";
}

}  // namespace

tollgate::secret_keys read_secret_keys(const std::filesystem::path& file) {
    if (file.empty()) return {};
    auto text = read_secret_file("secret-key-file", file);
    auto keys = tollgate::secret_keys::parse(text);
    tollgate::secure_wipe(text);
    if (!keys) throw usage_error{"--secret-key-file: '" + file.string() + "': " + keys.error().message};
    warn_if_others_can_read("secret-key-file", file);
    return *std::move(keys);
}

tollgate::digest read_initial_access_token(const std::filesystem::path& file) {
    auto text = read_secret_file("dynamic-registration", file);
    const auto is_blank = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
    std::string_view token{text};
    while (!token.empty() && is_blank(token.back())) token.remove_suffix(1);
    while (!token.empty() && is_blank(token.front())) token.remove_prefix(1);
    constexpr std::size_t bytes_min = 22;  // 128 random bits in base64
    constexpr std::size_t bytes_max = 512;
    const bool is_token = token.size() >= bytes_min && token.size() <= bytes_max &&
                          std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < '\x7f'; });
    const auto found = tollgate::digest_of(token);
    tollgate::secure_wipe(text);
    if (!is_token)
        throw usage_error{"--dynamic-registration: '" + file.string() + "' must hold one token of 22 to 512 visible ASCII characters."};
    warn_if_others_can_read("dynamic-registration", file);
    return found;
}

}  // namespace reference
