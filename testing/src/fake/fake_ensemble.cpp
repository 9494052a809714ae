#include "custodian/testing/fake_ensemble.hpp"

#include <utility>

#include "fake/fake_session.hpp"

namespace custodian::testing {

FakeEnsemble::FakeEnsemble(FakeEnsembleOptions options)
    : server_{FakeServer::make(std::move(options))} {}

FakeEnsemble::~FakeEnsemble() = default;

SessionFactory FakeEnsemble::session_factory(std::string client) {
  return [server = server_, client = std::move(client)](
             boost::asio::any_io_executor strand, SessionSettings settings,
             std::weak_ptr<SessionObserver> observer) -> std::shared_ptr<Session> {
    if (settings.clock != server->options().clock) {
      throw Error{Errc::invalid_argument, "connect", "",
                  "clock: the client's is not that of its FakeEnsemble"};
    }
    return std::make_shared<FakeSession>(server, client, std::move(strand), std::move(settings),
                                         std::move(observer));
  };
}

ClientOptions FakeEnsemble::options(std::string client) {
  ClientOptions options;
  options.servers = "fake.invalid:2181";
  options.session_factory = session_factory(std::move(client));
  options.clock = server_->options().clock;
  return options;
}

void FakeEnsemble::set_fault_plan(std::shared_ptr<FaultPlan> plan) {
  server_->set_plan(std::move(plan));
}

void FakeEnsemble::release_replies() { server_->release_replies(); }
std::size_t FakeEnsemble::apply_late_requests() { return server_->apply_late_requests(); }
void FakeEnsemble::expire(std::int64_t session) { server_->end_session(session); }
void FakeEnsemble::disconnect(std::int64_t session) { server_->disconnect(session); }
void FakeEnsemble::leave_server_behind() { server_->leave_server_behind(); }
void FakeEnsemble::cut_off(const std::string& client) { server_->cut_off(client); }
void FakeEnsemble::let_in(const std::string& client) { server_->let_in(client); }
void FakeEnsemble::stop() { server_->set_running(false); }
void FakeEnsemble::start() { server_->set_running(true); }

bool FakeEnsemble::exists(const std::string& path) const {
  return server_->look([&](const FakeTree& tree) { return tree.find(path) != nullptr; });
}

std::vector<std::string> FakeEnsemble::children(const std::string& path) const {
  return server_->look([&](const FakeTree& tree) -> std::vector<std::string> {
    const FakeTree::Node* node = tree.find(path);
    if (node == nullptr) return {};
    return {node->children.begin(), node->children.end()};
  });
}

Reply FakeEnsemble::operate(const Request& request) {
  return server_->change([&](FakeTree& tree, std::vector<TreeChange>& changes) {
    return tree.apply(request, 0, changes);
  });
}

void FakeEnsemble::remove_tree(const std::string& path) {
  server_->change([&](FakeTree& tree, std::vector<TreeChange>& changes) {
    tree.remove_tree(path, changes);
    return 0;
  });
}

void FakeEnsemble::refuse(const std::string& path) {
  server_->change([&](FakeTree& tree, auto&) { return tree.refuse(path), 0; });
}

void FakeEnsemble::permit(const std::string& path) {
  server_->change([&](FakeTree& tree, auto&) { return tree.permit(path), 0; });
}

void FakeEnsemble::set_next_sequence(const std::string& parent, std::int32_t next) {
  server_->change([&](FakeTree& tree, auto&) { return tree.set_next_sequence(parent, next), 0; });
}

void FakeEnsemble::set_version(const std::string& path, std::int32_t version) {
  server_->change([&](FakeTree& tree, auto&) { return tree.set_version(path, version), 0; });
}

void FakeEnsemble::reap_containers() {
  server_->change([](FakeTree& tree, std::vector<TreeChange>& changes) {
    tree.reap_containers(changes);
    return 0;
  });
}

std::vector<Submission> FakeEnsemble::history() const { return server_->history(); }
void FakeEnsemble::clear_history() { server_->clear_history(); }

std::size_t FakeEnsemble::watches(std::int64_t session) const {
  const auto counts = server_->watches();
  const auto found = counts.find(session);
  return found == counts.end() ? 0 : found->second;
}

std::size_t FakeEnsemble::watches() const {
  std::size_t sum = 0;
  for (const auto& [session, count] : server_->watches()) sum += count;
  return sum;
}

std::vector<std::int64_t> FakeEnsemble::sessions() const {
  std::vector<std::int64_t> ids;
  for (const auto& [session, count] : server_->watches()) ids.push_back(session);
  return ids;
}

bool FakeEnsemble::is_connected(std::int64_t session) const {
  return server_->is_connected(session);
}

}  // namespace custodian::testing
