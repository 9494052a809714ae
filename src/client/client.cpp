#include "custodian/client.hpp"

#include <algorithm>
#include <future>
#include <thread>
#include <utility>

#include "base/connection_string.hpp"
#include "client/argument_checks.hpp"
#include "client/client_core.hpp"
#include "client/client_runtime.hpp"

namespace custodian {

namespace asio = boost::asio;

namespace {

constexpr auto close_grace = detail::ClientCore::close_grace;

/// Makes a core that is not destroyed in a child of a fork. The core's last owner there may be an
/// object that outlives the client, and mutexes that were locked at the fork stay locked for ever.
CorePtr make_core(const asio::any_io_executor& executor, asio::any_io_executor callbacks,
                  ClientOptions options, detail::Security security,
                  std::shared_ptr<void> keep_alive) {
  auto state =
      std::make_unique<detail::ClientState>(executor, std::move(callbacks), std::move(options),
                                            std::move(security), std::move(keep_alive));
  const std::shared_ptr<detail::ClientState> shared{state.release(), [](detail::ClientState* last) {
                                                      if (!last->own->forked()) delete last;
                                                    }};
  return shared->own->shared_from_this();
}

}  // namespace

Client::Client(std::string_view servers) : Client{ClientOptions{.servers = std::string{servers}}} {}

Client::Client(ClientOptions options) : runtime_{std::make_shared<Runtime>()}, owner_{true} {
  validate(options);
  // security_of() may throw, so it is called before `keep_alive` exists: only a thread of the
  // runtime can release the runtime from `keep_alive`, and none runs yet.
  detail::Security security = detail::security_of(options);
  const asio::any_io_executor callbacks =
      options.callback_executor.value_or(runtime_->callbacks.get_executor());
  // The core owns `keep_alive`: when the core is destroyed, the threads may end.
  const std::shared_ptr<void> keep_alive{runtime_.get(),
                                         [runtime = runtime_](void*) { runtime->let_go(); }};
  core_ = make_core(runtime_->io.get_executor(), callbacks, std::move(options), std::move(security),
                    keep_alive);
  // run() comes before start(): if start() throws, the threads must run to end the runtime.
  runtime_->run();
  core_->start();
}

Client::Client(asio::any_io_executor executor, ClientOptions options) : owner_{true} {
  validate(options);
  const asio::any_io_executor callbacks = options.callback_executor.value_or(executor);
  detail::Security security = detail::security_of(options);
  core_ = make_core(executor, callbacks, std::move(options), std::move(security), nullptr);
  core_->start();
}

Client::Client(CorePtr core, std::shared_ptr<Runtime> runtime)
    : core_{std::move(core)}, runtime_{std::move(runtime)} {}

Client::~Client() {
  if (!core_ || !owner_) return;
  if (core_->forked()) {
    // The threads exist only in the parent. Joining them here, or even destroying their contexts,
    // would block for ever, so both are leaked.
    // NOLINTBEGIN(bugprone-unhandled-exception-at-new): without memory for this, the child may end
    static_cast<void>(new std::shared_ptr{std::move(core_)});
    static_cast<void>(new std::shared_ptr{std::move(runtime_)});
    // NOLINTEND(bugprone-unhandled-exception-at-new)
    return;
  }
  // The destructor does not wait in these cases: the user's executor may be busy or stopped, and a
  // thread of the client cannot wait for itself.
  if (!runtime_ || core_->is_own_thread()) {
    core_->close(close_grace, nullptr);
    return;
  }
  close();
  const std::weak_ptr<detail::ClientCore> last{core_};
  core_.reset();
  // A lease or lock that outlives the client keeps the core, and with it the threads: they end with
  // the last of these objects. Pending work of the strand and of the log also keeps the core, but
  // only for a moment, for which the destructor waits.
  const Deadline brief{std::chrono::milliseconds{100}};
  while (!last.expired() && !brief.passed()) {
    std::this_thread::sleep_for(std::chrono::microseconds{200});
  }
  if (const CorePtr kept = last.lock()) kept->end_log(Deadline{close_grace});
  if (last.expired()) runtime_->join(Deadline{close_grace});
}

Client Client::share() const { return Client{core_, nullptr}; }

Client Client::with_namespace(std::string_view name_space) const {
  const std::string absolute = detail::absolute_namespace(name_space);
  if (const auto fault = detail::namespace_fault(absolute)) {
    throw Error{Errc::invalid_argument, "with_namespace", "", "name_space: " + *fault};
  }
  if (core_->forked()) throw Error{Errc::forked, "with_namespace", ""};
  return Client{core_->view(absolute).shared_from_this(), nullptr};
}

const std::string& Client::name_space() const noexcept { return core_->name_space(); }

void Client::close() {
  if (core_->forked()) return;
  struct Closed {
    std::mutex mutex;
    std::condition_variable arrived;
    bool begun = false;
    bool value = false;

    void tell(bool Closed::*what) {
      const std::lock_guard lock{mutex};
      this->*what = true;
      arrived.notify_all();
    }
  };
  const auto closed = std::make_shared<Closed>();
  boost::asio::post(core_->strand(), [closed] { closed->tell(&Closed::begun); });
  core_->close(close_grace, [closed] { closed->tell(&Closed::value); });
  if (core_->is_own_thread()) return;  // the close goes on when this thread returns
  std::unique_lock lock{closed->mutex};
  // If nothing has run on the strand within the grace, the user's context counts as not running.
  const bool runs =
      closed->arrived.wait_for(lock, detail::blocking_grace, [&] { return closed->begun; });
  if (!runs && !runtime_) return;
  closed->arrived.wait_for(lock, close_grace, [&] { return closed->value; });
}

bool Client::close(Deadline deadline) {
  detail::require_may_block(*core_, "close", "");
  core_->begin_drain();
  core_->drain().wait(deadline.or_default(core_->options().operation_timeout));
  close();
  return !core_->drain().has_cut_holders_off();
}

// -- Blocking forms -------------------------------------------------------------------------------

namespace {

// The errors of blocking calls that do not end because no thread runs the context. A write may have
// been sent before.
constexpr Errc write_unended = Errc::deadline_exceeded_outcome_unknown;
constexpr Errc read_unended = Errc::deadline_exceeded;

}  // namespace

Created Client::create(std::string path, std::string data, CreateOptions options) {
  check_create(core_, path, data, options);
  const BlockingLimit limit{options.deadline, write_unended};
  return block_in_time_or_throw<&start_create, Created>(core_, "create", path, {}, limit, path,
                                                        std::move(data), std::move(options));
}

GetResult Client::get(std::string path, OperationOptions options) const {
  check_path(core_, "get", path);
  return block_in_time_or_throw<&start_get, GetResult>(
      core_, "get", path, {}, {options.deadline, read_unended}, path, options);
}

Stat Client::set(std::string path, std::string data, SetOptions options) {
  check_set(core_, path, data);
  return block_in_time_or_throw<&start_set, Stat>(
      core_, "set", path, {}, {options.deadline, write_unended}, path, std::move(data), options);
}

Upserted Client::upsert(std::string path, std::string data, UpsertOptions options) {
  check_upsert(core_, path, data, options);
  const BlockingLimit limit{options.deadline, write_unended};
  return block_in_time_or_throw<&start_upsert, Upserted>(core_, "upsert", path, {}, limit, path,
                                                         std::move(data), std::move(options));
}

void Client::remove(std::string path, RemoveOptions options) {
  check_remove(core_, path, options);
  return block_in_time_or_throw<&start_remove>(core_, "remove", path, {},
                                               {options.deadline, write_unended}, path, options);
}

void Client::remove_in_background(std::string path) noexcept {
  if (core_->forked()) return;
  core_->on_strand([core = core_, full = core_->prefix().add(path)]() mutable {
    core->deletes().add(std::move(full), core->session_info().id);
  });
}

std::optional<Stat> Client::exists(std::string path, OperationOptions options) const {
  check_path(core_, "exists", path);
  return block_in_time_or_throw<&start_exists, std::optional<Stat>>(
      core_, "exists", path, {}, {options.deadline, read_unended}, path, options);
}

Children Client::children(std::string path, OperationOptions options) const {
  check_path(core_, "children", path);
  return block_in_time_or_throw<&start_children, Children>(
      core_, "children", path, {}, {options.deadline, read_unended}, path, options);
}

Acl Client::get_acl(std::string path, OperationOptions options) const {
  check_path(core_, "get_acl", path);
  return block_in_time_or_throw<&start_get_acl, Acl>(
      core_, "get_acl", path, {}, {options.deadline, read_unended}, path, options);
}

void Client::set_acl(std::string path, Acl acl, SetOptions options) {
  check_path(core_, "set_acl", path);
  return block_in_time_or_throw<&start_set_acl>(
      core_, "set_acl", path, {}, {options.deadline, write_unended}, path, std::move(acl), options);
}

void Client::sync(std::string path, OperationOptions options) const {
  check_path(core_, "sync", path);
  return block_in_time_or_throw<&start_sync>(core_, "sync", path, {},
                                             {options.deadline, read_unended}, path, options);
}

namespace {

std::vector<std::string> paths_of(const Transaction& transaction) {
  std::vector<std::string> paths;
  for (const TransactionOperation& each : transaction) {
    paths.push_back(std::visit([](const auto& operation) { return operation.path; }, each));
  }
  return paths;
}

/// Throws a transaction's error, and names the operation that caused it if a server has said so.
void throw_if_failed(const detail::ClientCore& core, error_code error,
                     const std::vector<TransactionResult>& results,
                     const std::vector<std::string>& paths) {
  const bool answered = error != ErrorCondition::outcome_unknown &&
                        error != ErrorCondition::retryable && error != ErrorCondition::session_over;
  const auto culprit = std::ranges::find(results, error, &TransactionResult::error);
  if (!error || !answered || culprit == results.end()) {
    return throw_if(core, error, "commit", "");
  }
  const auto place = static_cast<std::size_t>(culprit - results.begin());
  throw Error{error, "commit", paths.at(place),
              "operation " + std::to_string(place + 1) + " of " + std::to_string(paths.size())};
}

}  // namespace

std::vector<TransactionResult> Client::commit(Transaction transaction, OperationOptions options) {
  check_commit(core_, transaction);
  const std::vector<std::string> paths = paths_of(transaction);
  auto [error, results] = block_in_time<&start_commit, std::vector<TransactionResult>>(
      core_, "commit", "", {}, {options.deadline, write_unended}, std::move(transaction), options);
  throw_if_failed(*core_, error, results, paths);
  return results;
}

std::pair<GetResult, Watch> Client::get_and_watch(std::string path,
                                                  OperationOptions options) const {
  check_path(core_, "get", path);
  auto [result, watch] = block_in_time_or_throw<&start_get_and_watch, GetResult, Watch>(
      core_, "get", path, {}, {options.deadline, read_unended}, path, options);
  return {std::move(result), std::move(watch)};
}

std::pair<std::optional<Stat>, Watch> Client::exists_and_watch(std::string path,
                                                               OperationOptions options) const {
  check_path(core_, "exists", path);
  auto [stat, watch] = block_in_time_or_throw<&start_exists_and_watch, std::optional<Stat>, Watch>(
      core_, "exists", path, {}, {options.deadline, read_unended}, path, options);
  return {stat, std::move(watch)};
}

std::pair<Children, Watch> Client::children_and_watch(std::string path,
                                                      OperationOptions options) const {
  check_path(core_, "children", path);
  auto [children, watch] = block_in_time_or_throw<&start_children_and_watch, Children, Watch>(
      core_, "children", path, {}, {options.deadline, read_unended}, path, options);
  return {std::move(children), std::move(watch)};
}

void Client::wait_connected(OperationOptions options) const {
  return block_in_time_or_throw<&start_wait_connected>(core_, "wait_connected", "", {},
                                                       {options.deadline, read_unended}, options);
}

// -- Connection -----------------------------------------------------------------------------------

ConnectionState Client::connection_state() const { return core_->connection_state(); }

Subscription Client::on_connection_state(ConnectionListener listener) const {
  return core_->listen(std::move(listener));
}

SessionInfo Client::session() const { return core_->session_info(); }

void Client::set_servers(std::string_view servers) {
  const auto parsed = detail::parse_connection_string("set_servers", servers);
  if (!parsed.chroot.empty()) {
    throw Error{Errc::invalid_argument, "set_servers", "",
                "servers: a chroot cannot change while the client lives"};
  }
  if (parsed.secure && core_->tls() == nullptr) {
    throw Error{Errc::invalid_argument, "set_servers", "",
                "servers: a client that began without TLS cannot change to it"};
  }
  core_->on_strand(
      [core = core_, text = std::string{servers}] { core->sessions().set_servers(text); });
}

void Client::set_credentials(const std::vector<ClientOptions::Credential>& credentials) {
  const ClientOptions& options = core_->options();
  detail::check_credentials("set_credentials", credentials, options.max_request_size);
  if (core_->forked()) throw Error{Errc::forked, "set_credentials", ""};
  core_->on_strand([core = core_, later = detail::for_a_session(credentials)]() mutable {
    core->sessions().set_credentials(std::move(later));
  });
}

std::size_t Client::kept_locks() const noexcept {
  return static_cast<std::size_t>(std::max(core_->idle(), 0));
}

std::size_t Client::max_kept_locks() const noexcept { return core_->options().max_kept_locks; }

void Client::release_kept_locks() {
  if (core_->forked()) return;
  core_->on_strand([core = core_] { core->sessions().current().release_idle(); });
}

asio::any_io_executor Client::get_executor() const { return core_->strand(); }

const std::string& Client::identity() const { return core_->options().identity; }

asio::any_io_executor Client::callback_executor() const { return core_->callback_executor(); }

error_code Client::unusable() const noexcept {
  if (core_->forked()) return Errc::forked;
  if (core_->draining()) return Errc::closed;
  return {};
}

void Client::log(LogLevel level, std::string message) const {
  if (!core_->forked()) core_->log(level, std::move(message));
}

std::int64_t Client::fencing_epoch() const noexcept { return core_->options().fencing_epoch; }

const RetryPolicy& Client::retry_policy() const { return core_->options().retry; }

Deadline Client::deadline_or_default(Deadline deadline) const {
  return deadline.or_default(core_->options().operation_timeout);
}

Session::Load Client::load() const {
  const auto load = std::make_shared<std::promise<Session::Load>>();
  detail::require_may_block(*core_, "load", "");
  core_->on_strand([core = core_, load] {
    Session::Load now = core->session().load();
    now.operations += core->deletes().size();
    load->set_value(now);
  });
  return load->get_future().get();
}

}  // namespace custodian
