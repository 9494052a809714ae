/// \file
/// Who holds a lock and who waits for it, for people who look.

#include "acquire/participants.hpp"

#include "async/eager.hpp"
#include "custodian/locks/inter_process_lock.hpp"
#include "ordering/lock_spec.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

std::string child(const std::string& parent, std::string_view name) {
  return (parent == "/" ? parent : parent + "/") + std::string{name};
}

Participant participant_of(const Client& client, std::string node, GetResult read) {
  return {
      .node = std::move(node),
      .identity = std::move(read.data),
      .session = read.stat.ephemeral_owner,
      .since = read.stat.created,
      .token = {client.fencing_epoch(), read.stat.czxid},
      .own = read.stat.ephemeral_owner != 0 && read.stat.ephemeral_owner == client.session().id};
}

namespace {

asio::awaitable<void> collect(QueuePtr queue, CancellationPtr cancellation,
                              OperationOptions options,
                              std::shared_ptr<Handler<std::vector<Participant>>> handler) {
  const auto core = queue->client.core();
  std::vector<Participant> participants;
  auto [error, children] =
      co_await await<&detail::start_children, Children>(core, cancellation, queue->path, options);
  if (error == ServerErrc::no_node) error.clear();  // nobody has come yet
  if (!error) {
    const Listing listing{std::move(children.names), queue->rule};
    std::vector<std::pair<std::string, Eager<GetResult>>> reads;
    for (const Contender& contender : listing.contenders()) {
      std::string node = child(queue->path, contender.name);
      auto read = Eager<GetResult>::start<&detail::start_get>(queue->client.get_executor(), core,
                                                              cancellation, node, options);
      reads.emplace_back(std::move(node), std::move(read));
    }
    for (auto& [node, read] : reads) {
      auto [failure, result] = co_await read.get();
      if (failure == ServerErrc::no_node) continue;  // has gone meanwhile
      if (failure) {
        error = failure;
        continue;
      }
      participants.push_back(participant_of(queue->client, node, std::move(result)));
    }
  }
  if (error) participants.clear();
  std::move (*handler)(error, std::move(participants));
}

}  // namespace

void start_participants(std::shared_ptr<detail::ClientCore>, CancellationPtr cancellation,
                        QueuePtr queue, OperationOptions options,
                        Handler<std::vector<Participant>> handler) {
  // Whoever drains may still look.
  if (queue->client.unusable() == Errc::forked) {
    return std::move(handler)(Errc::forked, std::vector<Participant>{});
  }
  options.deadline = queue->client.deadline_or_default(options.deadline);
  const auto ending = std::make_shared<Handler<std::vector<Participant>>>(std::move(handler));
  detail::spawn_detached(queue->client.core(),
                         collect(queue, std::move(cancellation), options, ending),
                         "a look at " + queue->path, ending);
}

void start_queue_length(std::shared_ptr<detail::ClientCore> core, CancellationPtr cancellation,
                        QueuePtr queue, OperationOptions options, Handler<std::size_t> handler) {
  detail::start_children(
      std::move(core), std::move(cancellation), queue->path, options,
      [queue, handler = std::move(handler)](error_code error, Children children) mutable {
        if (error == ServerErrc::no_node) error.clear();  // nobody has come yet
        const Listing listing{std::move(children.names), queue->rule};
        std::move(handler)(error, listing.contenders().size());
      });
}

std::vector<Participant> participants_of(const QueuePtr& queue, std::string_view operation,
                                         OperationOptions options) {
  auto [error, participants] = block<&start_participants, std::vector<Participant>>(
      queue->client.core(), operation, queue->path, {}, queue, options);
  detail::throw_if(*queue->client.core(), error, operation, queue->path);
  return std::move(participants);
}

}  // namespace custodian::recipes_detail
