// expect: is not a constant expression
#include <tollgate/http/response.hpp>

int main() {
    tollgate::http::response out;
#if defined(TOLLGATE_MISFIT)
    out.add("Location", "/a\r\nSet-Cookie: b=c");
#else
    out.add("Location", "/a");
#endif
}
