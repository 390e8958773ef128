#pragma once

#include <support/certificate.hpp>
#include <support/temporary_directory.hpp>

#include <tollgate/store/detail/postgres/libpq.hpp>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tollgate_test {

/// A real PostgreSQL that support/servers.py starts, with its data and socket in a temporary directory. It stops with this
/// object or with the process.
class postgres_server {
public:
    /// What a commit waits for.
    enum class disk { ignored, waited_for };

    explicit postgres_server(disk commits = disk::ignored, const std::vector<std::string>& settings = {})
        : launcher_{arguments_for(commits, settings)} {
        launcher_->read_place(port_, directory_);
    }
    /// With TLS, and so also at 127.0.0.1.
    explicit postgres_server(const certificate& with) {
        const temporary_directory files;
        std::ofstream{files.file("key.pem")} << with.key_pem;
        std::ofstream{files.file("certificate.pem")} << with.certificate_pem;
        launcher_.emplace(std::vector<std::string>{"--certificate", files.file("certificate.pem"), "--key", files.file("key.pem")});
        launcher_->read_place(port_, directory_);
    }
    postgres_server(const postgres_server&) = delete;
    postgres_server& operator=(const postgres_server&) = delete;

    /// A database of this process in the PostgreSQL of the test run (TOLLGATE_TEST_POSTGRES), or else in one that the first
    /// call starts. The program's first thread makes that call.
    static postgres_server& shared() {
        static const std::unique_ptr<postgres_server> only = open_shared();
        return *only;
    }

    void start() { launcher_->command("start"); }
    /// SIGINT: disconnects clients and shuts down in order; SIGQUIT: at once, with recovery at the next start.
    void stop(int signal = SIGINT) { launcher_->command("stop " + std::to_string(signal)); }
    /// SIGKILL: the processes that serve connections notice it by themselves.
    void kill() { stop(SIGKILL); }

    [[nodiscard]] std::string connection_string() const {
        return "host=" + directory_ + " port=" + std::to_string(port_) + " user=postgres dbname=" + database_;
    }
    [[nodiscard]] std::string socket_path() const { return directory_ + "/.s.PGSQL." + std::to_string(port_); }
    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] const std::string& database() const noexcept { return database_; }
    /// The certificate that clients trust.
    [[nodiscard]] std::string certificate_file() const { return directory_ + "/certificate.pem"; }
    /// The connection string of a new, empty schema.
    [[nodiscard]] std::string new_schema() {
        const std::string schema = "test_" + std::to_string(++schemas_);
        run("CREATE SCHEMA " + schema);
        return with_schema(connection_string(), schema);
    }
    /// The connection string of a schema without rows: that of the previous call, which is much faster than a new one. For stores of
    /// which one is used after the other.
    [[nodiscard]] std::string emptied_schema() {
        if (emptied_.empty()) return emptied_ = new_schema();
        run(emptied_,
            "DO $$ BEGIN EXECUTE (SELECT 'TRUNCATE ' || string_agg(tablename, ', ') FROM pg_tables "
            "WHERE schemaname = current_schema AND tablename <> 'tollgate_schema'); END $$");
        return emptied_;
    }
    /// The last result of `new_schema`.
    [[nodiscard]] std::string last() const {
        return with_schema(connection_string(), "test_" + std::to_string(schemas_));
    }
    [[nodiscard]] static std::string with_schema(const std::string& connection_string, const std::string& schema) {
        return connection_string + " options=-csearch_path=" + schema;
    }

    /// Runs one script on a new connection.
    void run(const std::string& script) const { run(connection_string(), script); }
    /// The first column of the rows, as text.
    static std::vector<std::string> run(const std::string& connection_string, const std::string& script) {
        PGconn* const connection = PQconnectdb(connection_string.c_str());
        PGresult* const result = PQexec(connection, script.c_str());
        const auto status = PQresultStatus(result);
        const std::string message = PQerrorMessage(connection);
        std::vector<std::string> column;
        for (int i = 0; i < PQntuples(result); ++i) column.emplace_back(PQgetvalue(result, i, 0));
        PQclear(result);
        PQfinish(connection);
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) throw std::runtime_error{message + script};
        return column;
    }

    [[nodiscard]] std::string log() const {
        std::ifstream file{directory_ + "/postgres.log"};
        return {std::istreambuf_iterator<char>{file}, {}};
    }

