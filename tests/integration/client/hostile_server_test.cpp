#include "integration/client/hostile_server.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "support/jute.hpp"
#include "support/sanitizers.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::hostile_server_test {
namespace {

using namespace std::chrono_literals;

// Types of requests, as in zookeeper.jute's ZooDefs.OpCode.
constexpr std::int32_t op_exists = 3;
constexpr std::int32_t op_get = 4;
constexpr std::int32_t op_get_acl = 6;
constexpr std::int32_t op_sync = 9;
constexpr std::int32_t op_children = 12;
constexpr std::int32_t op_multi = 14;
constexpr std::int32_t op_create = 15;

constexpr std::int32_t watch_event = -1;
constexpr std::int32_t credential = -4;

/// Answers honestly, for the requests that come before the lie.
std::string honest_answer(const SeenRequest& request) {
  Jute reply = Jute{}.header(request.xid);
  if (request.type == op_exists) reply.stat();
  return reply.frame();
}

/// Answers honestly, except to requests of one type.
std::function<std::string(const SeenRequest&)> but_for(
    std::int32_t type, std::function<std::string(std::int32_t xid)> answer) {
  return [type, answer = std::move(answer)](const SeenRequest& request) {
    return request.type == type ? answer(request.xid) : honest_answer(request);
  };
}

HostileServer::Words words(std::function<std::string(const SeenRequest&)> answer) {
  return {.greeting = [] { return Greeting{}.frame(); }, .answer = std::move(answer)};
}

HostileServer::Words unasked(std::string bytes) {
  auto spoken = words(&honest_answer);
  spoken.unasked = std::move(bytes);
  return spoken;
}

HostileServer::Words greeting(std::string frame) {
  auto spoken = words(&honest_answer);
  spoken.greeting = [frame = std::move(frame)] { return frame; };
  return spoken;
}

/// A client and the lines that it has logged as errors.
class Victim {
 public:
  explicit Victim(const HostileServer& server) : client_{options(server)} {}

  Client* operator->() { return &client_; }
  [[nodiscard]] bool has_logged(const std::string& text) {
    const std::lock_guard lock{errors_->mutex};
    return std::ranges::any_of(errors_->lines, [&](const std::string& line) {
      return line.find(text) != std::string::npos;
    });
  }

 private:
  struct Errors {
    std::mutex mutex;
    std::vector<std::string> lines;
  };

  ClientOptions options(const HostileServer& server) {
    ClientOptions options = plain_options_for(server.connect_string());
    options.log = [errors = errors_](LogLevel level, std::string_view line) {
      if (level != LogLevel::error) return;
      const std::lock_guard lock{errors->mutex};
      errors->lines.emplace_back(line);
    };
    return options;
  }

