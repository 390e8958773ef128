#pragma once
#ifndef TOLLGATE_LIMITS_DETAIL_REDIS_WINDOW_SCRIPT_IPP
#define TOLLGATE_LIMITS_DETAIL_REDIS_WINDOW_SCRIPT_IPP

#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/limits/detail/redis/window_script.hpp>

#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <utility>

namespace tollgate::inline v0::redis {

TOLLGATE_DECL std::string_view window_script::text() noexcept {
    // For each key three arguments: the quota's requests, its length, and 1 to count a request or 0 to only read. The reply has four
    // numbers for each: 1 if the request was counted, what remains, the start of the window, and the time; the first is -1 for a key
    // with a value of another type.
    //
    // A window that has ended under its last quota stays ended. A text that is not a window is overwritten. Whole numbers below
    // 10^14 become text by `..` as they are (%.14g). Turning a number into text costs a tenth of all that is done for a window, so
    // texts are used again: of the time, of the expiry, and of the first count.
    return R"lua(
local call, floor, min, max = redis.call, math.floor, math.min, math.max
local time = call('TIME')
local now = time[1] * 1000 + floor(time[2] / 1000)
local now_text = now .. ' '
local left, expiry
local reply = {}
for i, key in ipairs(KEYS) do
    local new_length, counts = ARGV[3 * i - 1], ARGV[3 * i] == '1'
    local requests, length = tonumber(ARGV[3 * i - 2]), tonumber(new_length)
    local began, began_text, counted, result, stored_length, write = now, now_text, 0, 0, nil, false
    local value = redis.pcall('GET', key)
    if value and type(value) == 'table' then
        if not string.find(value.err, 'WRONGTYPE', 1, true) then return value end
        requests, result = 0, -1
    else
        if value then
            local of_text, count, lasts = string.match(value, '^(%d+ )(%d+) (%d+)$')
            if of_text then
                local of = tonumber(of_text)
                local start = min(of, now)
                local ends_after = lasts == new_length and length or min(tonumber(lasts), length)
                if now < start + ends_after then
                    began, counted, stored_length = start, tonumber(count), lasts
                    if start == of then began_text = of_text end
                end
            end
        end
        if counts and counted < requests then
            counted, result, write = counted + 1, 1, true
        elseif counts and stored_length and stored_length ~= new_length then
            write = true
        end
        if write then
            if new_length ~= '0' then
                local time_left = began + length - now
                if time_left ~= left then left, expiry = time_left, time_left + 1000 .. '' end
                call('SET', key, began_text .. (counted == 1 and '1' or counted) .. ' ' .. new_length, 'PX', expiry)
            else
                call('DEL', key)
            end
        end
    end
    reply[4 * i - 3], reply[4 * i - 2], reply[4 * i - 1], reply[4 * i] = result, max(requests - counted, 0), began, now
end
return reply
)lua";
}

TOLLGATE_DECL window_script::window_script(std::string prefix) : prefix_{std::move(prefix)} {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
    unsigned int size = 0;
    if (EVP_Digest(text().data(), text().size(), digest.data(), &size, EVP_sha1(), nullptr) != 1)
        throw std::runtime_error{"OpenSSL has no SHA-1"};
    name_ = tollgate::detail::hex_encode({reinterpret_cast<const char*>(digest.data()), size});
}

TOLLGATE_DECL std::string window_script::key_of(const limit_key& key) const {
    std::string redis_key = prefix_;
    if (key.kind() == limit_kind::user) return redis_key.append("user:").append(std::to_string(key.value()));
    redis_key += "address:";
    for (int shift = 60; shift >= 0; shift -= 4) redis_key += "0123456789abcdef"[key.value() >> shift & 15];
    return redis_key;
}

TOLLGATE_DECL void window_script::append(std::string& commands, std::span<const window_request* const> requests, form command_form) const {
    command_writer to{commands, 3 + 4 * requests.size()};
    to.word(command_form == form::by_name ? "EVALSHA" : "EVAL")
        .word(command_form == form::by_name ? std::string_view{name_} : text())
        .number(static_cast<std::int64_t>(requests.size()));
    for (const window_request* const each : requests) to.word(key_of(each->key));
    for (const window_request* const each : requests)
        to.number(each->allowed.requests).number(std::int64_t{each->allowed.window_seconds} * 1000).number(each->counts ? 1 : 0);
}

TOLLGATE_DECL window_result window_script::read(const window_request& request, const reply& received, std::size_t place) noexcept {
    constexpr std::size_t numbers = 4;
    if ((place + 1) * numbers > received.numbers.size()) return {};
    const auto* const of_window = received.numbers.data() + place * numbers;
    const std::int64_t counted = of_window[0], remaining = of_window[1], window_start = of_window[2], now = of_window[3];
    if (counted == -1) return {outcome::wrong_type};
    if (counted < 0 || counted > (request.counts ? 1 : 0) || remaining < 0 || remaining > request.allowed.requests || window_start > now)
        return {};
    return {outcome::replied, {counted == 1, static_cast<std::uint32_t>(remaining), window_start, now}};
}

}  // namespace tollgate::redis

#endif  // TOLLGATE_LIMITS_DETAIL_REDIS_WINDOW_SCRIPT_IPP
