#pragma once
#ifndef TOLLGATE_CONTRACT_PAYLOAD_FORMAT_HPP
#define TOLLGATE_CONTRACT_PAYLOAD_FORMAT_HPP

#include <tollgate/base/result.hpp>
#include <tollgate/contract/detail/reference.hpp>
#include <tollgate/http/detail/fields.hpp>
#include <tollgate/model/delivery.hpp>

#include <concepts>
#include <string>

namespace tollgate::inline v0 {

/// Writes a delivery's HTTP request: its body, and the header fields that describe and sign the body.
///
/// Thread rule: called from many threads at once. Must not block.
///
/// Exemplar:
///
///     struct data_alone {
///         result<void> write(const due_delivery& sent, instant, http::field_block& fields, std::string& body) const {
///             body = sent.event->data;
///             fields.add("Content-Type", "application/json");
///             return {};
///         }
///     };
template <class F>
concept payload_format = requires(const F& f, const due_delivery& sent, instant now, http::field_block& fields,
                                  std::string& body) {
    // Called for each attempt, with the time of the attempt; `fields` and `body` are empty at first. The body must be the same for each
    // attempt. The HTTP client adds Host, Content-Length, Connection and User-Agent. After an error the delivery is given up.
    { f.write(sent, now, fields, body) } -> std::same_as<result<void>>;
};

namespace detail {

struct payload_format_calls {
    result<void> (*write)(void*, const due_delivery&, instant, http::field_block&, std::string&);
};

template <class T>
struct calls_of_payload_format {
    static result<void> write(void* object, const due_delivery& sent, instant now, http::field_block& fields, std::string& body) {
        return object_at<T>(object).write(sent, now, fields, body);
    }

    static constexpr payload_format_calls table{&write};
};

}  // namespace detail

/// A reference to a `payload_format` of any class, or to no object. The object must outlive the reference. The contract states the
/// thread rule and the errors.
class payload_format_ref : public detail::reference<detail::payload_format_calls> {
public:
    payload_format_ref() noexcept = default;
    /// Constructs a reference to `object`.
    template <class T>
        requires detail::is_erasable<T, payload_format_ref>
    payload_format_ref(T& object) noexcept {
        static_assert(payload_format<T>, "tollgate: this does not satisfy payload_format; read tollgate/contract/payload_format.hpp");
        if constexpr (payload_format<T>) refer_to(object, detail::calls_of_payload_format<T>::table);
    }

    /// Each calls the object's function of this name; see `payload_format`.
    [[nodiscard]] result<void> write(const due_delivery& sent, instant now, http::field_block& fields, std::string& body) const {
        return calls_->write(object_, sent, now, fields, body);
    }
};

}  // namespace tollgate

#endif  // TOLLGATE_CONTRACT_PAYLOAD_FORMAT_HPP
