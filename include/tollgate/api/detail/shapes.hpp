#pragma once
#ifndef TOLLGATE_API_DETAIL_SHAPES_HPP
#define TOLLGATE_API_DETAIL_SHAPES_HPP

#include <tollgate/pipeline/route_table.hpp>

#include <string_view>

/// What the account API sends and takes.
namespace tollgate::inline v0::shapes {

inline constexpr json_shape balance{
    R"({"type":"object","required":["id","balance","currency"],"properties":{)"
    R"("id":{"type":"integer","format":"int64","description":"The user's id."},)"
    R"("balance":{"type":"number","description":"The amount. Read it as a decimal, not as a binary floating-point number."},)"
    R"("currency":{"type":"string","pattern":"^[A-Z]{3}$","description":"ISO 4217."}}})",
    R"({"id": 7, "balance": 1234.50, "currency": "EUR"})"};

inline constexpr json_shape accounts{
    R"({"type":"array","items":{"type":"object","required":["id","name","admin"],"properties":{)"
    R"("id":{"type":"integer","format":"int64"},"name":{"type":"string"},"admin":{"type":"boolean"}}}})",
    R"([{"id": 1, "name": "Corner shop", "admin": true}])"};

inline constexpr json_shape hooks{
    R"({"type":"array","items":{"type":"object","required":["id","event","source","type","url","date_created"],"properties":{)"
    R"("id":{"type":"integer","format":"int64"},"event":{"type":"string"},)"
    R"("source":{"type":"string","enum":["api","manual"],"description":"Made through the API, or on the settings page."},)"
    R"("type":{"type":"string","description":"The payload format."},)"
    R"("url":{"type":"string","description":"The target_url, byte for byte as it was given."},)"
    R"("date_created":{"type":"string","format":"date-time"}}}})",
    R"([
  {
    "id": 5,
    "event": "{event}",
    "source": "api",
    "type": "webhook",
    "url": "https://example.com/hook",
    "date_created": "2026-11-21T09:30:00Z"
  }
])"};

inline constexpr json_shape new_hook{
    R"({"type":"object","required":["event","target_url"],"properties":{)"
    R"("event":{"type":"string","description":"One of the service's events."},)"
    R"("target_url":{"type":"string","format":"uri","maxLength":2048,"description":"An http or https URL."}}})",
    R"({"event": "{event}", "target_url": "https://example.com/hook"})"};

inline constexpr json_shape created_hook{
    R"({"type":"object","required":["id"],"properties":{)"
    R"("id":{"type":"integer","format":"int64","description":"The new hook's id."}}})",
    R"({"id": 5})"};

inline constexpr std::string_view string_list_schema = R"({"type":"array","items":{"type":"string"}})";
inline constexpr json_shape greeting_from_get{string_list_schema, R"(["hello", "from", "get"])"};
inline constexpr json_shape greeting_from_post{string_list_schema, R"(["hello", "from", "post"])"};
inline constexpr json_shape greeting_of_caller{string_list_schema, R"(["hello", "authenticated", "caller"])"};

inline constexpr json_shape any_object{R"({"type":"object"})"};

}  // namespace tollgate::shapes

#endif  // TOLLGATE_API_DETAIL_SHAPES_HPP
