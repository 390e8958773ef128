#include <tollgate/web/credential_rules.hpp>

#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/web/detail/common_passwords.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

using namespace tollgate;

TEST_CASE("blanks around a login do not count", "[credential_rules]") {
    struct row {
        std::string_view typed, login;
    };
    for (const auto& [typed, login] :
         {row{"ann", "ann"}, row{" ann", "ann"}, row{"ann ", "ann"}, row{" \t ann \r\n", "ann"},
          row{"\xc2\xa0"
              "ann\xc2\xa0 ",
              "ann"},
          row{"\xe3\x80\x80"
              "ann\xe2\x80\x8b",
              "ann"},
          row{"\xef\xbb\xbf"
              "ann",
              "ann"},
          row{"ann lee", "ann lee"}, row{"  ", ""}, row{"", ""}, row{"\xc2\xa0", ""}, row{"ann\xc3\xa0", "ann\xc3\xa0"},
          row{"\xc3\xa0", "\xc3\xa0"},
          row{"\x01"
              "ann",
              "\x01"
              "ann"}}) {
        CAPTURE(typed);
        CHECK(trim_login(typed) == login);
    }
}

TEST_CASE("common passwords are recognized", "[credential_rules]") {
    for (const char* each :
         {"12345678", "123456789", "password", "Password1", "PASSWORD123", "qwertyuiop", "iloveyou", "1q2w3e4r",
          "letmein123", "Passwort1", "11111111", "P@ssw0rd", "tollgate", "!!!!!!!!", "zzzzzzzz", "Summer2024"}) {
        CAPTURE(each);
        CHECK(is_common_password(each));
    }
    for (const char* each : {"", "1234567", "correct horse battery staple", "12345678 ", "a password", "empty handed", "gr8 expectations",
                             "tr0ub4dor&3", "zzzzzzzzz!"}) {
        CAPTURE(each);
        CHECK_FALSE(is_common_password(each));
    }
    CHECK_FALSE(is_common_password(std::string(100'000, '1')));
}

TEST_CASE("the login is not a password", "[credential_rules]") {
    CHECK(is_common_password("ann@shop.example", "Ann@shop.example"));
    CHECK_FALSE(is_common_password("ann@shop.example", "bob@shop.example"));
    CHECK_FALSE(is_common_password("ann@shop.example", ""));
    CHECK_FALSE(is_common_password("", ""));
}

TEST_CASE("the list is sorted, in lower case, and of passwords that could be set", "[credential_rules]") {
    const std::basic_string_view<char>* last = nullptr;
    std::size_t longest = 0;
    for (const auto& each : detail::common_passwords) {
        CAPTURE(each);
        CHECK(limits::count_characters(each) >= limits::password_characters_min);
        CHECK(std::all_of(each.begin(), each.end(), [](char c) { return c == tollgate::detail::ascii_lower(c); }));
        if (last != nullptr) CHECK(*last < each);
        last = &each;
        longest = (std::max)(longest, each.size());
    }
    CHECK(longest == detail::common_password_bytes_max);
    CHECK(std::size(detail::common_passwords) > 2000);
}
