/// \file
/// Reads the holders and waiters of a lock from its nodes, for users who inspect it.

#include "acquire/participants.hpp"

#include "async/started_operation.hpp"
#include "custodian/authoring/path.hpp"
#include "custodian/authoring/spawn.hpp"
#include "custodian/locks/inter_process_lock.hpp"
#include "ordering/lock_spec.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

Participant participant_of(const Client& client, std::string node, GetResult read) {
  const bool own =
      read.stat.ephemeral_owner != 0 && read.stat.ephemeral_owner == client.session().id;
  const bool idle = own && detail::has_idle_node(*client.core(), node);
  return {.node = std::move(node),
          .identity = std::move(read.data),
          .session = read.stat.ephemeral_owner,
          .since = read.stat.created,
          .token = {client.fencing_epoch(), read.stat.czxid},
          .own = own,
          .idle = idle};
}

namespace {

asio::awaitable<Result<std::vector<Participant>>> collect(LockSpecPtr spec,
                                                          CancellationPtr cancellation,
                                                          OperationOptions options) {
  const auto core = spec->client.core();
  std::vector<Participant> participants;
  auto [error, children] =
      co_await await<&start_children, Children>(core, cancellation, spec->path, options);
  if (error == ServerErrc::no_node) error.clear();  // no contender has come yet
  if (!error) {
    const Listing listing{std::move(children.names), spec->rule};
    // All reads travel together. A contender may be gone before its read.
    std::vector<std::pair<std::string, StartedOperation<GetResult>>> reads;
    for (const ContenderName& contender : listing.contenders()) {
      std::string node = join(spec->path, contender.name);
      auto read = StartedOperation<GetResult>::start<&start_get>(spec->client.get_executor(), core,
                                                                 cancellation, node, options);
      reads.emplace_back(std::move(node), std::move(read));
    }
    for (auto& [node, read] : reads) {
      auto [failure, result] = co_await read.get();
      if (failure == ServerErrc::no_node) continue;  // deleted meanwhile
      if (failure) {
        error = failure;
        continue;
      }
      participants.push_back(participant_of(spec->client, node, std::move(result)));
    }
  }
  if (error) co_return error;
  co_return std::move(participants);
}

}  // namespace

void start_participants(CorePtr, CancellationPtr cancellation, LockSpecPtr spec,
                        OperationOptions options, Handler<std::vector<Participant>> handler) {
  options.deadline = spec->client.deadline_or_default(options.deadline);
  spawn(spec->client.core(), "a look at " + spec->path,
        collect(spec, std::move(cancellation), options), std::move(handler));
}

void start_queue_length(CorePtr core, CancellationPtr cancellation, LockSpecPtr spec,
                        OperationOptions options, Handler<std::size_t> handler) {
  start_children(std::move(core), std::move(cancellation), spec->path, options,
                 [spec, handler = std::move(handler)](error_code error, Children children) mutable {
                   if (error == ServerErrc::no_node) error.clear();  // no contender has come yet
                   const Listing listing{std::move(children.names), spec->rule};
                   std::move(handler)(error, listing.contenders().size());
                 });
}

std::vector<Participant> participants_of(const LockSpecPtr& spec, std::string_view operation,
                                         OperationOptions options) {
  return block_in_time_or_throw<&start_participants, std::vector<Participant>>(
      spec->client.core(), operation, spec->path, {}, {options.deadline}, spec, options);
}

}  // namespace custodian::recipes_detail
