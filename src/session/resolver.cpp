#include "session/resolver.hpp"

#include <netdb.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>

namespace custodian::detail {
namespace {

using boost::asio::ip::tcp;

std::optional<boost::asio::ip::address> numeric(const HostPort& host) {
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(host.host, error);
  return error ? std::nullopt : std::optional{address};
}

bool is_numeric(const HostPort& host) { return numeric(host).has_value(); }

/// Appends the addresses of one name, or the reason why it has none.
void look_up(const HostPort& host, Resolver::Result& result) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(host.port);
  if (const int rc = ::getaddrinfo(host.host.c_str(), port.c_str(), &hints, &found); rc != 0) {
    if (!result.failures.empty()) result.failures += "; ";
    result.failures += host.host + ": " + ::gai_strerror(rc);
    result.unresolved.push_back(host.host);
    return;
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner{found, &::freeaddrinfo};
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    if (each->ai_family != AF_INET && each->ai_family != AF_INET6) continue;
    tcp::endpoint endpoint;
    std::memcpy(endpoint.data(), each->ai_addr, each->ai_addrlen);
    endpoint.resize(each->ai_addrlen);
    result.addresses.push_back({endpoint, {host.host}});
  }
}

Resolver::Result look_up_all(const std::vector<HostPort>& hosts) {
  Resolver::Result result;
  for (const HostPort& host : hosts) {
    if (const auto address = numeric(host)) {
      result.addresses.push_back({{*address, static_cast<std::uint16_t>(host.port)}, {host.host}});
    } else {
      look_up(host, result);
    }
  }
  result.addresses = merged(std::move(result.addresses));
  return result;
}

}  // namespace

/// Shared by a look-up's thread and its waiter, of which either may end first. Holding the mutex
/// keeps the executor's context alive while the answer is posted.
struct Resolver::Mailbox {
  std::mutex mutex;
  std::optional<boost::asio::any_io_executor> strand;
  Handler handler;
};

Resolver::Resolver(boost::asio::any_io_executor strand) : strand_{std::move(strand)} {}

Resolver::~Resolver() { cancel(); }

void Resolver::resolve(std::vector<HostPort> hosts, Handler handler) {
  cancel();
  mailbox_ = std::make_shared<Mailbox>();
  mailbox_->strand = boost::asio::prefer(strand_, boost::asio::execution::outstanding_work.tracked);
  mailbox_->handler = std::move(handler);

  auto deliver = [this, mailbox = mailbox_](Result result) {
    const std::lock_guard lock{mailbox->mutex};
    if (!mailbox->strand) return;
    boost::asio::post(*mailbox->strand, [this, mailbox, result = std::move(result)]() mutable {
      Handler wanted;
      {
        const std::lock_guard again{mailbox->mutex};
        if (!mailbox->strand) return;  // cancelled meanwhile: `this` may be gone
        mailbox->strand.reset();
        wanted.swap(mailbox->handler);
      }
      mailbox_.reset();
      wanted(std::move(result));
    });
  };
  if (std::all_of(hosts.begin(), hosts.end(), is_numeric)) {
    deliver(look_up_all(hosts));
  } else {
    try {
      std::thread{[hosts = std::move(hosts), deliver] { deliver(look_up_all(hosts)); }}.detach();
    } catch (const std::system_error& error) {
      deliver({.failures = error.what()});  // no thread could be started just now
    }
  }
}

void Resolver::cancel() {
  if (!mailbox_) return;
  {
    const std::lock_guard lock{mailbox_->mutex};
    mailbox_->strand.reset();
    mailbox_->handler = nullptr;
  }
  mailbox_.reset();
}

}  // namespace custodian::detail
