#pragma once

/// \file
/// in_forked_child() uses a client's objects in a child of a fork, where every call fails with
/// `Errc::forked`, and every destructor does nothing.

#include <boost/asio/execution_context.hpp>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/error.hpp"
#include "scripted/world.hpp"
#include "support/in_child.hpp"

namespace custodian::tests {

/// The faults that a child finds, a line each.
class ChildReport {
 public:
  explicit ChildReport(World& world) : world_{world} {}

  void expect(bool holds, std::string_view statement) {
    if (!holds) text_.append("not so: ").append(statement) += '\n';
  }
  /// Checks that a blocking call throws `forked`.
  template <typename Call>
  void throws(std::string_view name, const Call& call) {
    try {
      static_cast<void>(call());
    } catch (const Error& error) {
      return expect(error.code() == Errc::forked, std::string{name} + ": " + error.what());
    }
    expect(false, std::string{name} + " throws");
  }
  /// Checks that an operation ends with `forked`: `fails<Lease>("acquire", [&](auto done) {...})`.
  template <typename... Results, typename Start>
  void fails(std::string_view name, const Start& start) {
    Outcome<Results...> outcome;
    start(outcome.handler());
    world_.settle();
    if (!outcome.arrived()) return expect(false, std::string{name} + " ends");
    expect(outcome.error() == Errc::forked,
           std::string{name} + " fails: " + outcome.error().message());
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  World& world_;
  std::string text_;
};

/// Calls `use` in a forked child, and returns the faults that it finds, in words; `use` must
/// destroy the objects that it uses. A request to the servers is a fault, and so is a watch that is
/// taken off. `clients` are the clients of the objects, and must have nothing under way.
[[nodiscard]] inline std::string in_forked_child(
    World& world, const std::vector<std::reference_wrapper<Client>>& clients,
    const std::function<void(ChildReport&)>& use) {
  for (Client& client : clients) {
    if (!world.run_until([&] { return is_connected(client.connection_state()); })) return "away";
  }
  world.settle();
  world.context.notify_fork(boost::asio::execution_context::fork_prepare);
  const auto in_the_child = [&] {
    world.context.notify_fork(boost::asio::execution_context::fork_child);
    ChildReport report{world};
    const std::size_t sent = world.ensemble.history().size();
    const std::size_t watches = world.ensemble.watches();
    const std::size_t sessions = world.ensemble.sessions().size();
    try {
      use(report);
      world.settle();
    } catch (const std::exception& exception) {
      report.expect(false, exception.what());
    }
    report.expect(world.ensemble.history().size() == sent, "nothing is sent");
    report.expect(world.ensemble.watches() == watches, "the watches stay");
    report.expect(world.ensemble.sessions().size() == sessions, "the sessions stay");
    return report.text();
  };
  return text_of_child(in_the_child, [&] {
    world.context.notify_fork(boost::asio::execution_context::fork_parent);
  });
}

}  // namespace custodian::tests
