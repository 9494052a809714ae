#pragma once

/// \file
/// Resolver turns names into addresses, without making the strand wait for the system's resolver.
///
/// getaddrinfo() may take half a minute and cannot be cancelled. Asio's own resolver joins its
/// thread when the io_context is destroyed, and the C client calls getaddrinfo() in the midst of a
/// healthy connection. So each look-up is an Errand, on a thread of its own: see
/// session/errand.hpp.

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/connection_string.hpp"
#include "session/address.hpp"
#include "session/errand.hpp"

namespace custodian::detail {

class Resolver {
 public:
  explicit Resolver(boost::asio::any_io_executor strand);
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  /// The addresses of all hosts that resolve, sorted; empty, with a reason, if none does.
  struct Result {
    std::vector<Address> addresses{};
    std::string failures{};
    std::vector<std::string> unresolved{};  ///< the names that have failed
  };
  using Handler = std::function<void(Result)>;

  /// Calls back on the strand. An earlier look-up that is still under way is cancelled.
  void resolve(std::vector<HostPort> hosts, Handler handler);
  [[nodiscard]] bool busy() const noexcept { return errand_.busy(); }
  void cancel() { errand_.cancel(); }

 private:
  Errand<Result> errand_;
};

}  // namespace custodian::detail
