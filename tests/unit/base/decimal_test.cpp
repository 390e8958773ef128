#include <tollgate/base/decimal.hpp>

#include <catch2/catch.hpp>

#include <string>

using tollgate::decimal;

TEST_CASE("a decimal keeps exactly the given digits") {
    const std::string longest = "-" + std::string(decimal::bytes_max - 3, '9') + ".9";
    for (const std::string& text :
         {std::string{"0"}, std::string{"10000000000000000.01"}, std::string{"0.10"}, std::string{"-3.5"},
          std::string{"0.0"}, std::string{"-0"}, std::string{"-0.00"}, std::string{"1"}, std::string{"100"},
          std::string{"0.000000000000000000001"}, longest}) {
        CAPTURE(text);
        const auto amount = decimal::parse(text);
        REQUIRE(amount);
        CHECK(amount->text() == text);
    }
}

TEST_CASE("text that is not a JSON number, or has an exponent, is refused") {
    for (const char* text : {"",    "-",    "+1",       "--1",       "01",   "-01",    "00", "00.1", ".5",  "-.5",
                             "1.",  "1..0", "1.0.0",    "1e3",       "1E3",  "1.0e-3", " 1", "1 ",   "1,0", "1_0",
                             "0x1", "NaN",  "Infinity", "-Infinity", "null", "\"1\"",  "1a", "a",    "1.a", "١"}) {
        CAPTURE(text);
        CHECK_FALSE(decimal::parse(text));
    }
    CHECK_FALSE(decimal::parse(std::string_view{"1\0", 2}));
    CHECK(decimal::parse(std::string(decimal::bytes_max, '1')));
    CHECK_FALSE(decimal::parse(std::string(decimal::bytes_max + 1, '1')));
}

TEST_CASE("decimals are equal by their digits") {
    CHECK(decimal{"0.10"} == *decimal::parse("0.10"));
    CHECK_FALSE(decimal{"0.10"} == decimal{"0.1"});
    CHECK(decimal{} == decimal{"0"});
}

TEST_CASE("minor units become a decimal") {
    CHECK(decimal::from_minor_units(0, 0).text() == "0");
    CHECK(decimal::from_minor_units(0, 2).text() == "0.00");
    CHECK(decimal::from_minor_units(5, 2).text() == "0.05");
    CHECK(decimal::from_minor_units(-5, 2).text() == "-0.05");
    CHECK(decimal::from_minor_units(-350, 2).text() == "-3.50");
    CHECK(decimal::from_minor_units(1234, 0).text() == "1234");
    CHECK(decimal::from_minor_units(12, 3).text() == "0.012");
    CHECK(decimal::from_minor_units(INT64_MAX, 18).text() == "9.223372036854775807");
    CHECK(decimal::from_minor_units(INT64_MIN, 2).text() == "-92233720368547758.08");
    CHECK(decimal::from_minor_units(INT64_MIN, 0).text() == "-9223372036854775808");
    STATIC_REQUIRE(decimal::from_minor_units(1250, 2) == decimal{"12.50"});
    for (unsigned digits = 0; digits <= 18; ++digits)
        CHECK(decimal::parse(decimal::from_minor_units(INT64_MIN, digits).text()));
}
