// A recipe of one's own, from the kit that Custodian's recipes are made of (docs/own-recipe.md): a
// roster. Each process signs in, and a process that needs several members waits until that many
// have signed in.
//
//   custodian-example-own_recipe 127.0.0.1:2181

#include <boost/asio/this_coro.hpp>
#include <chrono>
#include <iostream>
#include <stop_token>
#include <string>
#include <utility>

#include "custodian/authoring/follow.hpp"
#include "custodian/authoring/operations.hpp"
#include "custodian/authoring/owned_node.hpp"
#include "custodian/authoring/path.hpp"
#include "custodian/authoring/spawn.hpp"
#include "custodian/authoring/time_limit.hpp"
#include "custodian/client.hpp"

using custodian::await;
using custodian::CancellationPtr;
using custodian::Children;
using custodian::CorePtr;
using custodian::Deadline;
using custodian::error_code;
using custodian::Result;
using custodian::Watched;

namespace roster {

// -- The algorithm: coroutines on the client's strand ---------------------------------------------

// Creates the roster's folder as a container, which the servers remove when the last member has
// left. The folder may exist already. A lost reply is no error either, since look() reads the
// folder again.
boost::asio::awaitable<error_code> create_folder(CorePtr core, CancellationPtr cancellation,
                                                 std::string path,
                                                 custodian::OperationOptions options) {
  custodian::CreateOptions container{.mode = custodian::CreateMode::container,
                                     .parents = custodian::Parents::created_as_containers,
                                     .deadline = options.deadline,
                                     .retry = options.retry};
  std::string no_data;
  const auto [error, created] = co_await await<&custodian::start_create, custodian::Created>(
      core, cancellation, path, std::move(no_data), std::move(container));
  const bool is_there = error == custodian::ServerErrc::node_exists;
  co_return is_there || error == custodian::ServerErrc::connection_loss ? error_code{} : error;
}

// Reads the names of all members, with a watch that fires when a member comes or goes.
boost::asio::awaitable<Result<Watched<Children>>> look(CorePtr core, CancellationPtr cancellation,
                                                       std::string path,
                                                       custodian::OperationOptions options) {
  for (;;) {
    auto seen = co_await custodian::read_children(core, cancellation, path, options,
                                                  custodian::Watching::yes);
    if (seen || seen.error() != custodian::ServerErrc::no_node) co_return seen;
    const error_code error = co_await create_folder(core, cancellation, path, options);
    if (error) co_return error;
  }
}

boost::asio::awaitable<Result<std::size_t>> wait_for(CorePtr core, CancellationPtr cancellation,
                                                     std::string path, std::size_t count,
                                                     custodian::OperationOptions options) {
  const auto read = [&] { return look(core, cancellation, path, options); };
  const auto are_enough = [&](const Children& seen) { return seen.names.size() >= count; };
  custodian::Watch none;
  const auto seen = co_await custodian::next_news<Children>(core, cancellation, std::move(none),
                                                            read, are_enough);
  if (!seen) co_return custodian::failed<std::size_t>(seen.error());
  co_return seen->value.names.size();
}

// -- A time limit: to be late is no error ---------------------------------------------------------

// Returns true if `count` members were there in time, and false if not.
boost::asio::awaitable<Result<bool>> wait_until(CorePtr core, CancellationPtr callers,
                                                std::string path, std::size_t count, Deadline until,
                                                custodian::OperationOptions options) {
  const auto strand = co_await boost::asio::this_coro::executor;
  const custodian::TimeLimit limit{core, strand, until, std::move(callers)};
  const CancellationPtr cancellation = limit.cancellation();
  const auto seen = co_await wait_for(core, cancellation, path, count, options);
  if (seen) co_return true;
  if (limit.has_ended(seen.error())) co_return false;
  co_return custodian::failed<bool>(seen.error());
}

// -- The way in: one function for callbacks, coroutines, futures and blocking callers -------------

void start_wait_for(CorePtr core, CancellationPtr cancellation, std::string path, std::size_t count,
                    custodian::OperationOptions options, custodian::Handler<std::size_t> handler) {
  const std::string what = "waiting at " + path;
  custodian::spawn(core, what,
                   wait_for(core, std::move(cancellation), std::move(path), count, options),
                   std::move(handler));
}

void start_wait_until(CorePtr core, CancellationPtr cancellation, std::string path,
                      std::size_t count, Deadline until, custodian::OperationOptions options,
                      custodian::Handler<bool> handler) {
  const std::string what = "waiting at " + path;
  custodian::spawn(
      core, what, wait_until(core, std::move(cancellation), std::move(path), count, until, options),
      std::move(handler));
}

}  // namespace roster

class Roster {
 public:
  Roster(const custodian::Client& client, std::string path)
      : client_{client.share()},
        path_{std::move(path)},
        patient_{Deadline::never(), client.retry_policy().unlimited()} {
    custodian::check_path(client_.core(), "Roster", path_);
  }

  // Signs a process in, until the returned node is destroyed or the session is over.
  custodian::OwnedNode sign_in(std::string who) {
    custodian::CreateOptions options{.mode = custodian::CreateMode::ephemeral,
                                     .protection = custodian::Protection::by_unique_name,
                                     .parents = custodian::Parents::created_as_containers};
    return {client_.core(),
            client_.create(custodian::join(path_, "member"), std::move(who), std::move(options))};
  }

  template <typename Token>
  auto async_wait_for(std::size_t count, Token&& token) const {
    return custodian::initiate<void(error_code, std::size_t), &roster::start_wait_for>(
        client_.core(), std::forward<Token>(token), path_, count, patient_);
  }
  std::size_t wait_for(std::size_t count, std::stop_token stop = {}) const {
    return custodian::block_or_throw<&roster::start_wait_for, std::size_t>(
        client_.core(), "Roster::wait_for", path_, std::move(stop), path_, count, patient_);
  }
  // Returns false if there were not enough members in time.
  bool wait_until(std::size_t count, Deadline until, std::stop_token stop = {}) const {
    constexpr auto name = "Roster::wait_until";
    const Deadline end = client_.deadline_or_default(until);
    const auto ended = custodian::block_until<&roster::start_wait_until, bool>(
        client_.core(), name, path_, std::move(stop), end, path_, count, end, patient_);
    if (!ended) return false;  // no thread runs the client's context
    const auto& [error, are_there] = *ended;
    custodian::throw_if(*client_.core(), error, name, path_);
    return are_there;
  }

 private:
  custodian::Client client_;
  std::string path_;
  // With these options a request waits until the caller gives up: through disconnections, and in
  // the next session.
  custodian::OperationOptions patient_;
};

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    const custodian::Client client{argv[1]};
    Roster roster{client, "/examples/roster"};
    roster.async_wait_for(3, [](error_code error, std::size_t count) {
      // The whole line is one write, because main() prints at the same time from another thread.
      if (!error) std::cout << "a callback has seen " + std::to_string(count) + "\n";
    });
    const custodian::OwnedNode one = roster.sign_in("one");
    const custodian::OwnedNode two = roster.sign_in("two");
    std::cout << "at least " + std::to_string(roster.wait_for(2)) + " are there\n";
    const custodian::OwnedNode three = roster.sign_in("three");
    std::cout << "at least " + std::to_string(roster.wait_for(3)) + " are there\n";
    if (!roster.wait_until(4, std::chrono::milliseconds{50})) std::cout << "no fourth comes\n";
  } catch (const custodian::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
