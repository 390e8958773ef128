#pragma once
#ifndef TOLLGATE_CONTRACT_PAYLOAD_FORMAT_HPP
#define TOLLGATE_CONTRACT_PAYLOAD_FORMAT_HPP

#include <tollgate/base/result.hpp>
#include <tollgate/http/detail/fields.hpp>
#include <tollgate/model/delivery.hpp>

#include <concepts>
#include <string>

namespace tollgate::inline v0 {

/// Writes a delivery's HTTP request: its body, and the header fields that describe and sign it.
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
    // Called for each attempt, with the time of the attempt; `fields` and `body` are empty at first. The body must be
    // the same for each attempt. The client adds Host, Content-Length, Connection and User-Agent. After an error the
    // delivery is given up.
    { f.write(sent, now, fields, body) } -> std::same_as<result<void>>;
};

}  // namespace tollgate

#endif  // TOLLGATE_CONTRACT_PAYLOAD_FORMAT_HPP
