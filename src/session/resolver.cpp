#include "session/resolver.hpp"

#include <netdb.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <mutex>
#include <optional>
#include <thread>

namespace custodian::detail {
namespace {

bool is_numeric(const HostPort& host) {
  boost::system::error_code error;
  static_cast<void>(boost::asio::ip::make_address(host.host, error));
  return !error;
}

/// Appends the addresses of one name, or the reason why it has none.
void look_up(const HostPort& host, std::vector<std::string>& addresses, std::string& failures) {
  const std::string port = std::to_string(host.port);
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int rc = ::getaddrinfo(host.host.c_str(), port.c_str(), &hints, &found); rc != 0) {
    if (!failures.empty()) failures += "; ";
    failures += host.host + ": " + ::gai_strerror(rc);
    return;
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner{found, &::freeaddrinfo};
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(each->ai_addr, each->ai_addrlen, text.data(), text.size(), nullptr, 0,
                      NI_NUMERICHOST) == 0) {
      addresses.push_back(std::string{text.data()} + ":" + port);
    }
  }
}

Resolver::Result look_up_all(const std::vector<HostPort>& hosts) {
  std::vector<std::string> addresses;
  Resolver::Result result;
  for (const HostPort& host : hosts) {
    if (is_numeric(host)) {
      addresses.push_back(host.host + ":" + std::to_string(host.port));
    } else {
      look_up(host, addresses, result.failures);
    }
  }
  // Sorted, so that an unchanged answer is the same text; the C client shuffles them anyway.
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  for (const std::string& address : addresses) {
    if (!result.addresses.empty()) result.addresses += ",";
    result.addresses += address;
  }
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
      deliver({.addresses = {}, .failures = error.what()});  // no thread could be started just now
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
