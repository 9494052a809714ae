#pragma once

/// \file
/// EndOfContext acts when a client's execution context is destroyed.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <utility>

#include "custodian/error.hpp"

namespace custodian::recipes_detail {

/// Calls a function when the context is destroyed, in the thread that destroys it, unless this
/// object is destroyed first. A call may still come shortly after this object's destruction, so the
/// function must keep alive what it uses.
class EndOfContext {
 public:
  EndOfContext(const boost::asio::any_io_executor& strand, std::function<void()> act)
      : timer_{strand, boost::asio::steady_timer::time_point::max()} {
    const auto armed = std::make_shared<Armed>(std::move(act));
    // The wait never ends by itself. A destroyed context destroys this handler uncalled, and
    // ~Armed() acts; a call disarms it.
    timer_.async_wait([armed](error_code) { armed->act = nullptr; });
  }

 private:
  struct Armed {
    explicit Armed(std::function<void()> what) : act{std::move(what)} {}
    Armed(const Armed&) = delete;
    Armed& operator=(const Armed&) = delete;
    ~Armed() {
      if (act) act();
    }
    std::function<void()> act;
  };

  boost::asio::steady_timer timer_;
};

}  // namespace custodian::recipes_detail
