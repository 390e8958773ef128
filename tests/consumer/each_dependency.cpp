// One header for each library that must be found: less to compile than all of Tollgate.
#include <tollgate/base/digest.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/http/json_body.hpp>
#if defined(TOLLGATE_WITH_SQLITE)
#include <tollgate/store/sqlite_database.hpp>
#endif

#include <asio/version.hpp>

#include <cstdio>

int main() {
    const auto loopback = tollgate::ip_address::parse("127.0.0.1");
    if (!loopback || loopback->to_text() != "127.0.0.1") return 1;
    if (tollgate::sha256("a") == tollgate::sha256("b") || !tollgate::http::parse_json_object(R"({"a": 1})")) return 1;
    std::puts("Tollgate " TOLLGATE_VERSION);
    return 0;
}
