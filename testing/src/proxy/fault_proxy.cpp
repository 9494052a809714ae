#include "custodian/testing/fault_proxy.hpp"

#include <fcntl.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <future>
#include <optional>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "proxy/proxy_connection.hpp"
#include "proxy/proxy_rules.hpp"
#include "server/reserved_port.hpp"

namespace custodian::testing {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

struct FaultProxy::Impl {
  Impl(const ServerEndpoint& target_endpoint, FaultProxyOptions chosen);
  ~Impl();

  static ProxyConnection::Endpoints resolve(const ServerEndpoint& target);

  // Runs a function on the proxy's thread, and waits until it has returned.
  template <typename Action>
  std::invoke_result_t<Action> run(Action action) {
    std::packaged_task<std::invoke_result_t<Action>()> task{std::move(action)};
    auto result = task.get_future();
    asio::post(context, std::move(task));
    return result.get();
  }

  // The functions below run on the proxy's thread.
  void listen();
  void stop_listening();
  void accept_next();
  void accept_waiting();
  void adopt(tcp::socket client);
  // Iterates over a copy, since a connection that is closed leaves the list.
  template <typename Action>
  void for_each_connection(Action action) {
    for (const auto& connection : std::vector{connections}) action(*connection);
  }
  void change(Direction direction, const std::function<void(FlowRules&)>& action);
  void heal();

  const FaultProxyOptions options;
  ReservedPort reserved;  // keeps the port while no acceptor listens on it
  const ServerEndpoint endpoint;
  ProxyConnection::Endpoints target;
  ProxyRules rules;
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  asio::steady_timer retry{context};
  // Counts the stops: an accept that began before a stop, and completes after it, is refused.
  std::uint64_t listener = 0;
  std::vector<std::shared_ptr<ProxyConnection>> connections;
  std::uint64_t accepted = 0;
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work;
  std::thread thread;
};

FaultProxy::Impl::Impl(const ServerEndpoint& target_endpoint, FaultProxyOptions chosen)
    : options{std::move(chosen)},
      reserved{options.address},
      endpoint{options.address, reserved.number()},
      target{resolve(target_endpoint)},
      work{context.get_executor()} {
  listen();
  thread = std::thread{[this] { context.run(); }};
}

FaultProxy::Impl::~Impl() {
  asio::post(context, [this] {
    stop_listening();
    for_each_connection([](ProxyConnection& each) { each.close(Ending::orderly); });
    work.reset();
  });
  thread.join();
}

ProxyConnection::Endpoints FaultProxy::Impl::resolve(const ServerEndpoint& target) {
  asio::io_context context;
  tcp::resolver resolver{context};
  error_code error;
  ProxyConnection::Endpoints endpoints;
  for (const auto& entry : resolver.resolve(target.host, std::to_string(target.port), error)) {
    endpoints.push_back(entry.endpoint());
  }
  if (error) throw TestingError{"cannot resolve " + to_string(target) + ": " + error.message()};
  return endpoints;
}

void FaultProxy::Impl::listen() {
  if (acceptor.is_open()) return;
  error_code error;
  const tcp::endpoint address{asio::ip::make_address(endpoint.host), endpoint.port};
  acceptor.open(address.protocol(), error);
  if (!error) ::fcntl(acceptor.native_handle(), F_SETFD, FD_CLOEXEC);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address{true}, error);
  if (!error) acceptor.bind(address, error);
  if (!error) acceptor.non_blocking(true, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    stop_listening();
    throw TestingError{"cannot listen on " + to_string(endpoint) + ": " + error.message()};
  }
  accept_next();
}

void FaultProxy::Impl::stop_listening() {
  ++listener;
  error_code ignored;
  acceptor.close(ignored);
  retry.cancel();
}

void FaultProxy::Impl::accept_next() {
  acceptor.async_accept([this, number = listener](error_code error, tcp::socket client) {
    if (number != listener) return;
    if (!error) {
      adopt(std::move(client));
      return accept_next();
    }
    // Perhaps no descriptor is free. The proxy waits a little, since trying at once would not make
    // one free.
    retry.expires_after(std::chrono::milliseconds{10});
    retry.async_wait([this](error_code cancelled) {
      if (!cancelled) accept_next();
    });
  });
}

// Adopts clients that the kernel has connected and that were not accepted yet.
void FaultProxy::Impl::accept_waiting() {
  error_code error;
  while (acceptor.is_open()) {
    tcp::socket client{context};
    acceptor.accept(client, error);
    if (error) return;
    adopt(std::move(client));
  }
}

