#include <tollgate/webhooks/hook_dispatcher.hpp>

#include <support/child_process.hpp>
#include <support/dispatcher_setup.hpp>
#include <support/eventually.hpp>

#include <catch2/catch.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/io_context.hpp>
#include <unistd.h>

#include <cstdlib>
#include <memory>

// Windows has no `fork`.

using namespace tollgate;
using namespace tollgate_test::dispatch;

TEST_CASE("an observer may end the process") {
    static dispatcher_setup* setup;
    static std::unique_ptr<hook_dispatcher> dispatcher;
    tollgate_test::child_process child{[] {
        ::alarm(100);  // the test fails if it makes no progress
        setup = new dispatcher_setup;
        setup->hook("http://127.0.0.1:9/");
        setup->observer.on_problem_ = [] { std::exit(7); };
        dispatcher = std::make_unique<hook_dispatcher>(setup->store, quick(), setup->policies().with_format(no_format{}));
        if (!dispatcher->start()) return 1;
        setup->publish(*dispatcher);
        for (;;) ::pause();
    }};
    CHECK(child.wait() == 7);
}

TEST_CASE("a child process leaves the dispatcher of its parent alone") {
    const bool on_executor = GENERATE(false, true);
    dispatcher_setup setup;
    receiver endpoint;
    setup.hook(endpoint.url());
    auto context = std::make_unique<asio::io_context>();
    auto dispatcher = on_executor ? std::make_unique<hook_dispatcher>(context->get_executor(), setup.store, quick(), setup.policies())
                                  : std::make_unique<hook_dispatcher>(setup.store, quick(), setup.policies());
    REQUIRE(dispatcher->start());
    const auto deliver_one = [&] {
        setup.publish(*dispatcher);
        if (!on_executor) return setup.observer.next().has_value();
        return tollgate_test::eventually([&] {
            context->restart();
            context->poll();
            return setup.observer.next(milliseconds{1}).has_value();
        });
    };
    CHECK(deliver_one());  // its connection is kept
    for (const bool stops : {false, true}) {
        tollgate_test::child_process child{[&] {
            ::alarm(100);
            if (stops) dispatcher->stop();
            dispatcher.reset();
            context.reset();
            return 0;
        }};
        CHECK(child.wait() == 0);
    }
    CHECK(deliver_one());
    CHECK(endpoint.count() == 2);
    dispatcher->stop();
}
