#pragma once

#include <support/certificate.hpp>
#include <support/eventually.hpp>
#include <support/server_socket.hpp>
#include <support/temporary_directory.hpp>

#include <tollgate/limits/detail/redis/connection.hpp>
#include <tollgate/limits/detail/redis/server_address.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tollgate_test {

/// A real Redis at 127.0.0.1 and at a socket in a temporary directory, without persistence. It stops at the end of the
/// scope or of the process.
class redis_server {
public:
    explicit redis_server(std::vector<std::string> options = {}) : options_{std::move(options)} { start(); }
    /// With TLS only.
    explicit redis_server(const certificate& with) : tls_{true} {
        std::ofstream{directory_.file("key.pem")} << with.key_pem;
        std::ofstream{certificate_file()} << with.certificate_pem;
        start();
    }
    redis_server(const redis_server&) = delete;
    redis_server& operator=(const redis_server&) = delete;
    ~redis_server() { stop(); }

    /// The server that a test program shares; started by the first call, from the program's first thread.
    static redis_server& shared() {
        static redis_server only;
        return only;
    }

    void start() {
        process_ = spawn();
        bool ready = false;
        eventually([&] {
            if (::waitpid(process_, nullptr, WNOHANG) == process_) process_ = -1;
            return (ready = responds()) || process_ < 0;
        });
        if (ready) return;
        stop();
        throw std::runtime_error{"Redis does not start (Debian: redis-server):\n" + log()};
    }
    void stop() noexcept {
        if (process_ < 0) return;
        ::kill(process_, SIGCONT);
        ::kill(process_, SIGKILL);
        ::waitpid(std::exchange(process_, -1), nullptr, 0);
    }
    /// SIGSTOP: it hangs; SIGCONT: it continues.
    void signal(int number) const noexcept { ::kill(process_, number); }

    [[nodiscard]] std::string url(std::string_view rest = {}) const {
        return (tls_ ? "rediss://127.0.0.1:" : "redis://127.0.0.1:") + std::to_string(port()) + std::string{rest};
    }
    [[nodiscard]] std::uint16_t port() const noexcept { return port_.port(); }
    [[nodiscard]] std::string socket_path() const { return directory_.file("socket"); }
    [[nodiscard]] std::string certificate_file() const { return directory_.file("certificate.pem"); }

    /// The reply to one command.
    tollgate::redis::reply run(std::initializer_list<std::string_view> texts) const {
        auto client = tollgate::redis::connection::open(address(), nullptr, in_time());
        if (!client) throw std::runtime_error{client.error().cause};
        std::string command;
        tollgate::redis::command_writer writer{command, texts.size()};
        for (std::string_view each : texts) writer.word(each);
        tollgate::redis::reply reply;
        if (auto done = (*client)->exchange(command, {&reply, 1}, in_time()); !done)
            throw std::runtime_error{done.error().cause};
        return reply;
    }

    [[nodiscard]] std::string log() const {
        std::ifstream file{directory_.file("log")};
        return {std::istreambuf_iterator<char>{file}, {}};
    }

private:
    static tollgate::redis::steady::time_point in_time() {
        return tollgate::redis::steady::now() + std::chrono::seconds{60};
    }
    [[nodiscard]] tollgate::redis::server_address address() const {
        tollgate::redis::server_address at;
        at.host = "127.0.0.1";
        at.port = port();
        return at;
    }

    bool responds() const {
        const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port());
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const bool connected = ::connect(descriptor, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
        ::close(descriptor);
        return connected && std::filesystem::exists(socket_path());
    }

    pid_t spawn() {
        std::filesystem::remove(socket_path());
        std::vector<std::string> command{
            "redis-server", "--bind",      "127.0.0.1",         "--unixsocket", socket_path(),
            "--save",       "",            "--appendonly",      "no",           "--dir",
            directory_.path(), "--daemonize", "no", "--logfile", directory_.file("log")};
        const std::string at = std::to_string(port());
        const auto more = tls_ ? std::vector<std::string>{"--port", "0", "--tls-port", at, "--tls-auth-clients", "no",
                                                          "--tls-cert-file", certificate_file(), "--tls-key-file",
                                                          directory_.file("key.pem"), "--tls-ca-cert-file",
                                                          certificate_file()}
                               : std::vector<std::string>{"--port", at};
        command.insert(command.end(), more.begin(), more.end());
        command.insert(command.end(), options_.begin(), options_.end());
        std::vector<char*> texts;
        for (std::string& each : command) texts.push_back(each.data());
        texts.push_back(nullptr);
        const pid_t parent = ::getpid();
        const pid_t child = ::fork();
        if (child < 0) throw std::runtime_error{"no fork"};
        if (child > 0) return child;
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // also if the test crashes
        if (::getppid() != parent) ::_exit(125);
        ::setpgid(0, 0);  // an interrupt at the terminal is for the test
        const int nowhere = ::open("/dev/null", O_RDWR);
        ::dup2(nowhere, 0);
        ::dup2(nowhere, 1);
        ::dup2(nowhere, 2);
        ::execvp(texts[0], texts.data());
        ::_exit(127);
    }

    temporary_directory directory_;
    std::vector<std::string> options_;
    bool tls_ = false;
    reserved_port port_;
    pid_t process_ = -1;
};

}  // namespace tollgate_test
