#include <tollgate/http/detail/retry_after.hpp>

#include "require.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

using namespace tollgate;

/// For any value of a receiver, a wait is neither negative nor unbounded, and a date is equal after it is written and parsed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const instant now = from_unix_seconds(1'700'000'000);
    if (const auto wait = http::parse_retry_after(text, now))
        require(*wait >= milliseconds{0} && *wait <= std::chrono::hours{24 * 366}, "a wait out of bounds");
    if (const auto date = http::parse_http_date(text, now)) {
        require(size >= 24 && size <= 33, "a date of unexpected length");
        const instant year_10000 = from_unix_seconds(253'402'300'800);  // the result of a leap second, which has no date
        require(*date == year_10000 || http::parse_http_date(to_http_date(*date).view(), now) == date,
                "written again, it is another date");
    }
    return 0;
}
