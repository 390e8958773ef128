#pragma once
#ifndef TOLLGATE_HTTP_JSON_WRITER_IPP
#define TOLLGATE_HTTP_JSON_WRITER_IPP

#include <tollgate/http/json_writer.hpp>

namespace tollgate::inline v0::http {

TOLLGATE_DECL void json_writer::put(std::string_view text) {
    if (text.size() > buffer_bytes) [[unlikely]] return put_long(text);
    char* const to = space(text.size());
    if (!text.empty()) std::memcpy(to, text.data(), text.size());
    used_ += text.size();
}

TOLLGATE_DECL json_writer& json_writer::open(char bracket, bool object) {
    assert(in_object() == named_ && "a member needs a name, and only a member has one");
    assert(depth_ < depth_max);
    separate();
    put(bracket);
    objects_ = (objects_ & ~(std::uint64_t{1} << depth_)) | std::uint64_t{object} << depth_;
    ++depth_;
    follows_value_ = named_ = false;
    return *this;
}

TOLLGATE_DECL json_writer& json_writer::close(char bracket, [[maybe_unused]] bool object) {
    assert(depth_ != 0 && in_object() == object && !named_ && "every end has its begin");
    --depth_;
    put(bracket);
    return end_value();
}

TOLLGATE_DECL json_writer& json_writer::member_named(std::string_view name) {
    assert(in_object() && !named_ && "only an object's members have names");
    separate();
    put('"');
    escape(name);
    put("\":");
    return end_name();
}

TOLLGATE_DECL json_writer& json_writer::raw(std::string_view token) {
    assert(in_object() == named_ && "a member needs a name, and only a member has one");
    assert(!token.empty());
    separate();
    put(token);
    return end_value();
}

TOLLGATE_DECL json_writer& json_writer::string(std::string_view value) {
    assert(in_object() == named_ && "a member needs a name, and only a member has one");
    if (value.size() > buffer_bytes - 3) {
        separate();
        put('"');
        escape(value);
        put('"');
        return end_value();
    }
    char* end = space(value.size() + 3);  // comma and quotes
    *end = ',';
    end += follows_value_;
    *end++ = '"';
    std::size_t plain = 0;
    for (; plain < value.size() && detail::is_plain_json(value[plain]); ++plain) *end++ = value[plain];
    if (plain == value.size()) [[likely]] {
        *end++ = '"';
        wrote(end);
        return end_value();
    }
    wrote(end);
    escape(value.substr(plain));
    put('"');
    return end_value();
}

[[gnu::noinline]] TOLLGATE_DECL void json_writer::escape(std::string_view value) {
    constexpr std::string_view hex = "0123456789abcdef";
    while (!value.empty()) {
        const char c = value.front();
        std::size_t taken = tollgate::detail::utf8_sequence_bytes(value);
        if (taken == 0) {
            put("\xef\xbf\xbd");  // U+FFFD for each byte that does not start a character
            taken = 1;
        } else if (taken > 1 || detail::is_plain_json(c)) {
            put(value.substr(0, taken));
        } else {
            switch (c) {
                case '"': put("\\\""); break;
                case '\\': put("\\\\"); break;
                case '\n': put("\\n"); break;
                case '\r': put("\\r"); break;
                case '\t': put("\\t"); break;
                default:
                    put("\\u00");
                    put(hex[static_cast<unsigned char>(c) >> 4]);
                    put(hex[static_cast<unsigned char>(c) & 15]);
            }
        }
        value.remove_prefix(taken);
    }
}

}  // namespace tollgate::http

#endif  // TOLLGATE_HTTP_JSON_WRITER_IPP
