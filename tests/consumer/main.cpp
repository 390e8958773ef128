#include <tollgate/tollgate.hpp>

#include <cstdio>

int main() {
    const auto loopback = tollgate::ip_address::parse("127.0.0.1");
    if (!loopback || loopback->to_text() != "127.0.0.1") return 1;
    std::puts("Tollgate " TOLLGATE_VERSION);
    return 0;
}
