#include "custodian/barriers/distributed_double_barrier.hpp"

#include <utility>
#include <vector>

#include "async/observed_wait.hpp"
#include "barriers/party_entry.hpp"
#include "barriers/party_exit.hpp"
#include "barriers/timed_wait.hpp"
#include "custodian/authoring/bound_to_context.hpp"
#include "custodian/authoring/spawn.hpp"
#include "custodian/authoring/uuid.hpp"

namespace custodian {

namespace asio = boost::asio;

namespace recipes_detail {

namespace {

/// An operation of a member. When the operation ends, also by an exception, the member is out,
/// unless the operation has let it in.
class Operation {
 public:
  explicit Operation(PartyPtr party) : party_{std::move(party)} { party_->is_busy = true; }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  ~Operation() {
    party_->is_in = is_in_;
    if (!is_in_) party_->own = OwnedNode{};
    party_->is_busy = false;
  }

  void let_in() noexcept { is_in_ = true; }

 private:
  const PartyPtr party_;
  bool is_in_ = false;
};

asio::awaitable<Result<bool>> enter(PartyPtr party, CancellationPtr callers, Deadline until) {
  if (party->is_busy || party->is_in) co_return failed<bool>(Errc::invalid_argument);
  Operation operation{party};
  const auto work = [party](const CancellationPtr& limited) {
    return until_complete(party, limited);
  };
  Client client = party->client.share();
  const auto take_back = [party](const OperationOptions& options) {
    return withdraw(party, CancellationPtr{}, options);
  };
  Result<bool> entered =
      co_await unless_taken_back(std::move(client), std::move(callers), until, work, take_back);
  if (entered && *entered) operation.let_in();
  co_return entered;
}

asio::awaitable<Result<bool>> leave(PartyPtr party, CancellationPtr callers, Deadline until) {
  if (party->is_busy || !party->is_in) co_return failed<bool>(Errc::invalid_argument);
  const Operation operation{party};
  const auto work = [party](const CancellationPtr& limited) { return until_left(party, limited); };
  const CorePtr core = party->client.core();
  co_return co_await in_time(core, std::move(callers), until, work);
}

}  // namespace

void start_enter(CorePtr core, CancellationPtr cancellation, PartyPtr party, Deadline until,
                 Handler<bool> handler) {
  Handler<bool> observed =
      observed_wait(core, "DistributedDoubleBarrier::enter", party->path, std::move(handler));
  Handler<bool> bound = bound_to_context(core, std::move(observed));
  const std::string what = "entering " + party->path;
  spawn(core, what, enter(std::move(party), std::move(cancellation), until), std::move(bound));
}

void start_leave(CorePtr core, CancellationPtr cancellation, PartyPtr party, Deadline until,
                 Handler<bool> handler) {
  Handler<bool> observed =
      observed_wait(core, "DistributedDoubleBarrier::leave", party->path, std::move(handler));
  Handler<bool> bound = bound_to_context(core, std::move(observed));
  const std::string what = "leaving " + party->path;
  spawn(core, what, leave(std::move(party), std::move(cancellation), until), std::move(bound));
}

namespace {

/// Throws if the transactions of a party with so many members would be too large.
void check_members(const CorePtr& core, const std::string& path, std::int32_t members) {
  if (members < 1 || members > DistributedDoubleBarrier::max()) {
    throw Error{
        Errc::invalid_argument, "DistributedDoubleBarrier", path,
        "a party needs 1 to " + std::to_string(DistributedDoubleBarrier::max()) + " members"};
  }
  const std::vector<std::string> names(static_cast<std::size_t>(members),
                                       "_c_" + make_uuid() + "-" + make_uuid());
  try {
    check_commit(core, completing(path, names));
  } catch (const Error& error) {
    throw Error{error.code(), "DistributedDoubleBarrier", path,
                "the transaction of a party of " + std::to_string(members) +
                    " members would be too large for the servers: take fewer, or a shorter path, "
                    "or raise their jute.maxbuffer and ClientOptions::max_request_size"};
  }
}

}  // namespace

}  // namespace recipes_detail

DistributedDoubleBarrier::DistributedDoubleBarrier(const Client& client, std::string path,
                                                   std::int32_t members, Late late)
    : core_{client.core()} {
  constexpr auto name = "DistributedDoubleBarrier";
  check_path(core_, name, path);
  check_create(core_, path, {}, {});
  check_contender(core_, name, path, make_uuid(), client.identity());
  recipes_detail::check_members(core_, path, members);
  party_ = std::make_shared<recipes_detail::Party>(client.share(), std::move(path), members, late);
}

DistributedDoubleBarrier& DistributedDoubleBarrier::operator=(
    DistributedDoubleBarrier&& other) noexcept = default;

DistributedDoubleBarrier::~DistributedDoubleBarrier() = default;

const std::string& DistributedDoubleBarrier::path() const noexcept { return party_->path; }

namespace {

recipes_detail::BlockingCall entering(const std::string& path) {
  return {"DistributedDoubleBarrier::enter", path,
          "the member is in already (leave() comes first), or another operation of this object is "
          "under way (each member needs an object of its own)"};
}

recipes_detail::BlockingCall leaving(const std::string& path) {
  return {
      "DistributedDoubleBarrier::leave", path,
      "the member is not in (enter() comes first), or another operation of this object is under "
      "way (each member needs an object of its own)"};
}

}  // namespace

void DistributedDoubleBarrier::enter(std::stop_token stop) {
  recipes_detail::block_for_good<&recipes_detail::start_enter, bool>(
      core_, entering(path()), std::move(stop), party_, Deadline::never());
}

bool DistributedDoubleBarrier::try_enter_until(Deadline until, std::stop_token stop) {
  return recipes_detail::block_unless_taken_back<&recipes_detail::start_enter>(
      party_->client, entering(path()), std::move(stop), until, party_);
}

void DistributedDoubleBarrier::leave(std::stop_token stop) {
  recipes_detail::block_for_good<&recipes_detail::start_leave, bool>(
      core_, leaving(path()), std::move(stop), party_, Deadline::never());
}

bool DistributedDoubleBarrier::try_leave_until(Deadline until, std::stop_token stop) {
  return recipes_detail::block_in_time_for<&recipes_detail::start_leave>(
      party_->client, leaving(path()), std::move(stop), until, party_);
}

}  // namespace custodian
