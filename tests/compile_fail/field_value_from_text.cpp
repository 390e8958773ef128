// expect: no known conversion
#include <tollgate/http/response.hpp>

int main() {
    constexpr std::string_view from_a_client = "/a\r\nSet-Cookie: b=c";
    tollgate::http::response out;
#if defined(TOLLGATE_MISFIT)
    out.add("Location", from_a_client);
#else
    if (const auto value = tollgate::http::field_value::from(from_a_client)) out.add("Location", *value);
#endif
}
