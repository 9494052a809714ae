#pragma once

/// \file
/// run_until() runs a test's context.

#include <boost/asio/io_context.hpp>
#include <chrono>

#include "support/catch.hpp"

namespace custodian::tests {

/// Runs the context until `done` returns true. Fails the test if that takes too long.
template <typename Done>
void run_until(boost::asio::io_context& context, const Done& done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (!done()) {
    REQUIRE(std::chrono::steady_clock::now() < end);
    context.restart();
    context.run_for(std::chrono::milliseconds{1});
  }
}

}  // namespace custodian::tests
