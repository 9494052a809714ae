#include "custodian/testing/testing_server.hpp"

#include <algorithm>
#include <deque>
#include <fstream>
#include <optional>
#include <thread>
#include <utility>

#include "server/guardian_process.hpp"
#include "server/reserved_port.hpp"
#include "server/server_installation.hpp"
#include "wire/deadline_socket.hpp"

namespace custodian::testing {

using SteadyClock = std::chrono::steady_clock;

namespace {

TestingServerOptions with_tls(TestingServerOptions options) {
  if (options.tls) options.connection_factory = ConnectionFactory::netty;
  return options;
}

}  // namespace

struct TestingServer::Impl {
  explicit Impl(TestingServerOptions chosen)
      : options{with_tls(std::move(chosen))},
        guardian{guardian_program(options), server_command(options)} {
    if (options.port == 0) reserved.emplace(options.address);
    endpoint = {options.address, reserved ? reserved->number() : options.port};
    if (options.tls) {
      if (options.tls->port == 0) reserved_for_tls.emplace(options.address);
      secure_endpoint = {options.address,
                         reserved_for_tls ? reserved_for_tls->number() : options.tls->port};
    }
    write_config(options, guardian.directory(), {endpoint.port, secure_endpoint.port});
  }

  void start();
  void wait_until_ready();
  // Whether this server, and not another one on its port, serves requests. Asks once.
  [[nodiscard]] bool answers(SteadyClock::time_point deadline) const;
  [[nodiscard]] std::string log_tail(std::size_t lines) const;

  const TestingServerOptions options;
  GuardianProcess guardian;
  std::optional<ReservedPort> reserved;
  std::optional<ReservedPort> reserved_for_tls;
  ServerEndpoint endpoint;
  ServerEndpoint secure_endpoint;
};

void TestingServer::Impl::start() {
  const std::string answer = guardian.ask("start");
  if (answer != "started") {
    throw TestingError{"cannot run Java (" + answer + "). " + how_to_install(options)};
  }
  if (options.ensemble_member == 0) wait_until_ready();
}

void TestingServer::Impl::wait_until_ready() {
  constexpr std::chrono::milliseconds between_attempts{10};
  // A server that is asked while it starts may never answer, nor close that connection (3.8: a
  // NullPointerException in NIOServerCnxn.close): ask again soon, but wait longer each time, for a
  // slow machine.
  std::chrono::milliseconds patience{50};
  const auto deadline = SteadyClock::now() + options.start_timeout;
  for (;;) {
    const auto attempt_deadline = SteadyClock::now() + patience;
    if (answers(std::min(attempt_deadline, deadline))) return;
    if (SteadyClock::now() >= attempt_deadline) patience *= 2;
    if (const std::string state = guardian.ask("poll"); state != "running") {
      throw TestingError{"the ZooKeeper server at " + to_string(endpoint) + " " + state + ". " +
                         how_to_install(options) + "\nThe end of its log:\n" + log_tail(20)};
    }
    if (SteadyClock::now() >= deadline) {
      guardian.ask("kill");
      throw TestingError{"the ZooKeeper server at " + to_string(endpoint) +
                         " does not answer after " + std::to_string(options.start_timeout.count()) +
                         " ms. The end of its log:\n" + log_tail(20)};
    }
    std::this_thread::sleep_for(between_attempts);
  }
}

bool TestingServer::Impl::answers(SteadyClock::time_point deadline) const {
  try {
    DeadlineSocket socket{endpoint, deadline};
    socket.write("conf");
    // Before the server is ready it may accept connections and answer that it serves no requests.
    return socket.read_to_end().find(guardian.directory().filename().string()) != std::string::npos;
  } catch (const TestingError&) {
    return false;
  }
}

std::string TestingServer::Impl::log_tail(std::size_t lines) const {
  std::deque<std::string> tail;
  std::ifstream log{guardian.directory() / "server.log"};
  for (std::string line; std::getline(log, line);) {
    tail.push_back(std::move(line));
    if (tail.size() > lines) tail.pop_front();
  }
  std::string text;
  for (const auto& line : tail) text += "  " + line + "\n";
  return text;
}

TestingServer::TestingServer(TestingServerOptions options)
    : impl_{std::make_unique<Impl>(std::move(options))} {
  impl_->start();
}

TestingServer::~TestingServer() = default;

const ServerEndpoint& TestingServer::endpoint() const { return impl_->endpoint; }
std::uint16_t TestingServer::port() const { return impl_->endpoint.port; }
std::string TestingServer::connect_string() const { return to_string(impl_->endpoint); }
const ServerEndpoint& TestingServer::secure_endpoint() const {
  if (!impl_->options.tls) throw TestingError{"this server has no TLS: TestingServerOptions::tls"};
  return impl_->secure_endpoint;
}
const std::filesystem::path& TestingServer::directory() const {
  return impl_->guardian.directory();
}

void TestingServer::start() { impl_->start(); }
void TestingServer::stop() { impl_->guardian.ask("terminate"); }
void TestingServer::kill() { impl_->guardian.ask("kill"); }

void TestingServer::restart() {
  stop();
  start();
}

void TestingServer::pause() {
  if (impl_->guardian.ask("pause") != "done")
    throw TestingError{"only a server that runs can be paused"};
}

void TestingServer::resume() {
  if (impl_->guardian.ask("resume") != "done")
    throw TestingError{"only a server that runs can be resumed"};
}

bool TestingServer::is_running() const { return impl_->guardian.ask("poll") == "running"; }

std::string TestingServer::four_letter_word(std::string_view word) const {
  return testing::four_letter_word(impl_->endpoint, word);
}

std::map<std::string, std::string> TestingServer::statistics() const {
  return testing::statistics(impl_->endpoint);
}

std::int64_t TestingServer::statistic(const std::string& name) const {
  return testing::statistic(impl_->endpoint, name);
}

std::map<std::int64_t, std::vector<std::string>> TestingServer::watches_by_session() const {
  return testing::watches_by_session(impl_->endpoint);
}

void TestingServer::expire_session(std::int64_t session_id, std::string_view password) const {
  testing::expire_session(impl_->endpoint, session_id, password);
}

ClientOptions TestingServer::client_options() const {
  const TestingServerOptions& server = impl_->options;
  ClientOptions options;
  options.servers = connect_string();
  options.session_timeout =
      std::clamp(options.session_timeout, server.min_session_timeout, server.max_session_timeout);
  // Servers report their sessions to the leader every half tick; the rest of the interval is slack.
  options.touch_interval = std::min(server.tick_time * 3 / 4, options.session_timeout / 3);
  return options;
}

void TestingServer::expire(const Client& client) const {
  const SessionInfo session = client.session();
  if (session.id == 0) {
    throw TestingError{"the client has no session that could be ended; wait_connected() first"};
  }
  expire_session(session.id, session.password);
}

std::string TestingServer::log_tail(std::size_t lines) const { return impl_->log_tail(lines); }

}  // namespace custodian::testing
