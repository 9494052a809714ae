#include "custodian/inspect/revoke.hpp"

#include <algorithm>
#include <memory>

#include "custodian/authoring/path.hpp"
#include "custodian/authoring/spawn.hpp"
#include "ordering/contender_order.hpp"

namespace custodian {

namespace recipes_detail {

namespace asio = boost::asio;

namespace {

bool is_of_contender(std::string_view node) {
  const std::string_view name = name_of(node);
  return std::ranges::any_of(
      std::initializer_list<NamingRule>{mutex_rule, read_write_rule, permit_rule, latch_rule},
      [&](const NamingRule& rule) {
        return std::holds_alternative<ContenderName>(parse_name(name, rule));
      });
}

asio::awaitable<Result<bool>> ask(CorePtr core, CancellationPtr cancellation, std::string node,
                                  SetOptions options) {
  for (;;) {
    std::string message{revoke_message};
    const auto [error, stat] =
        co_await await<&start_set, Stat>(core, cancellation, node, std::move(message), options);
    // The reply was lost, so the request is repeated: twice does no harm. The deadline ends the
    // loop.
    if (error == ServerErrc::connection_loss) continue;
    if (error == ServerErrc::no_node) co_return false;
    if (error) co_return failed<bool>(error);
    co_return true;
  }
}

}  // namespace

void check_revoke(const Client& client, std::string_view operation, std::string_view node) {
  check_path(client.core(), operation, node);
  if (is_of_contender(node)) return;
  throw Error{Errc::invalid_argument, operation, node,
              "node: this is not the node of a lock's holder; take it from participants()"};
}

void start_revoke(CorePtr core, CancellationPtr cancellation, Client client, std::string node,
                  OperationOptions options, Handler<bool> handler) {
  const SetOptions whatever_is_there{.deadline = client.deadline_or_default(options.deadline),
                                     .retry = options.retry};
  const std::string what = "revoking " + node;
  spawn(core, what, ask(core, std::move(cancellation), std::move(node), whatever_is_there),
        std::move(handler));
}

}  // namespace recipes_detail

bool revoke(const Client& client, const std::string& node, OperationOptions options) {
  recipes_detail::check_revoke(client, "revoke", node);
  return block_in_time_or_throw<&recipes_detail::start_revoke, bool>(
      client.core(), "revoke", node, {},
      {options.deadline, Errc::deadline_exceeded_outcome_unknown}, client.share(), node, options);
}

}  // namespace custodian
