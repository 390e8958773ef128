#pragma once

#include <support/certificate.hpp>
#include <support/free_port.hpp>
#include <support/temporary_directory.hpp>

#include <tollgate/store/detail/postgres/libpq.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tollgate_test {

/// A real PostgreSQL with data and a socket of its own in a temporary directory, reached through no network, and gone
/// at the end of the scope, or of the process. It runs as somebody else than root, who it will not run as.
class postgres_server {
public:
    /// What a commit waits for.
    enum class disk { ignored, waited_for };

    explicit postgres_server(disk commits = disk::ignored, std::vector<std::string> options = {})
        : postgres_server{commits, std::move(options), nullptr} {}
    /// With TLS, and for that at 127.0.0.1, too.
    explicit postgres_server(const certificate& with) : postgres_server{disk::ignored, {}, &with} {}
    postgres_server(const postgres_server&) = delete;
    postgres_server& operator=(const postgres_server&) = delete;
    ~postgres_server() { stop(SIGQUIT); }

    /// The one that a test program shares; started with the first call, from the program's first thread.
    static postgres_server& shared() {
        static postgres_server only;
        return only;
    }

    void start() {
        std::vector<std::string> command{binary("postgres"), "-D", data(), "-k", directory_.path()};
        std::vector<std::string> all{"listen_addresses=",   "port=" + std::to_string(port_), "max_connections=200",
                                     "shared_buffers=32MB", "autovacuum=off",                "deadlock_timeout=50ms"};
        all.insert(all.end(), options_.begin(), options_.end());
        for (std::string& each : all) {
            command.emplace_back("-c");
            command.push_back(std::move(each));
        }
        process_ = spawn(command);
        for (int tries = 0; tries < 600; ++tries) {
            if (PQping(connection_string().c_str()) == PQPING_OK) return;
            std::this_thread::sleep_for(std::chrono::milliseconds{50});
            if (::waitpid(process_, nullptr, WNOHANG) != process_) continue;
            process_ = -1;
            // Of one that was killed the children may be there for a moment, and their memory with them.
            if (tries > 100) break;
            process_ = spawn(command);
        }
        throw std::runtime_error{"PostgreSQL does not start:\n" + log()};
    }

    /// SIGINT: at once, in order (fast); SIGQUIT: at once, with recovery at the next start; SIGTERM: when all have
    /// left.
    void stop(int signal = SIGINT) noexcept {
        if (process_ < 0) return;
        ::kill(process_, signal);
        ::waitpid(std::exchange(process_, -1), nullptr, 0);
    }

    /// Nothing in it can answer, its children are left to find out.
    void kill() noexcept { stop(SIGKILL); }

    [[nodiscard]] std::string connection_string() const {
        return "host=" + directory_.path() + " port=" + std::to_string(port_) + " user=postgres dbname=postgres";
    }
    [[nodiscard]] std::string socket_path() const { return directory_.file(".s.PGSQL." + std::to_string(port_)); }
    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    /// Of the server, to be believed by clients.
    [[nodiscard]] std::string certificate_file() const { return directory_.file("certificate.pem"); }
    /// For a schema of its own, which is empty.
    [[nodiscard]] std::string fresh() {
        const std::string schema = "test_" + std::to_string(++schemas_);
        run("CREATE SCHEMA " + schema);
        return with_schema(connection_string(), schema);
    }
    /// The schema that `fresh` made last.
    [[nodiscard]] std::string last() const {
        return with_schema(connection_string(), "test_" + std::to_string(schemas_));
    }
    [[nodiscard]] static std::string with_schema(const std::string& connection_string, const std::string& schema) {
        return connection_string + " options=-csearch_path=" + schema;
    }

    /// One script, on a connection of its own.
    void run(const std::string& script) const { run(connection_string(), script); }
    /// The first column of the rows, as text.
    static std::vector<std::string> run(const std::string& connection_string, const std::string& script) {
        PGconn* const connection = PQconnectdb(connection_string.c_str());
        PGresult* const result = PQexec(connection, script.c_str());
        const auto status = PQresultStatus(result);
        const std::string why = PQerrorMessage(connection);
        std::vector<std::string> column;
        for (int i = 0; i < PQntuples(result); ++i) column.emplace_back(PQgetvalue(result, i, 0));
        PQclear(result);
        PQfinish(connection);
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) throw std::runtime_error{why + script};
        return column;
    }

    [[nodiscard]] std::string log() const {
        std::ifstream file{directory_.file("log")};
        return {std::istreambuf_iterator<char>{file}, {}};
    }

