#include "custodian/inspect/revoke.hpp"

#include <algorithm>
#include <memory>

#include "ordering/contender_order.hpp"

namespace custodian {

namespace recipes_detail {

namespace asio = boost::asio;

namespace {

bool is_of_contender(std::string_view node) {
  const std::string_view name = node.substr(node.rfind('/') + 1);
  return std::ranges::any_of(
      std::initializer_list<NamingRule>{mutex_rule, read_write_rule, permit_rule, latch_rule},
      [&](const NamingRule& rule) {
        return std::holds_alternative<ContenderName>(parse_name(name, rule));
      });
}

asio::awaitable<void> ask(std::shared_ptr<detail::ClientCore> core, CancellationPtr cancellation,
                          std::string node, SetOptions options,
                          std::shared_ptr<Handler<bool>> handler) {
  for (;;) {
    std::string message{revoke_message};
    const auto [error, stat] = co_await await<&detail::start_set, Stat>(
        core, cancellation, node, std::move(message), options);
    // Asked twice is asked. It ends with the deadline.
    if (error == ServerErrc::connection_loss) continue;
    if (error == ServerErrc::no_node) co_return std::move (*handler)(error_code{}, false);
    co_return std::move (*handler)(error, !error);
  }
}

}  // namespace

void check_revoke(const Client& client, std::string_view operation, std::string_view node) {
  detail::check_path(client.core(), operation, node);
  if (is_of_contender(node)) return;
  throw Error{Errc::invalid_argument, operation, node,
              "node: this is not the node of a lock's holder; take it from participants()"};
}

void start_revoke(std::shared_ptr<detail::ClientCore> core, CancellationPtr cancellation,
                  Client client, std::string node, OperationOptions options,
                  Handler<bool> handler) {
  // Whoever drains may still ask.
  if (client.unusable() == Errc::forked) return std::move(handler)(Errc::forked, false);
  const SetOptions whatever_is_there{.deadline = client.deadline_or_default(options.deadline),
                                     .retry = options.retry};
  const auto ending = std::make_shared<Handler<bool>>(std::move(handler));
  const std::string what = "revoking " + node;
  detail::spawn_detached(
      core, ask(core, std::move(cancellation), std::move(node), whatever_is_there, ending), what,
      ending);
}

}  // namespace recipes_detail

bool revoke(const Client& client, const std::string& node, OperationOptions options) {
  recipes_detail::check_revoke(client, "revoke", node);
  const auto [error, asked] = block<&recipes_detail::start_revoke, bool>(
      client.core(), "revoke", node, {}, client.share(), node, options);
  detail::throw_if(*client.core(), error, "revoke", node);
  return asked;
}

}  // namespace custodian
