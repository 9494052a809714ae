#include "base/connection_string.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "base/printable.hpp"
#include "support/catch.hpp"
#include "unit/refusal.hpp"

namespace custodian::tests::connection_string_test {

using custodian::detail::ConnectionString;
using custodian::detail::HostPort;
using custodian::detail::parse_connection_string;
using custodian::detail::to_string;
using namespace std::string_literals;

namespace {

ConnectionString parse(std::string_view text) { return parse_connection_string("Client", text); }

struct Good {
  std::string text;
  std::string canonical;
};

struct Bad {
  std::string text;
  std::string detail;
};

/// The text as an error message shows it.
std::string shown(const std::string& text) { return custodian::detail::printable(text); }

}  // namespace

TEST_CASE("servers, ports and the chroot are told apart", "[connection_string]") {
  CHECK(parse("h1:2182,10.0.0.1,[::1]:2183/app/x") ==
        ConnectionString{{{"h1", 2182}, {"10.0.0.1", 2181}, {"::1", 2183}}, "/app/x"});
}

TEST_CASE("what is left out is filled in, and the result parses to the same",
          "[connection_string]") {
  const auto [text, canonical] = GENERATE(values<Good>({
      {"h1", "h1:2181"},
      {"h1:2181,h2:2181/chroot", "h1:2181,h2:2181/chroot"},
      {"zk-1.example.com.:1", "zk-1.example.com.:1"},
      {"zk_1:65535", "zk_1:65535"},
      {"h1:0080", "h1:80"},
      {"10.0.0.1", "10.0.0.1:2181"},
      {"1.2.3.4.example", "1.2.3.4.example:2181"},
      {"[::1]", "[::1]:2181"},
      {"[::1]:99", "[::1]:99"},
      {"[2001:DB8:0:0::0001]", "[2001:db8::1]:2181"},
      {"[::ffff:10.0.0.1]:7", "[::ffff:10.0.0.1]:7"},
      {"[fe80::1%eth0]", "[fe80::1%eth0]:2181"},
      {"  h1 , h2:1\t,\n[::1] ", "h1:2181,h2:1,[::1]:2181"},
      {"h1/a ", "h1:2181/a"},
      {"h1 /a", "h1:2181/a"},
      {"h1/", "h1:2181"},
      {"h1/a b", "h1:2181/a b"},
      {"h1/a:2181", "h1:2181/a:2181"},
      {"h1/\u00e9", "h1:2181/\u00e9"},
  }));
  CAPTURE(text);
  const auto parsed = parse(text);
  CHECK(to_string(parsed) == canonical);
  CHECK(parse(to_string(parsed)) == parsed);
}

TEST_CASE("a server given twice is kept once, where it came first", "[connection_string]") {
  const auto [text, canonical] = GENERATE(values<Good>({
      {"h1,h2,h1:2181", "h1:2181,h2:2181"},
      {"zk.Example,ZK.example:2181", "zk.Example:2181"},
      {"[::1],[0:0:0:0:0:0:0:1]:2181,[::0001]", "[::1]:2181"},
      {"h1:1,h1:2", "h1:1,h1:2"},
      {"[::1],[::2]", "[::1]:2181,[::2]:2181"},
      {"[fe80::1%a],[fe80::1%b]", "[fe80::1%a]:2181,[fe80::1%b]:2181"},
  }));
  CAPTURE(text);
  CHECK(to_string(parse(text)) == canonical);
}

TEST_CASE("a bad server is refused with its number, its text and the rule", "[connection_string]") {
  const auto characters = "a host has letters, digits, '-', '_' and '.' only"s;
  const auto port = "the port must be a number from 1 to 65535"s;
  const auto labels = "between two dots a host name has 1 to 63 characters"s;
  const auto address = "an IPv4 address has four numbers from 0 to 255"s;
  const auto bracketed = "brackets must hold an IPv6 address"s;
  const std::vector<Bad> servers{
      {"h 1", characters},
      {"h1 :2181", characters},
      {"h\t1", characters},
      {"h1;h2", characters},
      {"user@h1", characters},
      {"h\u00e9", characters},
      {"h1\\app", characters},
      {"h*", characters},
      {"::", "an IPv6 address needs brackets: write [::]:2181"},
      {"\"h1\"", characters},
      {"h\0"s, characters},
      {":2181", "the host must not be empty"},
      {":", "the host must not be empty"},
      {"h1:", port},
      {"h1:0", port},
      {"h1:65536", port},
      {"h1:99999999999999999999", port},
      {"h1:-1", port},
      {"h1:+1", port},
      {"h1: 1", port},
      {"h1:0x10", port},
      {"h1:zk", port},
      {"h1:21 81", port},
      {"h1:2181.", port},
      {".", labels},
      {".h1", labels},
      {"h1..h2", labels},
      {"h1..", labels},
      {std::string(64, 'a'), labels},
      {"a." + std::string(64, 'a') + ".b", labels},
      {std::string(50, 'a') + "." + std::string(50, 'b') + "." + std::string(50, 'c') + "." +
           std::string(50, 'd') + "." + std::string(50, 'e'),
       "a host name has 253 characters at most"},
      {"1", address},
      {"127.1", address},
      {"1.2.3.4.5", address},
      {"1.2.3.4.", address},
      {"1.2.3.256:2181", address},
      {"999.1.1.1", address},
      {"2181", address},
      {"[", "the bracket '[' must be closed by ']'"},
      {"[::1", "the bracket '[' must be closed by ']'"},
      {"[::1:2181", "the bracket '[' must be closed by ']'"},
      {"[]", bracketed},
      {"[]:2181", bracketed},
      {"[h1]", bracketed},
      {"[10.0.0.1]", bracketed},
      {"[::g]", bracketed},
      {"[1::2::3]", bracketed},
      {"[ ::1]", bracketed},
      {"[fe80::1%]", bracketed},
      {"[fe80::1%a b]", bracketed},
      {"[fe80::1%a%b]", bracketed},
      {"[::1\0]"s, bracketed},
      {"[[::1]]", bracketed},
      {"[::1]2181", "after ']' only a port may follow, as in [::1]:2181"},
      {"[::1].", "after ']' only a port may follow, as in [::1]:2181"},
      {"[::1]:", port},
      {"[::1]:0", port},
      {"[::1]:65536", port},
      {"[::1]:1:2", port},
      {"::1", "an IPv6 address needs brackets: write [::1]:2181"},
      {"::1:2181", "an IPv6 address needs brackets: write [::1]:2181 or [::1:2181]:2181"},
      {"2001:db8::1", "an IPv6 address needs brackets: write [2001:db8::1]:2181"},
      {"1:2:3:4:5:6:7:8:2181", "an IPv6 address needs brackets: write [1:2:3:4:5:6:7:8]:2181"},
      {"1:2:3:4:5:6:7:8", "an IPv6 address needs brackets: write [1:2:3:4:5:6:7:8]:2181"},
      {"fe80::1%eth0:2181", "an IPv6 address needs brackets: write [fe80::1%eth0]:2181"},
      {"h1:2181:2182", "must be host, host:port or, for IPv6, [address]:port"},
      {"h1::2181", "must be host, host:port or, for IPv6, [address]:port"},
      {"h1:2181 h2:2181", "must be host, host:port or, for IPv6, [address]:port"},
  };
  for (const auto& [text, rule] : servers) {
    CAPTURE(text);
    const auto named = " \"" + shown(text) + "\": " + rule;
    check_refused([&bad = text] { return parse(bad); }, "Client",
                  "connection string, server 1" + named);
    check_refused([&bad = text] { return parse("h0:1, " + bad + " ,h9/app"); }, "Client",
                  "connection string, server 2" + named);
  }
}

TEST_CASE("an empty server is refused with its number", "[connection_string]") {
  const auto [text, number] = GENERATE(values<Bad>({
      {",", "1"},
      {",h1", "1"},
      {"h1,", "2"},
      {"h1,,h2", "2"},
      {"h1, ,h2", "2"},
      {"h1,h2,/app", "3"},
      {"/app", "1"},
      {"/", "1"},
  }));
  CAPTURE(text);
  check_refused([&bad = text] { return parse(bad); }, "Client",
                "connection string, server " + number + " \"\": must not be empty");
}

TEST_CASE("a string without a server is refused", "[connection_string]") {
  const std::string text = GENERATE("", " ", "\t\n");
  check_refused([&] { return parse(text); }, "Client", "connection string must not be empty");
}

TEST_CASE("a URL is refused", "[connection_string]") {
  check_refused([] { return parse("zk://h1:2181/app"); }, "Client",
                "connection string \"zk://h1:2181/app\" must not be a URL: write "
                "host:port,host:port/chroot, with secure:// in front of all for TLS");
}

TEST_CASE("secure:// in front of all servers asks for TLS, and nowhere else",
          "[connection_string]") {
  const ConnectionString secure = parse(" secure://h1,h2:2182/app ");
  CHECK(secure.secure);
  CHECK(secure.hosts == parse("h1,h2:2182").hosts);
  CHECK(secure.chroot == "/app");
  CHECK(to_string(secure) == "secure://h1:2181,h2:2182/app");
  CHECK(parse(to_string(secure)) == secure);
  CHECK_FALSE(parse("h1,h2").secure);
  for (const std::string bad : {"h1,secure://h2", "secure://secure://h1", "Secure://h1"}) {
    CHECK_THROWS_AS(parse(bad), Error);
  }
  CHECK(detail::without_chroot("secure://h1,h2/app") == "secure://h1,h2");
  CHECK(detail::without_chroot("h1,h2/app/b") == "h1,h2");
  CHECK(detail::without_chroot("h1") == "h1");
}

TEST_CASE("a bad chroot is refused with the rule", "[connection_string]") {
  const auto [chroot, rule] = GENERATE(values<Bad>({
      {"//", "must not contain an empty name ('//'), at byte 1"},
      {"//app", "must not contain an empty name ('//'), at byte 1"},
      {"/app/", "must not end in '/', at byte 4"},
      {"/a/../b", "must not contain '.' or '..' as a name, at byte 3"},
      {"/a\x01", "must not contain U+0001, at byte 2"},
      {"/a,b", "must not contain ',': it is given once, after the last server"},
      {"/app,h2:2181/app", "must not contain ',': it is given once, after the last server"},
  }));
  CAPTURE(chroot);
  check_refused([text = "h1:2181" + chroot] { return parse(text); }, "Client",
                "connection string, chroot \"" + shown(chroot) + "\": " + rule);
}

TEST_CASE("an error about a connection string names the operation that took it",
          "[connection_string]") {
  check_refused([] { return parse_connection_string("Client::set_servers", "h1:0"); },
                "Client::set_servers",
                "connection string, server 1 \"h1:0\": the port must be a number from 1 to 65535");
}

}  // namespace custodian::tests::connection_string_test
