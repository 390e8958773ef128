#pragma once

#include <support/temporary_directory.hpp>

#include <tollgate/store/postgres/libpq.hpp>

#include <chrono>
#include <csignal>
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
        : options_{std::move(options)} {
        if (commits == disk::ignored)
            for (const char* each : {"fsync=off", "synchronous_commit=off", "full_page_writes=off"})
                options_.emplace_back(each);
        if (const passwd* somebody = ::geteuid() == 0 ? somebody_else() : nullptr) {
            user_ = somebody->pw_uid;
            group_ = somebody->pw_gid;
            if (::chown(directory_.path().c_str(), user_, group_) != 0) throw std::runtime_error{"no chown"};
        }
        wait_for(spawn({binary("initdb"), "-D", data(), "-U", "postgres", "--auth=trust", "--encoding=UTF8",
                        "--locale=C", "--no-sync", "--no-instructions"}),
                 "initdb");
        start();
    }
    postgres_server(const postgres_server&) = delete;
    postgres_server& operator=(const postgres_server&) = delete;
    ~postgres_server() { stop(SIGQUIT); }

    /// The one that a test program shares; started with the first call, from the program's first thread.
    static postgres_server& shared() {
        static postgres_server only;
        return only;
    }

    void start() {
        std::vector<std::string> command{binary("postgres"),
                                         "-D",
                                         data(),
                                         "-k",
                                         directory_.path(),
                                         "-c",
                                         "listen_addresses=",
                                         "-c",
                                         "max_connections=200",
                                         "-c",
                                         "shared_buffers=32MB",
                                         "-c",
                                         "autovacuum=off",
                                         "-c",
                                         "deadlock_timeout=50ms"};
        for (const std::string& each : options_) {
            command.emplace_back("-c");
            command.push_back(each);
        }
        process_ = spawn(command);
        for (int tries = 0; tries < 600; ++tries) {
            if (PQping(connection_string().c_str()) == PQPING_OK) return;
            if (::waitpid(process_, nullptr, WNOHANG) == process_) {
                process_ = -1;
                break;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds{50});
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
        return "host=" + directory_.path() + " port=5432 user=postgres dbname=postgres";
    }
    [[nodiscard]] std::string socket_path() const { return directory_.file(".s.PGSQL.5432"); }
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
        std::vector<char*> words;
        for (const std::string& each : command) words.push_back(const_cast<char*>(each.c_str()));
        words.push_back(nullptr);
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
        ::execv(words[0], words.data());
        ::_exit(127);
    }

    void wait_for(pid_t process, const char* what) const {
        int status = 0;
        ::waitpid(process, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw std::runtime_error{std::string{what} + ":\n" + log()};
    }

    temporary_directory directory_;
    std::vector<std::string> options_;
    uid_t user_ = 0;
    gid_t group_ = 0;
    pid_t process_ = -1;
    int schemas_ = 0;
};

}  // namespace tollgate_test
