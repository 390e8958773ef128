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
    // overwritten.
    return R"lua(
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local requests, length, wanted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local back, back_of = tonumber(ARGV[4]), tonumber(ARGV[5])
local began, counted, kept = string.match(redis.call('GET', KEYS[1]) or '', '^(%d+) (%d+) (%d+)$')
local open, write = false, false
if began then
    began, counted, kept = tonumber(began), tonumber(counted), tonumber(kept)
    if back > 0 and began == back_of then
        counted = math.max(counted - back, 0)
        write = true
    end
    began = math.min(began, now)
    open = now < began + math.min(kept, length)
end
if not open then
    began, counted, write = now, 0, false
end
local granted = 0
if wanted > 0 and counted < requests then
    granted = math.min(wanted, math.max(1, math.floor((requests - counted) / 8)))
    counted = counted + granted
    write = true
end
if wanted > 0 and open and kept ~= length then write = true end
if write then
    if wanted == 0 then length = kept end
    if length > 0 then
        redis.call('SET', KEYS[1], string.format('%.0f %.0f %.0f', began, counted, length),
                   'PX', string.format('%.0f', began + length - now + 1000))
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
    command_writer{commands, 9}
        .word(how == form::by_name ? "EVALSHA" : "EVAL")
        .word(how == form::by_name ? std::string_view{name_} : text())
        .word("1")
        .word(key_of(request.key))
        .number(request.allowed.requests)
        .number(std::int64_t{request.allowed.window_seconds} * 1000)
        .number(request.wanted)
        .number(request.returned)
        .number(request.returned_of);
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