  std::shared_ptr<Errors> errors_ = std::make_shared<Errors>();
  Client client_;
};

TEST_CASE("a server that accepts connections and does not answer is named, once an outage") {
  const HostileServer server{greeting({})};
  std::mutex mutex;
  std::vector<std::string> warnings;
  ClientOptions options = plain_options_for(server.connect_string());
  options.connect_timeout = 100ms;
  options.log = [&](LogLevel level, std::string_view line) {
    if (level < LogLevel::warning) return;
    const std::lock_guard lock{mutex};
    warnings.emplace_back(line);
  };
  {
    const Client client{options};
    REQUIRE(eventually([&] { return server.connections() >= 3; }));
  }
  CHECK(warnings == std::vector{"could not connect to " + server.connect_string() +
                                ": the server accepts connections, but does not answer in time"});
}

OperationOptions soon() { return {.deadline = 300ms}; }

struct Lie {
  std::string name;
  HostileServer::Words words;
  /// The client's operation, which must fail.
  std::function<void(Client&)> operation;
  /// The text that the client must log.
  std::string told;
};

void get(Client& client) { static_cast<void>(client.get("/x", soon())); }
void list(Client& client) { static_cast<void>(client.children("/x", soon())); }
void create(Client& client) { client.create("/x", {}, {.deadline = 300ms}); }
void commit(Client& client) {
  static_cast<void>(client.commit({custodian::create("/x"), custodian::set("/x", "1")}, soon()));
}

Jute result_header(std::int32_t type, bool done = false) {
  return Jute{}.number(type).boolean(done).number(-1);
}

std::vector<Lie> lies() {
  const auto most = std::numeric_limits<std::int32_t>::max();
  const std::string no_results = result_header(-1, true).bytes();
  const std::string results =
      result_header(1).string("/x").bytes() + result_header(5).stat().bytes();
  return {
      // -- The handshake
      {"no session", greeting(Greeting{.session = 0}.frame()), &get, "without a session"},
      {"no timeout", greeting(Greeting{.timeout = 0}.frame()), &get, "timeout of 0 ms"},
      {"a negative timeout", greeting(Greeting{.timeout = -5}.frame()), &get, "timeout of -5 ms"},
      {"an endless timeout", greeting(Greeting{.timeout = most}.frame()), &get, "session timeout"},
      {"a short password", greeting(Greeting{.password_size = 1}.frame()), &get, "password"},
      {"a read-only session", greeting(Greeting{.read_only = true}.frame()), &get, "read-only"},
      {"a long handshake", greeting(Jute{}.raw(std::string(90, '\1')).frame()), &get, "90 bytes"},
      // -- Packets
      {"an unsolicited reply", unasked(Jute{}.header(77).frame()), &get, "nobody asked for"},
      {"a negative length", unasked(Jute{}.number(-1).bytes()), &get, "packet of -1 bytes"},
      {"an empty packet", unasked(Jute{}.number(0).bytes()), &get, "without a header"},
      {"half a header", unasked(Jute{}.number(77).frame()), &get, "without a header"},
      {"refused credentials that nobody has", unasked(Jute{}.header(credential, -115).frame()),
       &get, "credentials"},
      {"an event without a path",
       unasked(Jute{}.header(watch_event).number(1).number(3).number(-1).frame()), &get, "event"},
      {"half an event", unasked(Jute{}.header(watch_event).number(1).frame()), &get, "event"},
      {"an event whose path is longer than its packet",
       unasked(Jute{}.header(watch_event).number(1).number(3).number(most).frame()), &get, "event"},
      // -- Replies
      {"a create without a body",
       words(but_for(op_create, [](std::int32_t xid) { return Jute{}.header(xid).frame(); })),
       &create, "malformed reply"},
      {"a create without a stat",
       words(but_for(op_create,
                     [](std::int32_t xid) { return Jute{}.header(xid).string("/x").frame(); })),
       &create, "malformed reply"},
      {"a create without a path",
       words(
           but_for(op_create,
                   [](std::int32_t xid) { return Jute{}.header(xid).number(-1).stat().frame(); })),
       &create, "malformed reply"},
      {"data that is longer than its packet",
       words(but_for(op_get,
                     [=](std::int32_t xid) {
                       return Jute{}.header(xid).number(most).raw("abc").stat().frame();
                     })),
       &get, "malformed reply"},
      {"data of a negative length",
       words(but_for(
           op_get, [](std::int32_t xid) { return Jute{}.header(xid).number(-2).stat().frame(); })),
       &get, "malformed reply"},
      {"two thousand million children",
       words(but_for(
           op_children,
           [=](std::int32_t xid) { return Jute{}.header(xid).number(most).stat().frame(); })),
       &list, "malformed reply"},
      {"fewer children than none",
       words(
           but_for(op_children,
                   [](std::int32_t xid) { return Jute{}.header(xid).number(-1).stat().frame(); })),
       &list, "malformed reply"},
      {"a child without a name",
       words(but_for(op_children,
                     [](std::int32_t xid) {
                       return Jute{}.header(xid).number(1).number(-1).stat().frame();
                     })),
       &list, "malformed reply"},
      {"an ACL without an id",
       words(but_for(op_get_acl,
                     [](std::int32_t xid) {
                       return Jute{}
                           .header(xid)
                           .number(1)
                           .number(31)
                           .string("world")
                           .number(-1)
                           .stat()
                           .frame();
                     })),
       [](Client& client) { static_cast<void>(client.get_acl("/x", soon())); }, "malformed reply"},
      {"a sync without a path",
       words(but_for(op_sync, [](std::int32_t xid) { return Jute{}.header(xid).frame(); })),
       [](Client& client) { client.sync("/x", soon()); }, "malformed reply"},
      {"a transaction without results",
       words(but_for(op_multi,
                     [=](std::int32_t xid) { return Jute{}.header(xid).raw(no_results).frame(); })),
       &commit, "malformed reply"},
      {"a transaction with more results than operations",
       words(but_for(op_multi,
                     [=](std::int32_t xid) {
                       return Jute{}.header(xid).raw(results).raw(results).raw(no_results).frame();
                     })),
       &commit, "malformed reply"},
      {"a transaction whose results do not end",
       words(but_for(op_multi,
                     [=](std::int32_t xid) { return Jute{}.header(xid).raw(results).frame(); })),
       &commit, "malformed reply"},
  };
}

TEST_CASE("a server that lies costs its connection, and nothing else") {
  for (const Lie& lie : lies()) {
    DYNAMIC_SECTION(lie.name) {
      auto server = std::make_unique<HostileServer>(lie.words);
      Victim victim{*server};
      CHECK_THROWS_AS(lie.operation(*victim.operator->()), Error);
      CHECK(eventually([&] { return victim.has_logged(lie.told); }));
      CHECK(victim.has_logged("the server at " + server->connect_string() + " sent"));
      server.reset();
      victim->set_servers(to_string(server_endpoint()));
      CHECK(victim->exists("/zookeeper", {.deadline = patience}));
    }
  }
}

TEST_CASE("a second reply to a request costs the connection, and nothing else") {
  const HostileServer server{words(but_for(op_get, [](std::int32_t xid) {
    const auto reply = Jute{}.header(xid).string("data").stat().frame();
    return reply + reply;
  }))};
  Victim victim{server};
  for (int i = 0; i < 3; ++i) CHECK(victim->get("/x").data == "data");
  CHECK(eventually([&] { return victim.has_logged("nobody asked for"); }));
}

TEST_CASE("a reply to another request costs the connection, and nothing else") {
  auto server = std::make_unique<HostileServer>(words(but_for(op_get, [](std::int32_t xid) {
    return Jute{}.header(xid + 1).string("data").stat().frame();
  })));
  Victim victim{*server};
  CHECK_THROWS_AS(get(*victim.operator->()), Error);
  server.reset();
  victim->set_servers(to_string(server_endpoint()));
  CHECK(victim->exists("/zookeeper", {.deadline = patience}));
}

std::int64_t resident_bytes() {
  std::int64_t all = 0;
  std::int64_t resident = 0;
  std::ifstream{"/proc/self/statm"} >> all >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

// Sanitizers need memory for each byte, and keep what was freed. With them memory is not measured,
// and a smaller flood suffices, which is still more than sockets hold.
#if defined(CUSTODIAN_ADDRESS_SANITIZER) || defined(CUSTODIAN_THREAD_SANITIZER)
constexpr bool measures_memory = false;
constexpr std::size_t flood = std::size_t{20} << 20U;
#else
constexpr bool measures_memory = true;
constexpr std::size_t flood = std::size_t{200} << 20U;
#endif

TEST_CASE("a packet without bound takes no memory") {
  const std::string some(flood, 'x');
  auto server = std::make_unique<HostileServer>(words(but_for(op_get, [&](std::int32_t xid) {
    return Jute{}.number(1'500'000'000).header(xid).number(1'400'000'000).bytes() + some;
  })));
  Victim victim{*server};
  victim->wait_connected();
  const std::int64_t before = resident_bytes();
  CHECK_THROWS_AS(get(*victim.operator->()), Error);
  CHECK(eventually([&] { return victim.has_logged("packet of 1500000000 bytes"); }));
  if (measures_memory) {
    // The server's own copy of what it sends counts, too.
    CHECK(resident_bytes() - before < static_cast<std::int64_t>(flood + (flood >> 2U)));
  }
  CHECK(server->bytes_sent() < flood);
  server.reset();
  victim->set_servers(to_string(server_endpoint()));
  CHECK(victim->exists("/zookeeper", {.deadline = patience}));
}

TEST_CASE("replies that come byte by byte are read") {
  auto spoken = words(but_for(
      op_get, [](std::int32_t xid) { return Jute{}.header(xid).string("data").stat().frame(); }));
  spoken.piece = 1;
  const HostileServer server{std::move(spoken)};
  Victim victim{server};
  for (int i = 0; i < 20; ++i) CHECK(victim->get("/x").data == "data");
  CHECK(server.connections() == 1);
}

TEST_CASE("a request comes in one packet, though the C client writes it in two parts") {
  const HostileServer server{words(&honest_answer)};
  Victim victim{server};
  for (int i = 0; i < 200; ++i) CHECK(victim->exists("/x"));
  CHECK(server.requests_in_parts() == 0);
}

/// The names of a listing, encoded without their count. They are made before a client asks: under
/// sanitizers that takes longer than a client waits.
std::string names_of_listing(std::int32_t names) {
  Jute listed;
  for (std::int32_t i = 0; i < names; ++i) listed.string("node-" + std::to_string(1'000'000 + i));
  return listed.bytes();
}

/// A listing of these names that claims to have `told` names.
std::string listing(std::int32_t xid, std::int32_t told, const std::string& names) {
  return Jute{}.header(xid).number(told).raw(names).stat().frame();
}

TEST_CASE("listings of any size are read") {
  // The listings fit into one piece, exceed what the socket buffers, or are too long to be checked.
  for (const std::int32_t count : {0, 100, 5'000, 50'000, 300'000}) {
    const std::string names = names_of_listing(count);
    for (const std::size_t piece : {std::size_t{1000}, std::size_t{1} << 20U}) {
      CAPTURE(count, piece);
      auto spoken =
          words(but_for(op_children, [&](std::int32_t xid) { return listing(xid, count, names); }));
      spoken.piece = piece;
      // Thousands of pieces take a sanitizer on a busy machine longer than the usual timeout.
      spoken.greeting = [] { return Greeting{.timeout = 60'000}.frame(); };
      const HostileServer server{std::move(spoken)};
      Victim victim{server};
      CHECK(victim->children("/x").names.size() == static_cast<std::size_t>(count));
      CHECK(victim->exists("/x"));
      CHECK(server.connections() == 1);
    }
  }
}

TEST_CASE("a listing too long to be looked at, with a name that is none, costs the connection") {
  // One more name comes after the part that is checked, and has a negative length.
  const std::string names = names_of_listing(300'000) + Jute{}.number(-1).bytes();
  auto liar = std::make_unique<HostileServer>(
      words(but_for(op_children, [&](std::int32_t xid) { return listing(xid, 300'001, names); })));
  Victim victim{*liar};
  CHECK_THROWS_AS(victim->children("/x", {.deadline = 3s}), Error);
  CHECK(eventually([&] { return victim.has_logged("could not be taken up"); }));
  liar.reset();
  victim->set_servers(to_string(server_endpoint()));
  CHECK(victim->exists("/zookeeper", {.deadline = patience}));
}

TEST_CASE("a server that dies within a reply is a broken connection") {
  std::atomic<int> deaths{3};
  auto spoken = words(but_for(op_get, [&](std::int32_t xid) {
    const std::string reply = Jute{}.header(xid).string("data").stat().frame();
    return deaths-- > 0 ? reply.substr(0, 30) : reply;
  }));
  spoken.ends = [&](const SeenRequest& request) { return request.type == op_get && deaths >= 0; };
  const HostileServer server{std::move(spoken)};
  Victim victim{server};
  CHECK(victim->get("/x").data == "data");
  CHECK_FALSE(victim.has_logged(""));
}

}  // namespace
}  // namespace custodian::tests::hostile_server_test
