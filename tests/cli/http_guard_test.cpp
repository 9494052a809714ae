#include "http/http_guard.hpp"

#include <fstream>

#include "options/usage_error.hpp"
#include "support/catch.hpp"
#include "support/directory.hpp"

namespace custodian::tests::http_guard_test {
namespace {

using namespace cli;

const std::string secret = "0123456789abcdef";

ListenAddress at(const std::string& text) { return parse_listen_address(text); }

HttpRequest request_to(const std::string& host) {
  return {.method = "GET", .target = "/x", .hosts = {host}};
}

int status_of(const HttpGuard& guard, const HttpRequest& request) {
  const auto refusal = refusal_of(guard, request, parse_target(request.target));
  return refusal ? refusal->status : 200;
}

}  // namespace

TEST_CASE("an address to listen at is a loopback address, or it is not") {
  CHECK(at("127.0.0.1:8180").is_loopback());
  CHECK(at("localhost:8180").is_loopback());
  CHECK(at("[::1]:0").is_loopback());
  CHECK(at("127.3.2.1:1").is_loopback());
  CHECK_FALSE(at("0.0.0.0:8180").is_loopback());
  CHECK_FALSE(at("[::]:8180").is_loopback());
  CHECK_FALSE(at("[::ffff:127.0.0.1]:8180").is_loopback());
  CHECK(url_of(at("[::1]:8180")) == "http://[::1]:8180/");
  for (const char* wrong : {"", "8180", ":8180", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536",
                            "127.0.0.1:80x", "::1:80", "[127.0.0.1]:80", "zk1:80", "[]:80"}) {
    INFO(wrong);
    CHECK_THROWS_AS(at(wrong), UsageError);
  }
}

TEST_CASE("a server that others could reach is refused without a token") {
  CHECK_THROWS_AS(guard_for(at("0.0.0.0:8180"), std::nullopt), UsageError);
  CHECK_THROWS_AS(guard_for(at("[::]:8180"), std::nullopt), UsageError);
  CHECK_NOTHROW(guard_for(at("127.0.0.1:8180"), std::nullopt));
  CHECK(guard_for(at("0.0.0.0:8180"), BearerToken{secret}).hosts == HostNames::any);
}

TEST_CASE("a request under another name than this machine's is refused at a loopback address") {
  for (const char* own :
       {"localhost", "localhost:8180", "127.0.0.1", "127.0.0.1:9", "[::1]:8180"}) {
    INFO(own);
    CHECK(is_of_this_machine(own));
  }
  for (const char* other :
       {"", "evil.example", "evil.example:8180", "localhost.evil.example", "127.0.0.1.evil.example",
        "10.0.0.1:8180", "localhost:evil", "0.0.0.0"}) {
    INFO(other);
    CHECK_FALSE(is_of_this_machine(other));
  }
  const HttpGuard here = guard_for(at("127.0.0.1:8180"), std::nullopt);
  CHECK(status_of(here, request_to("localhost:8180")) == 200);
  CHECK(status_of(here, request_to("evil.example")) == 421);
  const HttpGuard anywhere{.hosts = HostNames::any};
  CHECK(status_of(anywhere, request_to("locks.example")) == 200);
}

TEST_CASE("a request has one host, a path, and only looks") {
  const HttpGuard guard = guard_for(at("127.0.0.1:8180"), std::nullopt);
  HttpRequest request = request_to("localhost");
  request.hosts.emplace_back("localhost");
  CHECK(status_of(guard, request) == 400);
  request.hosts.clear();
  CHECK(status_of(guard, request) == 400);
  request = request_to("localhost");
  request.target = "http://localhost/x";
  CHECK(status_of(guard, request) == 400);
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get", ""}) {
    INFO(method);
    request = request_to("localhost");
    request.method = method;
    CHECK(status_of(guard, request) == 405);
  }
  request.method = "HEAD";
  CHECK(status_of(guard, request) == 200);
}

TEST_CASE("a token is needed for all that is not for everybody") {
  HttpGuard guard = guard_for(at("127.0.0.1:8180"), BearerToken{secret});
  CHECK(status_of(guard, request_to("localhost")) == 401);
  guard.is_open = [](const HttpTarget& target) { return target.path == "/page"; };
  HttpRequest request = request_to("localhost");
  CHECK(status_of(guard, request) == 401);
  request.authorization = "Bearer " + secret;
  CHECK(status_of(guard, request) == 200);
  request.authorization = "bearer  " + secret;
  CHECK(status_of(guard, request) == 200);
  for (const std::string& wrong : std::vector<std::string>{{},
                                                           secret,
                                                           "Basic " + secret,
                                                           "Bearer",
                                                           "Bearer ",
                                                           "Bearer " + secret + "0",
                                                           "Bearer " + secret.substr(1),
                                                           "Bearer 0123456789abcdeF",
                                                           "Bearer 1123456789abcdef"}) {
    INFO(wrong);
    request.authorization = wrong;
    CHECK(status_of(guard, request) == 401);
  }
  request.target = "/page";
  CHECK(status_of(guard, request) == 200);
  // Another name is refused with a token, too.
  request.hosts = {"evil.example"};
  CHECK(status_of(guard, request) == 421);
}

TEST_CASE("a token is the first line of its file, and neither short nor blank") {
  const Directory directory;
  const std::string file = directory.file("token");
  CHECK_THROWS_AS(read_token_file(file), UsageError);
  for (const char* wrong :
       {"", "\n", "short\n", "0123456789 abcdef\n", "0123456789abcd\xc3\xa9\n"}) {
    std::ofstream{file} << wrong;
    CHECK_THROWS_AS(read_token_file(file), UsageError);
  }
  std::ofstream{file} << secret << " \r\nanother line\n";
  CHECK(read_token_file(file).is_shown_by("Bearer " + secret));
}

TEST_CASE("a target's escapes are resolved, once") {
  CHECK(parse_target("/api/locks/a%20b?x=%20") == HttpTarget{"/api/locks/a b", "x=%20"});
  CHECK(parse_target("/%2525") == HttpTarget{"/%25", ""});
  CHECK(parse_target("/a?") == HttpTarget{"/a", ""});
  for (const char* wrong :
       {"", "a", "*", "http://localhost/", "/%", "/%2", "/%zz", "/%+1", "/%00"}) {
    INFO(wrong);
    CHECK_FALSE(parse_target(wrong));
  }
}

TEST_CASE("every response forbids what a page does not need") {
  std::string all;
  for (const auto& [name, value] : strict_headers()) all += name + ": " + value + "\n";
  for (const char* needed : {"default-src 'none'", "frame-ancestors 'none'", "nosniff",
                             "Referrer-Policy: no-referrer", "Cache-Control: no-store"}) {
    INFO(needed);
    CHECK(all.find(needed) != std::string::npos);
  }
  CHECK(all.find("unsafe") == std::string::npos);
  CHECK(all.find('*') == std::string::npos);
}

}  // namespace custodian::tests::http_guard_test
