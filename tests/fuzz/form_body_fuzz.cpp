#include <tollgate/http/detail/form_body.hpp>

#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/limits.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace tollgate;

namespace {

std::string encoded(std::string_view text) {
    constexpr std::string_view hex = "0123456789ABCDEF";
    std::string encoded;
    for (const char c : text) {
        encoded.push_back('%');
        encoded.push_back(hex[static_cast<unsigned char>(c) >> 4]);
        encoded.push_back(hex[static_cast<unsigned char>(c) & 15]);
    }
    return encoded;
}

}  // namespace

/// An accepted form is bounded UTF-8 and is equal after it is encoded and parsed again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto form = http::parse_form({reinterpret_cast<const char*>(data), size});
    if (!form) return 0;
    if (form->size() > limits::form_members_max) std::abort();
    std::string again;
    for (const auto& member : *form) {
        if (!tollgate::detail::is_utf8(member.name) || !tollgate::detail::is_utf8(member.value)) std::abort();
        again += encoded(member.name) + "=" + encoded(member.value) + "&";
    }
    const auto second = http::parse_form(again);
    if (!second || second->size() != form->size()) std::abort();
    for (std::size_t i = 0; i < form->size(); ++i)
        if (second->begin()[i].name != form->begin()[i].name || second->begin()[i].value != form->begin()[i].value)
            std::abort();
    return 0;
}