void FaultProxy::Impl::adopt(tcp::socket client) {
  ++accepted;
  auto connection = std::make_shared<ProxyConnection>(
      std::move(client), rules,
      ProxyConnection::Settings{
          .target = target,
          .connect_patience = options.connect_patience,
          .edit = options.edit_to_server ? options.edit_to_server() : StreamEdit{},
          .on_close = [this](ProxyConnection& closed) {
            std::erase_if(connections,
                          [&closed](const auto& each) { return each.get() == &closed; });
          }});
  connections.push_back(connection);
  connection->proceed();
}

void FaultProxy::Impl::change(Direction direction, const std::function<void(FlowRules&)>& action) {
  if (direction != Direction::to_client) action(rules.to_server);
  if (direction != Direction::to_server) action(rules.to_client);
  for_each_connection([](ProxyConnection& each) { each.proceed(); });
}

void FaultProxy::Impl::heal() {
  for (FlowRules* each : {&rules.to_server, &rules.to_client}) {
    const std::uint64_t delivered = each->delivered;
    *each = FlowRules{};
    each->delivered = delivered;
  }
  rules.reply_cut.reset();
  for_each_connection([](ProxyConnection& each) { each.heal(); });
  listen();
}

FaultProxy::FaultProxy(const ServerEndpoint& target, FaultProxyOptions options)
    : impl_{std::make_unique<Impl>(target, std::move(options))} {}

FaultProxy::~FaultProxy() = default;

const ServerEndpoint& FaultProxy::endpoint() const { return impl_->endpoint; }
std::string FaultProxy::connect_string() const { return to_string(impl_->endpoint); }

void FaultProxy::set_target(const ServerEndpoint& target) {
  impl_->run([this, endpoints = Impl::resolve(target)] { impl_->target = endpoints; });
}

void FaultProxy::cut(Ending ending) {
  impl_->run([this, ending] {
    impl_->accept_waiting();
    impl_->for_each_connection([ending](ProxyConnection& each) { each.close(ending); });
  });
}

void FaultProxy::refuse() {
  impl_->run([this] { impl_->stop_listening(); });
}

void FaultProxy::accept() {
  impl_->run([this] { impl_->listen(); });
}

void FaultProxy::hold_back(Direction direction) {
  impl_->run([this, direction] {
    impl_->change(direction, [](FlowRules& flow) { flow.mode = FlowRules::Mode::hold_back; });
  });
}

void FaultProxy::black_hole(Direction direction) {
  impl_->run([this, direction] {
    impl_->change(direction, [](FlowRules& flow) { flow.mode = FlowRules::Mode::swallow; });
  });
}

void FaultProxy::delay(Direction direction, std::chrono::milliseconds latency) {
  impl_->run([this, direction, latency] {
    impl_->change(direction, [latency](FlowRules& flow) { flow.delay = latency; });
  });
}

void FaultProxy::throttle(Direction direction, std::uint64_t bytes_per_second) {
  impl_->run([this, direction, bytes_per_second] {
    impl_->change(direction, [bytes_per_second](FlowRules& flow) {
      flow.bytes_per_second = bytes_per_second;
    });
  });
}

void FaultProxy::cut_after_bytes(Direction direction, std::uint64_t count, Ending ending) {
  impl_->run([this, direction, count, ending] {
    impl_->change(direction, [count, ending](FlowRules& flow) {
      flow.cut = FlowRules::Cut{.bytes_left = count, .ending = ending};
    });
  });
}

void FaultProxy::cut_after_replies(std::uint64_t count, LastReply last, Ending ending) {
  if (count == 0) throw std::invalid_argument{"cut_after_replies: there is no reply number 0"};
  impl_->run([this, count, last, ending] {
    impl_->rules.reply_cut =
        ProxyRules::ReplyCut{.replies_left = last == LastReply::arrives ? count : count - 1,
                             .last = last,
                             .ending = ending};
  });
}

void FaultProxy::heal() {
  impl_->run([this] { impl_->heal(); });
}

std::size_t FaultProxy::connections() const {
  return impl_->run([this] {
    impl_->accept_waiting();
    return impl_->connections.size();
  });
}

std::uint64_t FaultProxy::accepted() const {
  return impl_->run([this] {
    impl_->accept_waiting();
    return impl_->accepted;
  });
}

std::uint64_t FaultProxy::bytes(Direction direction) const {
  return impl_->run([this, direction] {
    return (direction != Direction::to_client ? impl_->rules.to_server.delivered : 0) +
           (direction != Direction::to_server ? impl_->rules.to_client.delivered : 0);
  });
}

}  // namespace custodian::testing
