// What a program puts around a service: middleware, a handler of its own beside it, and a directory on an asynchronous
// database. The program sends itself requests and returns 0 if the responses are right.
#include <tollgate/tollgate.hpp>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <iostream>
#include <mutex>
#include <new>
#include <string>
#include <thread>

using namespace tollgate;

/// An asynchronous client, as many databases have one: it calls back on a thread of its own.
class async_database {
public:
    ~async_database() { worker_.request_stop(); }

    void find_balance(std::int64_t user, std::function<void(std::string amount)> done) {
        const std::lock_guard held{mutex_};
        queue_.push_back([user, done = std::move(done)] { done(user == 1 ? "12.50" : ""); });
        filled_.notify_one();
    }

private:
    std::mutex mutex_;
    std::condition_variable_any filled_;
    std::deque<std::function<void()>> queue_;
    std::jthread worker_{[this](const std::stop_token& stop) {
        std::unique_lock held{mutex_};
        while (filled_.wait(held, stop, [this] { return !queue_.empty(); })) {
            auto next = std::move(queue_.front());
            queue_.pop_front();
            held.unlock();
            next();
            held.lock();
        }
    }};
};

// [async]
/// Starts a query and waits for its result, on one of the server's workers. The wait is bounded: a database that does not
/// answer is `unavailable`, a 503 for the client.
class shop_directory {
public:
    static constexpr bool blocking = true;  // called on workers, never on the threads that serve sockets

    explicit shop_directory(async_database& database) : database_{database} {}

    result<balance> balance_of(user_id user) {
        // Shared, because the callback may run after the wait has ended.
        auto promise = std::make_shared<std::promise<std::string>>();
        auto found = promise->get_future();
        database_.find_balance(user.value(), [promise](std::string amount) { promise->set_value(std::move(amount)); });
        if (found.wait_for(seconds{1}) != std::future_status::ready) return unavailable("the database did not answer in time");
        const auto amount = decimal::parse(found.get());
        if (!amount) return not_found();
        return balance{user, *amount, "EUR"};
    }
    result<std::vector<account>> accounts_of(user_id, std::string_view) { return {}; }

private:
    async_database& database_;
};
// [/async]

// [middleware]
/// A handler around another one. It forwards every step, and changes the response when it is complete.
class with_site_fields {
public:
    explicit with_site_fields(http::handler_ref inner) : inner_{inner} {}

    [[nodiscard]] bool may_block() const noexcept { return inner_.may_block(); }

    http::handle_step advance(const http::request& request, http::response& response, http::handler_state& state,
                              http::thread_kind thread) noexcept {
        const auto step = inner_.advance(request, response, state, thread);
        if (step == http::handle_step::done) finish(response);
        return step;
    }
    void handle(const http::request& request, http::response& response) noexcept {
        inner_.handle(request, response);
        finish(response);
    }
    void handle(const http::refusal& refused, http::response& response) noexcept { inner_.handle(refused, response); }

private:
    static void finish(http::response& response) noexcept try {
        response.add("X-Served-By", "node-1");
        // The place to compress: replace `response.body()`, and add Content-Encoding and Vary. Do not compress
        // pages: they contain form tokens next to text from the URL, so the compressed length would leak the tokens (BREACH).
    } catch (const std::bad_alloc&) {
        response.clear();  // the field may be incomplete
        response.set_status(http::status::internal_server_error);
    }

    http::handler_ref inner_;
};
// [/middleware]

// [files]
/// The program's own handler, for paths that do not belong to Tollgate.
struct robots_file {
    void handle(const http::request&, http::response& response) noexcept try {
        response.body() = "User-agent: *\nDisallow: /v1/\n";
        response.add("Content-Type", "text/plain");
    } catch (const std::bad_alloc&) {
        response.clear();
        response.set_status(http::status::internal_server_error);
    }
    void handle(const http::refusal& refused, http::response& response) noexcept { response.set_status(refused.status); }
};
// [/files]

int main() {
    async_database database;
    shop_directory users{database};
    memory_store store;
    // [stack]
    account_service service{{.base_url = "https://api.example.com/v1", .services = {{"shop", {"order.paid"}}}}, users, store};
    robots_file robots;
    http::site site{http::mounted("/robots.txt", robots), http::mounted(service)};  // the last one returns 404 for unknown paths
    with_site_fields stack{site};  // the handler for the server or another host
    // [/stack]
    static_assert(http::resumable_handler<decltype(stack)>);

    const auto credentials_of = [&](user_id user) {
        const personal_token_request wanted{user, "middleware", *scope_set::parse("user:balance")};
        return issue_personal_token(store, wanted, system_clock{}.now()).value().authorization();
    };
    struct {
        std::string_view path;
        std::int64_t user;
        http::status expected;
        std::string_view body;
    } const cases[] = {
        {"/v1/user/balance", 1, http::status::ok, "12.50"},
        {"/v1/user/balance", 2, http::status::not_found, "message"},  // the database does not know them
        {"/robots.txt", 1, http::status::ok, "Disallow: /v1/"},
    };
    bool right = stack.may_block();  // as its database does
    for (const auto& each : cases) {
        const auto credentials = credentials_of(user_id{each.user});
        http::request request;
        request.target = http::target::from(each.path);
        request.fields.add("User-Agent", "middleware");
        request.fields.add("Authorization", credentials);
        http::response response;
        stack.handle(request, response);
        std::cout << each.path << ": " << http::to_number(response.status()) << ' ' << response.body() << '\n';
        right = right && response.status() == each.expected && response.body().find(each.body) != std::string::npos &&
                response.find("X-Served-By") == "node-1";
    }
    return right ? 0 : 1;
}
