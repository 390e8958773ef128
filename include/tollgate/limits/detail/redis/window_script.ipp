#pragma once

#include <tollgate/limits/detail/redis/window_script.hpp>

#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <utility>

namespace tollgate::inline v0::redis {

TOLLGATE_DECL std::string_view window_script::text() noexcept {
    // A window that has ended under its last quota stays ended. A request for several units is granted at most an
    // eighth of what remains, so that the last units are available to every node. A value that is not a window is
    // overwritten. Whole numbers below 10^14 become text by `..` as they are (%.14g), which costs a third of
    // `string.format`; Redis writes those that it is given as arguments, such as the expiry, by itself.
    return R"lua(
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local requests, length, wanted = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3] and tonumber(ARGV[3]) or 1
local began, counted, granted, stored_length, write = now, 0, 0, nil, false
local value = redis.call('GET', KEYS[1])
if value then
    local of, units, lasts = string.match(value, '^(%d+) (%d+) (%d+)$')
    if of then
        of = tonumber(of)
        local start = math.min(of, now)
        if now < start + math.min(tonumber(lasts), length) then
            began, counted, stored_length = start, tonumber(units), lasts
            if ARGV[4] and of == tonumber(ARGV[5]) then
                counted = math.max(counted - ARGV[4], 0)
                write = true
            end
        end
    end
end
local new_length = ARGV[2]
if wanted == 0 then
    new_length = stored_length
elseif counted < requests then
    granted = math.min(wanted, math.max(1, math.floor((requests - counted) / 8)))
    counted = counted + granted
    write = true
elseif stored_length and stored_length ~= new_length then
    write = true
end
if write then
    if new_length ~= '0' then
        redis.call('SET', KEYS[1], began .. ' ' .. counted .. ' ' .. new_length, 'PX', began + new_length - now + 1000)
    else
        redis.call('DEL', KEYS[1])
    end
end
return {granted, math.max(requests - counted, 0), began, now}
)lua";
}

TOLLGATE_DECL window_script::window_script(std::string prefix) : prefix_{std::move(prefix)} {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
    unsigned int size = 0;
    if (EVP_Digest(text().data(), text().size(), digest.data(), &size, EVP_sha1(), nullptr) != 1)
        throw std::runtime_error{"OpenSSL has no SHA-1"};
    for (unsigned int i = 0; i < size; ++i) {
        constexpr char digits[] = "0123456789abcdef";
        name_ += digits[digest[i] >> 4];
        name_ += digits[digest[i] & 15];
    }
}

TOLLGATE_DECL std::string window_script::key_of(const limit_key& key) const {
    std::string made = prefix_;
    if (key.kind() == limit_kind::user) return made.append("user:").append(std::to_string(key.value()));
    made += "address:";
    for (int shift = 60; shift >= 0; shift -= 4) made += "0123456789abcdef"[key.value() >> shift & 15];
    return made;
}

TOLLGATE_DECL void window_script::append(std::string& commands, const window_request& request, form how) const {
    // What a request without leases leaves out, the script does not have to read.
    const bool returns = request.returned > 0;
    const bool names_wanted = returns || request.wanted != 1;
    command_writer to{commands, std::size_t{returns ? 9U : names_wanted ? 7U : 6U}};
    to.word(how == form::by_name ? "EVALSHA" : "EVAL")
        .word(how == form::by_name ? std::string_view{name_} : text())
        .word("1")
        .word(key_of(request.key))
        .number(request.allowed.requests)
        .number(std::int64_t{request.allowed.window_seconds} * 1000);
    if (names_wanted) to.number(request.wanted);
    if (returns) to.number(request.returned).number(request.returned_of);
}

TOLLGATE_DECL std::optional<window_reply> window_script::read(const window_request& request,
                                                               const reply& received) noexcept {
    const auto& [granted, remaining, began, now] = received.numbers;
    if (received.count != 4 || granted < 0 || granted > request.wanted || remaining < 0 ||
        remaining > request.allowed.requests || began > now)
        return std::nullopt;
    return window_reply{static_cast<std::uint32_t>(granted), static_cast<std::uint32_t>(remaining), began, now};
}

}  // namespace tollgate::redis
