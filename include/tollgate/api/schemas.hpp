#pragma once

#include <string_view>

/// JSON Schemas (2020-12, as OpenAPI 3.1 embeds them) of what the account API sends and takes.
namespace tollgate::schemas {

inline constexpr std::string_view balance = R"({"type":"object","required":["id","balance","currency"],"properties":{)"
    R"("id":{"type":"integer","description":"The user's id."},)"
    R"("balance":{"type":"number","description":"What the user has; read it as a decimal, not as a binary float."},)"
    R"("currency":{"type":"string","pattern":"^[A-Z]{3}$","description":"ISO 4217."}}})";

inline constexpr std::string_view accounts = R"({"type":"array","items":{"type":"object","required":["id","name","admin"],)"
    R"("properties":{"id":{"type":"integer"},"name":{"type":"string"},"admin":{"type":"boolean"}}}})";

inline constexpr std::string_view hooks = R"({"type":"array","items":{"type":"object",)"
    R"("required":["id","event","source","type","url","date_created"],"properties":{"id":{"type":"integer"},)"
    R"("event":{"type":"string"},"source":{"type":"string","enum":["api","manual"]},"type":{"type":"string"},)"
    R"("url":{"type":"string","format":"uri"},"date_created":{"type":"string","format":"date-time"}}}})";

inline constexpr std::string_view new_hook = R"({"type":"object","required":["event","target_url"],"properties":{)"
    R"("event":{"type":"string","description":"One of the service's events."},)"
    R"("target_url":{"type":"string","format":"uri","maxLength":2048,"description":"An http or https URL."}}})";

inline constexpr std::string_view created_hook =
    R"({"type":"object","required":["id"],"properties":{"id":{"type":"integer","description":"The new hook's id."}}})";

inline constexpr std::string_view strings = R"({"type":"array","items":{"type":"string"}})";

inline constexpr std::string_view any_object = R"({"type":"object"})";

}  // namespace tollgate::schemas
