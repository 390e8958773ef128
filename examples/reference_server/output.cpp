#include "output.hpp"

#include "text_values.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace reference {

std::string to_line(const nlohmann::ordered_json& object) {
    std::string line = "{";
    for (const auto& [key, value] : object.items()) {
        if (line.size() > 1) line += ", ";
        line += nlohmann::json(key).dump() + ": " + (value.is_object() ? to_line(value) : value.dump());
    }
    return line + "}";
}

void print_line(const nlohmann::ordered_json& object) {
    const auto line = to_line(object) + "\n";
    if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size() || std::fflush(stdout) != 0)
        throw run_error{"cannot write to stdout."};
}

void complain(std::string_view sentence) noexcept {
    try {
        const auto line = "tollgate-server: " + escape_controls(sentence) + "\n";
        std::fwrite(line.data(), 1, line.size(), stderr);
    } catch (...) {
        std::fputs("tollgate-server: out of memory\n", stderr);
    }
}

}  // namespace reference
