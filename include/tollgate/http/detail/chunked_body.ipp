#pragma once
#ifndef TOLLGATE_HTTP_DETAIL_CHUNKED_BODY_IPP
#define TOLLGATE_HTTP_DETAIL_CHUNKED_BODY_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/http/detail/chunked_body.hpp>

#include <algorithm>
#include <cstring>

namespace tollgate::inline v0::http::detail {

TOLLGATE_DECL chunk_step chunked_body::step(std::span<char> bytes, std::size_t bytes_max) noexcept {
    // The bound may be lower than in the last step.
    if (size_ > bytes_max || left_bytes_ > bytes_max - size_) return chunk_step::too_large;
    while (at_ < bytes.size() && next_ != chunk_part::trailers) {
        if (next_ == chunk_part::data) {
            take_data(bytes);
            continue;
        }
        next_ = framing_.read(bytes[at_++]);
        if (next_ == chunk_part::refused) return refuse(status::bad_request, framing_.refused_reason());
        if (next_ == chunk_part::trailers) trailers_.start(at_);
        if (next_ != chunk_part::data) continue;
        left_bytes_ = framing_.chunk_bytes();
        if (left_bytes_ > bytes_max - size_) return chunk_step::too_large;
    }
    return next_ == chunk_part::trailers ? read_trailers(bytes) : chunk_step::needs_more;
}

TOLLGATE_DECL void chunked_body::take_data(std::span<char> bytes) noexcept {
    const auto available = static_cast<std::size_t>((std::min)(left_bytes_, std::uint64_t{bytes.size() - at_}));
    std::memmove(bytes.data() + begin_ + size_, bytes.data() + at_, available);
    size_ += available;
    at_ += available;
    left_bytes_ -= available;
    if (left_bytes_ == 0) next_ = chunk_part::framing;
}

TOLLGATE_DECL chunk_step chunked_body::read_trailers(std::span<char> bytes) noexcept {
    const std::size_t bound = at_ + (limits::chunk_overhead_bytes_max - framing_.bytes());
    for (;;) {
        field_id id;
        field line;
        const line_result result = trailers_.read(bytes.data(), (std::min)(bytes.size(), bound), id, line);
        switch (result) {
            case line_result::field:
                if (++trailer_count_ <= limits::field_count_max) break;
                return refuse(status::header_fields_too_large, "There are too many trailer fields.");
            case line_result::section_end: at_ = trailers_.at(); return chunk_step::complete;
            case line_result::unfinished:
                if (bytes.size() < bound) return chunk_step::needs_more;
                return refuse(status::header_fields_too_large, "The trailer fields are too large.");
            default: return refuse(status::bad_request, to_reason(result));
        }
    }
}

TOLLGATE_DECL chunk_step chunked_body::refuse(status code, std::string_view reason) noexcept {
    refused_status_ = code;
    refused_reason_ = reason;
    return chunk_step::refused;
}

}  // namespace tollgate::http::detail

#endif  // TOLLGATE_HTTP_DETAIL_CHUNKED_BODY_IPP