private:
    /// The process of support/servers.py: it reads commands from its standard input and responds to each with a line.
    class launcher {
    public:
        explicit launcher(const std::vector<std::string>& arguments) {
            const auto script = std::filesystem::absolute(__FILE__).parent_path() / "servers.py";
            std::vector<std::string> command{"python3", script.string(), "postgres"};
            command.insert(command.end(), arguments.begin(), arguments.end());
            std::vector<char*> texts;
            for (std::string& each : command) texts.push_back(each.data());
            texts.push_back(nullptr);
            int to[2], from[2];
            if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0) throw std::runtime_error{"no pipe"};
            process_ = ::fork();
            if (process_ < 0) throw std::runtime_error{"no fork"};
            if (process_ == 0) {
                ::setpgid(0, 0);  // an interrupt at the terminal is for the test
                ::dup2(to[0], 0);
                ::dup2(from[1], 1);
                ::execvp(texts[0], texts.data());
                ::_exit(127);
            }
            ::close(to[0]);
            ::close(from[1]);
            to_ = to[1];
            from_ = ::fdopen(from[0], "r");
        }
        launcher(const launcher&) = delete;
        launcher& operator=(const launcher&) = delete;
        ~launcher() {
            ::close(to_);  // the end of its input ends it, and the server with it
            std::fclose(from_);
            ::waitpid(process_, nullptr, 0);
        }

        void read_place(std::uint16_t& port, std::string& directory) {
            std::string token;
            std::istringstream line{read_line()};
            if (!(line >> token >> port >> directory) || token != "ready") throw std::runtime_error{"PostgreSQL does not start"};
        }
        void command(const std::string& line) {
            const std::string bytes = line + "\n";
            if (::write(to_, bytes.data(), bytes.size()) < 0) throw std::runtime_error{"no launcher of PostgreSQL"};
            if (const std::string response = read_line(); response != "done") throw std::runtime_error{response};
        }

    private:
        std::string read_line() {
            std::string line;
            for (int byte; (byte = std::fgetc(from_)) != EOF && byte != '\n';) line += static_cast<char>(byte);
            return line;
        }

        pid_t process_ = -1;
        int to_ = -1;
        std::FILE* from_ = nullptr;
    };

    struct place {
        std::string directory;
        std::uint16_t port;
    };
    explicit postgres_server(place running) : directory_{std::move(running.directory)}, port_{running.port} {}

    static std::unique_ptr<postgres_server> open_shared() {
        const char* const running = std::getenv("TOLLGATE_TEST_POSTGRES");
        if (running == nullptr) return std::make_unique<postgres_server>();
        place at;
        std::istringstream{running} >> at.directory >> at.port;
        std::unique_ptr<postgres_server> server{new postgres_server{std::move(at)}};
        std::string name = "unit_" + std::to_string(::getpid());
        server->run("CREATE DATABASE " + name);
        ::setenv("PGDATABASE", name.c_str(), 1);  // for connections through a proxy
        server->database_ = std::move(name);
        return server;
    }

    static std::vector<std::string> arguments_for(disk commits, const std::vector<std::string>& settings) {
        std::vector<std::string> arguments;
        if (commits == disk::waited_for) arguments.emplace_back("--waits-for-disk");
        for (const std::string& each : settings) {
            arguments.emplace_back("--setting");
            arguments.push_back(each);
        }
        return arguments;
    }

    std::optional<launcher> launcher_;
    std::string directory_;
    std::uint16_t port_ = 0;
    std::string database_ = "postgres";
    int schemas_ = 0;
    std::string emptied_;
};

}  // namespace tollgate_test
