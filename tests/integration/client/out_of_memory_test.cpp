#include <atomic>
#include <vector>

#include "integration/client/driven_session.hpp"
#include "integration/client/hostile_server.hpp"
#include "support/catch.hpp"
#include "support/jute.hpp"
#include "support/shortage.hpp"

namespace custodian::tests {
namespace {

constexpr std::size_t little = 100'000;

HostileServer::Words words(std::function<std::string(const SeenRequest&)> answer) {
  return {.greeting = [] { return Greeting{}.frame(); }, .answer = std::move(answer)};
}

TEST_CASE("a reply for which there is no memory ends its connection, and its request with it") {
  // The replies to a listing have little text, but more names than there is memory for. The replies
  // to a read are too long to be checked.
  const HostileServer server{words([](const SeenRequest& request) {
    constexpr std::int32_t children = 12;
    if (request.type != children) {
      return Jute{}.header(request.xid).string(std::string(2 * little, 'x')).stat().frame();
    }
    Jute reply = Jute{}.header(request.xid).number(10'000);
    for (int i = 0; i < 10'000; ++i) reply.string("name");
    return reply.stat().frame();
  })};
  for (const Request& request :
       {Request{request::GetChildren{"/", nullptr}}, Request{request::Get{"/", nullptr}}}) {
    CAPTURE(request.index());
    std::vector<error_code> errors;
    errors.reserve(1);
    DrivenSession session{server.connect_string()};
    {
      const Shortage shortage{little};
      session.submit(request, errors);
      CHECK(session.until([&] { return !errors.empty(); }));
    }
    REQUIRE(errors.size() == 1);
    CHECK(errors.front() == ServerErrc::connection_loss);
  }
}

TEST_CASE("requests whose end cannot be noted for want of memory end with their connection") {
  constexpr std::size_t requests = 3'000;
  std::atomic<std::size_t> seen{0};
  auto spoken = words([&](const SeenRequest&) {
    ++seen;
    return std::string{};
  });
  spoken.ends = [&](const SeenRequest&) { return seen == requests; };
  const HostileServer server{std::move(spoken)};
  DrivenSession session{server.connect_string()};
  std::vector<error_code> errors;
  errors.reserve(requests);
  for (std::size_t i = 0; i < requests; ++i) {
    session.submit(request::Exists{"/", nullptr}, errors);
  }
  {
    const Shortage shortage{little};
    CHECK(session.until([&] { return errors.size() == requests; }));
  }
  CHECK(errors == std::vector<error_code>(requests, ServerErrc::connection_loss));
}

}  // namespace
}  // namespace custodian::tests
