#include <tollgate/tollgate.hpp>

#include <cstdio>

int main() {
    const auto home = tollgate::ip_address::parse("127.0.0.1");
    if (!home || home->to_text() != "127.0.0.1") return 1;
    std::puts("Tollgate " TOLLGATE_VERSION);
    return 0;
}
