#include <tollgate/http/detail/request_parser.hpp>

#include <catch2/catch.hpp>
#include <support/feed_request.hpp>

#include <string>
#include <string_view>
#include <vector>

using namespace tollgate;
using http::parse_step;
using http::status;
using tollgate_test::feed;
using tollgate_test::feed_bytewise;
using tollgate_test::feed_whole;
using namespace std::string_literals;

namespace {

struct refused_case {
    std::string name;
    std::string bytes;
    status expected = status::bad_request;
};

struct accepted_case {
    std::string name;
    std::string bytes;
    std::string body = {};
};

std::string repeated(std::size_t times, const std::string& text) {
    std::string joined;
    for (std::size_t i = 0; i < times; ++i) joined += text;
    return joined;
}

/// A request line, Host, and these lines.
std::string with_lines(const std::string& lines, const std::string& body = {}) {
    return "POST /x HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n" + body;
}
std::string with_value(const std::string& value) { return with_lines("X-Odd: " + value + "\r\n"); }
std::string with_length(const std::string& length, const std::string& body = {}) {
    return with_lines("Content-Length: " + length + "\r\n", body);
}
std::string with_coding(const std::string& coding, const std::string& body = "0\r\n\r\n") {
    return with_lines("Transfer-Encoding: " + coding + "\r\n", body);
}
std::string with_chunks(const std::string& chunks) { return with_coding("chunked", chunks); }
std::string with_host(const std::string& host) { return "GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n"; }
std::string with_line(const std::string& request_line) { return request_line + "\r\nHost: a\r\n\r\n"; }

/// All bytes that RFC 3986 allows in a path and a query, except the percent sign.
const std::string target_characters = "AZaz09-._~!$&'()*+,;=:@/";

const std::string follower = "GET /follower HTTP/1.1\r\nHost: b\r\n\r\n";

const std::vector<refused_case> refused_cases = {
    {"negative length", with_length("-1")},
    {"length with a plus", with_length("+5", "hello")},
    {"hexadecimal length", with_length("0x5", "hello")},
    {"length with an underscore", with_length("1_0", "helloworld")},
    {"length with a space", with_length("1 0", "helloworld")},
    {"length before letters", with_length("5abc", "hello")},
    {"empty length", with_length("", "hello")},
    {"length of spaces", with_length(" \t ", "hello")},
    {"list of lengths", with_length("5, 10", "hello")},
    {"list of equal lengths", with_length("5, 5", "hello")},
    {"list of equal lengths without a space", with_length("5,5", "hello")},
    {"length with leading zeros", with_length("005", "hello")},
    {"zero twice", with_length("00")},
    {"length of 2^64", with_length("18446744073709551616")},
    {"length of 30 digits", with_length("100000000000000000000000000005", "hello")},
    {"length with a decimal point", with_length("5.0", "hello")},
    {"length with an exponent", with_length("5e0", "hello")},
    {"length with a vertical tab", with_length("\v5", "hello")},
    {"length with a full-width digit", with_length("\xef\xbc\x95", "hello")},
    {"two lengths", with_lines("Content-Length: 5\r\nContent-Length: 6\r\n", "hello!")},
    {"two equal lengths", with_lines("Content-Length: 5\r\nContent-Length: 5\r\n", "hello")},
    {"two lengths, one in capitals", with_lines("Content-Length: 5\r\nCONTENT-LENGTH: 5\r\n", "hello")},
    {"length with a space before the colon", with_lines("Content-Length : 5\r\n", "hello")},
    {"length with a tab before the colon", with_lines("Content-Length\t: 5\r\n", "hello")},

    {"coding, then length", with_lines("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n")},
    {"length, then coding", with_lines("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
    {"coding and length 0", with_lines("Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
    {"coding on HTTP/1.0", "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
    {"gzip", with_coding("gzip")},
    {"identity", with_coding("identity")},
    {"xchunked", with_coding("xchunked")},
    {"chunkedx", with_coding("chunkedx")},
    {"chunked twice in a line", with_coding("chunked, chunked")},
    {"chunked, then gzip", with_coding("chunked, gzip")},
    {"gzip, then chunked", with_coding("gzip, chunked")},
    {"chunked with a comma", with_coding("chunked,")},
    {"chunked with a parameter", with_coding("chunked;q=1")},
    {"quoted chunked", with_coding("\"chunked\"")},
    {"empty coding", with_coding("")},
    {"two coding lines", with_lines("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
    {"two coding lines, one other",
     with_lines("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
    {"vertical tab before chunked", with_coding("\vchunked")},
    {"vertical tab after chunked", with_coding("chunked\v")},
    {"NUL after chunked", with_coding("chunked\0"s)},
    {"form feed before chunked", with_coding("\fchunked")},
    {"no-break space before chunked", with_coding("\xa0"
                                                  "chunked")},
    {"tab before chunked", with_coding("\tchunked")},
    {"tab after chunked", with_coding("chunked \t")},
    {"space before the coding's colon", with_lines("Transfer-Encoding : chunked\r\n", "0\r\n\r\n")},

    {"negative chunk size", with_chunks("-1\r\n\r\n")},
    {"chunk size with a plus", with_chunks("+5\r\nhello\r\n0\r\n\r\n")},
    {"chunk size with 0x", with_chunks("0x5\r\nhello\r\n0\r\n\r\n")},
    {"chunk size with an underscore", with_chunks("1_0\r\nhello\r\n0\r\n\r\n")},
    {"chunk size after a space", with_chunks(" 5\r\nhello\r\n0\r\n\r\n")},
    {"chunk size before a space", with_chunks("5 \r\nhello\r\n0\r\n\r\n")},
    {"chunk size after a tab", with_chunks("\t5\r\nhello\r\n0\r\n\r\n")},
    {"empty chunk size", with_chunks("\r\nhello\r\n0\r\n\r\n")},
    {"no chunk size, an extension", with_chunks(";a=b\r\nhello\r\n0\r\n\r\n")},
    {"chunk size of letters", with_chunks("zz\r\nhello\r\n0\r\n\r\n")},
    {"chunk size over 64 bits", with_chunks("FFFFFFFFFFFFFFFF0\r\n")},
    {"chunk size over 64 bits that wraps to 5", with_chunks("10000000000000005\r\nhello\r\n0\r\n\r\n")},
    {"chunk without its end", with_chunks("5\r\nhello0\r\n\r\n")},
    {"chunk longer than its size", with_chunks("5\r\nhelloo\r\n0\r\n\r\n")},
    {"chunk ended by LF", with_chunks("5\r\nhello\n0\r\n\r\n")},
    {"chunk ended by CR and a letter", with_chunks("5\r\nhello\rX0\r\n\r\n")},
    {"chunk line ended by LF", with_chunks("5\nhello\r\n0\r\n\r\n")},
    {"chunk line ended by CR", with_chunks("5\rhello\r\n0\r\n\r\n")},
    {"chunk line with a CR inside", with_chunks("5\r\r\nhello\r\n0\r\n\r\n")},
    {"last chunk ended by LF", with_chunks("0\n\r\n")},
    {"trailer section ended by LF", with_chunks("0\r\n\n")},
    {"extension without a name", with_chunks("5;\r\nhello\r\n0\r\n\r\n")},
    {"extension that begins with an equals sign", with_chunks("5;=a\r\nhello\r\n0\r\n\r\n")},
    {"extension without its value", with_chunks("5;a=\r\nhello\r\n0\r\n\r\n")},
    {"extension with an odd byte", with_chunks("5;a=b@\r\nhello\r\n0\r\n\r\n")},
    {"extension with an open quote", with_chunks("5;a=\"b\r\nhello\r\n0\r\n\r\n")},
    {"extension with LF in quotes", with_chunks("5;a=\"\n\"\r\nhello\r\n0\r\n\r\n")},
    {"extension with an escaped CR", with_chunks("5;a=\"\\\r\n\"\r\nhello\r\n0\r\n\r\n")},
    {"extension before a space", with_chunks("5;a=b \r\nhello\r\n0\r\n\r\n")},
    {"extension with two words", with_chunks("5;a b\r\nhello\r\n0\r\n\r\n")},
    {"extension with a bare LF", with_chunks("5;a\nhello\r\n0\r\n\r\n")},
    {"endless extension", with_chunks("5;a=" + std::string(100'000, 'b'))},
    {"endless extensions, line after line",
     with_chunks(repeated(200, "1;" + std::string(200, 'a') + "\r\nx\r\n") + "0\r\n\r\n")},
    {"endless size zeros", with_chunks(std::string(100'000, '0'))},
    {"trailer that is not a field", with_chunks("0\r\nhello\r\n\r\n")},
    {"trailer with a space before its colon", with_chunks("0\r\nX : y\r\n\r\n")},
    {"folded trailer", with_chunks("0\r\nX: y\r\n z\r\n\r\n")},
    {"trailer with a bare CR", with_chunks("0\r\nX: y\rz\r\n\r\n")},
    {"trailer with a control byte", with_chunks("0\r\nX: \x01\r\n\r\n")},
    {"trailer ended by LF", with_chunks("0\r\nX: y\n\r\n")},
    {"endless trailers",
     with_chunks("0\r\n" + repeated(99, "X: " + std::string(1000, 'a') + "\r\n")),
     status::header_fields_too_large},
    {"too many trailers",
     with_chunks("0\r\n" + repeated(101, "X: y\r\n")),
     status::header_fields_too_large},

    {"no Host", "GET / HTTP/1.1\r\nX: y\r\n\r\n"},
    {"no field at all", "GET / HTTP/1.1\r\n\r\n"},
    {"Host twice", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"},
    {"Host twice on HTTP/1.0", "GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n"},
    {"bad Host on HTTP/1.0", "GET / HTTP/1.0\r\nHost: a/b\r\n\r\n"},
    {"Host in two cases", "GET / HTTP/1.1\r\nHost: a\r\nhOST: b\r\n\r\n"},
    {"empty Host", with_host("")},
    {"Host of spaces", with_host("  \t ")},
    {"Host with user info", with_host("user@a")},
    {"Host with a password", with_host("user:word@a")},
    {"Host with a comma", with_host("a,b")},
    {"Host with a comma and a space", with_host("a, b")},
    {"Host with a path", with_host("a/b")},
    {"Host with a query", with_host("a?b")},
    {"Host with a fragment", with_host("a#b")},
    {"Host with a backslash", with_host("a\\b")},
    {"Host with a space inside", with_host("a b")},
    {"Host with a scheme", with_host("http://a")},
    {"Host of a port alone", with_host(":80")},
    {"Host with two ports", with_host("a:80:80")},
    {"Host with a port of letters", with_host("a:http")},
    {"Host with a port over 65535", with_host("a:65536")},
    {"Host with an endless port", with_host("a:00000000000000000000000000000000000065536")},
    {"Host with an open bracket", with_host("[::1")},
    {"Host with letters after the bracket", with_host("[::1]x")},
    {"Host with an IPv4 address in brackets", with_host("[127.0.0.1]")},
    {"Host with a zone", with_host("[fe80::1%25eth0]")},
    {"Host with a bad percent-encoding", with_host("a%2")},
    {"Host with a raw byte", with_host("\xc3\xa9")},

    {"NUL in a value", with_value("a\0b"s)},
    {"escape character in a value", with_value("\x1b[31m")},
    {"DEL in a value", with_value("a\x7f")},
    {"vertical tab in a value", with_value("a\vb")},
    {"control byte after a long value", with_value(std::string(40, 'a') + '\x01')},
    {"field name with a space", with_lines("X Y: z\r\n")},
    {"field name with a quote", with_lines("\"X\": z\r\n")},
    {"field name with a slash", with_lines("X/Y: z\r\n")},
    {"field name with a raw byte", with_lines("X\xe9: z\r\n")},
    {"field name with NUL", with_lines("X\0Y: z\r\n"s)},
    {"field name with brackets", with_lines("X[0]: z\r\n")},
    {"field name that folds to a known one", with_lines("Content\rLength: 5\r\n", "hello")},
    {"empty field name", with_lines(": z\r\n")},
    {"field without a colon", with_lines("hello\r\n")},
    {"space before a colon", with_lines("X : z\r\n")},
    {"tab before a colon", with_lines("X\t: z\r\n")},
    {"folded line", with_lines("X: y\r\n z\r\n")},
    {"line folded with a tab", with_lines("X: y\r\n\tz\r\n")},
    {"folded blank line", with_lines("X: y\r\n \r\n")},
    {"space before the first field", "GET / HTTP/1.1\r\n Host: a\r\n\r\n"},
    {"tab before the first field", "GET / HTTP/1.1\r\n\tHost: a\r\n\r\n"},
    {"bare CR in a value", with_value("a\rb")},
    {"bare CR at a value's end", with_value("a\r")},
    {"bare LF in a value", with_value("a\nX: b")},
    {"bare LF as the empty line", "GET / HTTP/1.1\r\nHost: a\r\n\n"},
    {"bare CR as the empty line", "GET / HTTP/1.1\r\nHost: a\r\n\rX"},
    {"LF everywhere", "GET / HTTP/1.1\nHost: a\n\n"},
    {"CR everywhere", "GET / HTTP/1.1\rHost: a\r\r"},
    {"LF before the request", "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"},
    {"two empty lines before the request", "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"},
    {"CR before the request", "\rGET / HTTP/1.1\r\nHost: a\r\n\r\n"},

    {"two spaces before the target", with_line("GET  / HTTP/1.1")},
    {"two spaces before the version", with_line("GET /  HTTP/1.1")},
    {"tab before the target", with_line("GET\t/ HTTP/1.1")},
    {"tab before the version", with_line("GET /\tHTTP/1.1")},
    {"space before the method", with_line(" GET / HTTP/1.1")},
    {"space after the version", with_line("GET / HTTP/1.1 ")},
    {"CR in the request line", with_line("GET / HTTP/1.1\r")},
    {"HTTP/1.32", with_line("GET / HTTP/1.32")},
    {"HTTP/9.9", with_line("GET / HTTP/9.9")},
    {"HTTP/1.10", with_line("GET / HTTP/1.10")},
    {"HTTP/1.a", with_line("GET / HTTP/1.a")},
    {"HTTP/1.2 ended by LF", "GET / HTTP/1.2\nHost: a\r\n\r\n"},
    {"HTTP/1.2 without Host", "GET / HTTP/1.2\r\n\r\n"},
    {"HTTP/2.0", with_line("GET / HTTP/2.0")},
    {"HTTP/0.9", with_line("GET / HTTP/0.9")},
    {"HTTP/01.1", with_line("GET / HTTP/01.1")},
    {"HTTP/1.01", with_line("GET / HTTP/1.01")},
    {"HTTP/1", with_line("GET / HTTP/1")},
    {"HTTP/.1", with_line("GET / HTTP/.1")},
    {"HTTP/+1.1", with_line("GET / HTTP/+1.1")},
    {"http/1.1", with_line("GET / http/1.1")},
    {"HTTPS/1.1", with_line("GET / HTTPS/1.1")},
    {"no version", "GET /\r\nHost: a\r\n\r\n"},
    {"no version and a space", "GET / \r\nHost: a\r\n\r\n"},
    {"no target", "GET\r\nHost: a\r\n\r\n"},
    {"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
    {"fragment", with_line("GET /a#b HTTP/1.1")},
    {"raw byte over 0x7f", with_line("GET /\xc3\xa9 HTTP/1.1")},
    {"bracket in the path", with_line("GET /a[0] HTTP/1.1")},
    {"bracket in the path of an absolute target with a query", with_line("GET http://a/b[]?c HTTP/1.1")},
    {"question mark in a bracketed host", with_line("GET http://[?]/ HTTP/1.1")},
    {"backslash in the host of an absolute target", with_line("GET http://a\\b/?c HTTP/1.1")},
    {"backslash before the query", with_line("GET /a\\?b HTTP/1.1")},
    {"bracket after the host of an absolute target", with_line("GET http://[::1]/a[ HTTP/1.1")},
    {"quote after an IPv6 address", with_line("GET http://[::1]/\" HTTP/1.1")},
    {"target of a bracket", with_line("GET [ HTTP/1.1")},
    {"NUL in the target", with_line("GET /a\0b HTTP/1.1"s)},
    {"DEL in the target", with_line("GET /a\x7f HTTP/1.1")},
    {"control byte in the target", with_line("GET /a\x01 HTTP/1.1")},
    {"control byte after a long path", with_line("GET /" + std::string(40, 'a') + "\x01 HTTP/1.1")},
    {"method with a control byte", with_line("G\x01T / HTTP/1.1")},
    {"method with a slash", with_line("GET/ / HTTP/1.1")},
    {"method with a raw byte", with_line("G\xc9T / HTTP/1.1")},
    {"TLS hello", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"s},
    {"target that is not a path", with_line("GET a HTTP/1.1")},
    {"relative target", with_line("GET ../a HTTP/1.1")},
    {"target of a query alone", with_line("GET ?a HTTP/1.1")},
    {"* for GET", with_line("GET * HTTP/1.1")},
    {"** for OPTIONS", with_line("OPTIONS ** HTTP/1.1")},
    {"authority-form", with_line("GET example.com:80 HTTP/1.1")},
    {"CONNECT", with_line("CONNECT example.com:443 HTTP/1.1")},
    {"CONNECT with a path", with_line("CONNECT / HTTP/1.1")},
    {"absolute target of another scheme", with_line("GET ftp://a/ HTTP/1.1")},
    {"absolute target without a host", with_line("GET http:///a HTTP/1.1")},
    {"absolute target of a port alone", with_line("GET http://:80/a HTTP/1.1")},
    {"absolute target with user info", with_line("GET http://u@a/ HTTP/1.1")},
    {"absolute target with one slash", with_line("GET http:/a HTTP/1.1")},
    {"absolute target with a bad port", with_line("GET http://a:x/ HTTP/1.1")},
    {"javascript target", with_line("GET javascript:alert(1) HTTP/1.1")},
    {"endless method", std::string(100'000, 'A'), status::not_implemented},
    {"unknown method of 33 bytes", with_line(std::string(33, 'A') + " / HTTP/1.1"), status::not_implemented},

    {"other expectation", with_lines("Expect: 200-ok\r\n"), status::expectation_failed},
    {"two expectations", with_lines("Expect: 100-continue, 200-ok\r\n"), status::expectation_failed},
    {"target over the limit", "GET /" + std::string(limits::target_bytes_max, 'a'), status::uri_too_long},
    {"target over the limit, in a whole request",
     with_line("GET /" + std::string(limits::target_bytes_max, 'a') + " HTTP/1.1"), status::uri_too_long},
    {"one endless field", "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(limits::header_bytes_default, 'a'),
     status::header_fields_too_large},
    {"one endless field name", "GET / HTTP/1.1\r\nHost: a\r\n" + std::string(limits::header_bytes_default, 'a'),
     status::header_fields_too_large},
    {"too many fields",
     "GET / HTTP/1.1\r\nHost: a\r\n" + repeated(limits::field_count_max, "X: y\r\n"),
     status::header_fields_too_large},
};

const std::vector<accepted_case> accepted_cases = {
    {"length 0", with_length("0")},
    {"length", with_length("5", "hello"), "hello"},
    {"length between spaces", with_length(" \t5 \t", "hello"), "hello"},
    {"length without a space", with_lines("Content-Length:5\r\n", "hello"), "hello"},
    {"length in capitals", with_lines("CONTENT-LENGTH: 5\r\n", "hello"), "hello"},
    {"chunked", with_coding("chunked", "5\r\nhello\r\n0\r\n\r\n"), "hello"},
    {"CHUNKED", with_coding("CHUNKED", "5\r\nhello\r\n0\r\n\r\n"), "hello"},
    {"chunked between spaces", with_coding("  chunked  ", "5\r\nhello\r\n0\r\n\r\n"), "hello"},
    {"many chunks", with_chunks("1\r\nh\r\n3\r\nell\r\n1\r\no\r\n0\r\n\r\n"), "hello"},
    {"no chunks", with_chunks("0\r\n\r\n")},
    {"chunk size with zeros", with_chunks("0005\r\nhello\r\n000\r\n\r\n"), "hello"},
    {"chunk size of 16 digits", with_chunks("0000000000000005\r\nhello\r\n0\r\n\r\n"), "hello"},
    {"chunk size in both cases", with_chunks("a\r\nhelloworld\r\nB\r\nhello world\r\n0\r\n\r\n"),
     "helloworldhello world"},
    {"chunk that looks like an end", with_chunks("5\r\n0\r\n\r\n\r\n0\r\n\r\n"), "0\r\n\r\n"},
    {"extensions", with_chunks("5;a;b=c;d=\"e \\\"f\"\r\nhello\r\n0;g\r\n\r\n"), "hello"},
    {"extensions with bad whitespace", with_chunks("5 ; a = b\t;c\r\nhello\r\n0\r\n\r\n"), "hello"},
    {"trailers", with_chunks("5\r\nhello\r\n0\r\nX: y\r\nContent-Length: 7\r\n\r\n"), "hello"},
    {"GET with a body", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", "hello"},
    {"HEAD with chunks", "HEAD / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", "x"},
    {"DELETE with a body that is a request",
     "DELETE / HTTP/1.1\r\nHost: a\r\nContent-Length: 18\r\n\r\nGET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\n\r\n"},
    {"HTTP/1.0 without Host", "GET / HTTP/1.0\r\n\r\n"},
    {"HTTP/1.0 with a length", "POST / HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello", "hello"},
    {"an empty line before the request", "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"},
    {"Host with a port", with_host("a:8080")},
    {"Host with an empty port", with_host("a:")},
    {"Host with port 65535", with_host("a:65535")},
    {"Host that is an IPv4 address", with_host("127.0.0.1:8080")},
    {"Host that is an IPv6 address", with_host("[::1]")},
    {"Host that is an IPv6 address with a port", with_host("[2001:db8::1]:443")},
    {"Host with a percent-encoding", with_host("a%20b")},
    {"Host with an underscore and a tilde", with_host("_a-b.c~")},
    {"tab in a value", with_value("a\tb")},
    {"obs-text in a value", with_value("a\x80\xff")},
    {"tabs and a long value", with_value(std::string(20, '\t') + std::string(40, 'a') + "\tb")},
    {"empty value", with_lines("X:\r\n")},
    {"value with colons", with_value("a:b: c")},
    {"name of all token characters", with_lines("!#$%&'*+-.^_`|~09azAZ: b\r\n")},
    {"folding marks inside a value", with_value("a  b")},
    {"path and query", with_line("GET /a/b?c=d?e HTTP/1.1")},
    {"every character of a path and a query", with_line("GET /" + target_characters + "?" + target_characters + " HTTP/1.1")},
    {"what browsers send in a query", with_line("GET /a?filter[]=1&state={'a':1}|^`\\ HTTP/1.1")},
    {"bracket in the query of an absolute target", with_line("GET http://[::1]/?b[]=1 HTTP/1.1")},
    {"percent sign before no digits", with_line("GET /%zz?% HTTP/1.1")},
    {"HTTP/1.2", with_line("GET / HTTP/1.2")},
    {"HTTP/1.9", with_line("GET / HTTP/1.9")},
    {"HTTP/1.9 with chunks", "POST / HTTP/1.9\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", "x"},
    {"absolute target with an IPv6 address", with_line("GET http://[::1]:81/a?b HTTP/1.1")},
    {"method of 32 bytes", with_line(std::string(32, 'A') + " / HTTP/1.1")},
    {"method in lower case", with_line("get / HTTP/1.1")},
    {"* for OPTIONS", with_line("OPTIONS * HTTP/1.1")},
    {"absolute target", with_line("GET http://a/b HTTP/1.1")},
    {"absolute target in capitals", with_line("GET HTTPS://A:443/b HTTP/1.1")},
    {"expectation", with_lines("Expect: 100-Continue\r\nContent-Length: 5\r\n", "hello"), "hello"},
    {"target at the limit", with_line("GET /" + std::string(limits::target_bytes_max - 1, 'a') + " HTTP/1.1")},
    {"header section at the limit",
     "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(limits::header_bytes_default - 16, 'a') + "\r\n\r\n"},
    {"as many fields as may be",
     "GET / HTTP/1.1\r\nHost: a\r\n" + repeated(limits::field_count_max - 1, "X: y\r\n") + "\r\n"},
    {"the maximum number of trailers", with_chunks("0\r\n" + repeated(100, "X: y\r\n") + "\r\n")},
};

}  // namespace

TEST_CASE("ambiguous messages are refused, however they are split") {
    for (const auto& [name, bytes, expected] : refused_cases) {
        CAPTURE(name);
        const auto whole = feed_whole(bytes);
        CHECK(whole.step == parse_step::refused);
        CHECK(whole.refused_status == expected);
        CHECK_FALSE(whole.refused_reason.empty());
        CHECK(feed_bytewise(bytes) == whole);
        CHECK(feed(bytes, [](std::size_t) { return std::size_t{7}; }) == whole);
        CHECK(feed_whole(bytes + follower) == whole);
        CHECK(feed_bytewise(bytes + follower) == whole);
    }
}

TEST_CASE("the valid counterparts of refused messages are accepted, however they are split, and no further byte is consumed") {
    for (const auto& [name, bytes, body] : accepted_cases) {
        CAPTURE(name);
        const auto whole = feed_whole(bytes);
        CHECK(whole.step == parse_step::complete);
        CHECK(whole.refused_reason == "");
        CHECK(whole.body == body);
        CHECK(whole.body_state == http::body_state::complete);
        CHECK(whole.consumed == bytes.size());
        CHECK(feed_bytewise(bytes) == whole);
        CHECK(feed(bytes, [](std::size_t) { return std::size_t{7}; }) == whole);
        CHECK(feed_whole(bytes + follower) == whole);
        CHECK(feed_bytewise(bytes + follower) == whole);
    }
}

TEST_CASE("every part of an accepted message is required") {
    for (const auto& [name, bytes, body] : accepted_cases) {
        if (bytes.size() > 1000) continue;
        CAPTURE(name);
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            CAPTURE(size);
            CHECK(feed_whole(std::string_view{bytes}.substr(0, size)).step == parse_step::needs_more);
        }
    }
}

TEST_CASE("bytes that RFC 3986 forbids in a target are refused in a path; in a query, browsers send some of them") {
    const std::string_view sent_by_browsers = "[]{}|\\^`";
    for (int byte = 0; byte < 256; ++byte) {
        const char each = static_cast<char>(byte);
        if (each == ' ' || (byte >= '!' && byte <= '~' && std::string_view{"\"<>\\^`{|}[]#"}.find(each) == std::string_view::npos)) continue;
        CAPTURE(byte);
        for (const std::string before : {"/", "/a?", "/a-long-path-of-more-than-16-bytes/", "/a-long-path-of-more-than-16-bytes?x=",
                                         "http://a/", "http://a/?", "http://a?", "http://[::1]/b?c["}) {
            CAPTURE(before);
            const auto bytes = with_line("GET " + before + each + "z" + each + " HTTP/1.1");
            const bool is_accepted = before.find('?') != std::string::npos && sent_by_browsers.find(each) != std::string_view::npos;
            const auto whole = feed_whole(bytes);
            CHECK(whole.step == (is_accepted ? parse_step::complete : parse_step::refused));
            if (is_accepted) CHECK(whole.query.ends_with(std::string{each, 'z', each}));
            else CHECK(whole.refused_status == status::bad_request);
            CHECK(feed_bytewise(bytes) == whole);
        }
    }
}

TEST_CASE("obsolete line folding and line ends are refused with a clear reason") {
    CHECK(feed_whole(with_lines("X: y\r\n z\r\n")).refused_reason == "A field line begins with whitespace.");
    CHECK(feed_whole(with_lines("X : y\r\n")).refused_reason == "There is whitespace between a field name and its colon.");
    CHECK(feed_whole(with_value("a\rb")).refused_reason == "A CR is not followed by LF.");
    CHECK(feed_whole(with_value("a\nb")).refused_reason == "A line ends in LF without CR.");
    CHECK(feed_whole("\x16\x03\x01").refused_reason == "A TLS handshake was sent to a plain HTTP port.");
}

TEST_CASE("an endless chunk line is refused at its own bound") {
    const std::string line = "5;" + std::string(limits::chunk_line_bytes_max - 3, 'a');  // and its CR
    CHECK(feed_whole(with_chunks(line + "\r\nhello\r\n0\r\n\r\n")).body == "hello");
    CHECK(feed_whole(with_chunks(line + "aa")).refused_reason == "A chunk line is too long.");
    CHECK(feed_bytewise(with_chunks(line + "aa")).refused_reason == "A chunk line is too long.");
}