private:
    postgres_server(disk commits, std::vector<std::string> options, const certificate* tls)
        : options_{std::move(options)} {
        if (commits == disk::ignored)
            for (const char* each : {"fsync=off", "synchronous_commit=off", "full_page_writes=off"})
                options_.emplace_back(each);
        if (const passwd* somebody = ::geteuid() == 0 ? somebody_else() : nullptr) {
            user_ = somebody->pw_uid;
            group_ = somebody->pw_gid;
            if (::chown(directory_.path().c_str(), user_, group_) != 0) throw std::runtime_error{"no chown"};
        }
        if (tls != nullptr) listen_with(*tls);
        wait_for(spawn({binary("initdb"), "-D", data(), "-U", "postgres", "--auth=trust", "--encoding=UTF8",
                        "--locale=C", "--no-sync", "--no-instructions"}),
                 "initdb");
        start();
    }

    void listen_with(const certificate& tls) {
        port_ = free_port();
        for (const auto& [name, text] : {std::pair{"key.pem", tls.key_pem}, {"certificate.pem", tls.certificate_pem}}) {
            std::ofstream{directory_.file(name)} << text;
            std::filesystem::permissions(directory_.file(name), std::filesystem::perms::owner_read);
            if (user_ != 0 && ::chown(directory_.file(name).c_str(), user_, group_) != 0)
                throw std::runtime_error{"no chown"};
        }
        for (const char* each : {"ssl=on", "listen_addresses=127.0.0.1"}) options_.emplace_back(each);
        options_.push_back("ssl_key_file=" + directory_.file("key.pem"));
        options_.push_back("ssl_cert_file=" + directory_.file("certificate.pem"));
    }

    static const passwd* somebody_else() {
        if (const passwd* found = ::getpwnam("postgres")) return found;
        return ::getpwnam("nobody");
    }

    static std::string binary(const std::string& name) {
        namespace fs = std::filesystem;
        std::error_code ignored;
        std::string newest;
        for (const auto& version : fs::directory_iterator{"/usr/lib/postgresql", ignored})
            if (const auto path = (version.path() / "bin" / name).string(); fs::exists(path) && path > newest)
                newest = path;
        if (newest.empty()) throw std::runtime_error{"no " + name + ": install PostgreSQL (Debian: postgresql)"};
        return newest;
    }

    [[nodiscard]] std::string data() const { return directory_.file("data"); }

    pid_t spawn(const std::vector<std::string>& command) {
        std::vector<char*> texts;
        for (const std::string& each : command) texts.push_back(const_cast<char*>(each.c_str()));
        texts.push_back(nullptr);
        const std::string log = directory_.file("log");
        const pid_t parent = ::getpid();
        const pid_t child = ::fork();
        if (child < 0) throw std::runtime_error{"no fork"};
        if (child > 0) return child;
        if (user_ != 0 && (::setgid(group_) != 0 || ::setuid(user_) != 0)) ::_exit(126);
        ::prctl(PR_SET_PDEATHSIG, SIGQUIT);  // whatever becomes of the test
        if (::getppid() != parent) ::_exit(125);
        ::setpgid(0, 0);  // an interrupt at the terminal is for the test
        const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
        ::dup2(file, 1);
        ::dup2(file, 2);
        if (::chdir("/") != 0) ::_exit(124);
        ::execv(texts[0], texts.data());
        ::_exit(127);
    }

    void wait_for(pid_t process, const char* what) const {
        int status = 0;
        ::waitpid(process, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw std::runtime_error{std::string{what} + ":\n" + log()};
    }

    temporary_directory directory_;
    std::vector<std::string> options_;
    std::uint16_t port_ = 5432;
    uid_t user_ = 0;
    gid_t group_ = 0;
    pid_t process_ = -1;
    int schemas_ = 0;
};

}  // namespace tollgate_test
