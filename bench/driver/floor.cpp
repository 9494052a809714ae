/// \file
/// The floor measures what the wire and the ZooKeeper C client (single-threaded, as ours is) allow,
/// without a library around it: custodian-bench-floor pipelined|waiting SERVERS.
///
/// pipelined  create and list sent together; the delete is not awaited; a waiter watches the next
///            lower node; when that node is gone, the waiter has the lock if it was the only
///            lower node, and otherwise lists again
/// waiting    create, wait, list, wait, delete, wait; lists again when the watched node goes
///
/// Each thread has its own session. Readers wait only for lower writers. Nothing is retried, and a
/// lost session is an error: this is a floor, not a lock.

#include <poll.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iomanip>
#include <random>
#include <sstream>
#include <stdexcept>

#include "driver.hpp"

namespace custodian::bench {
namespace {

using Names = std::vector<std::string>;

void check(int code, const std::string& what) {
  if (code != ZOK) throw std::runtime_error{what + ": " + zerror(code)};
}

/// The answer to one request, which the C client's callbacks fill in.
struct Answer {
  bool here = false;
  int code = ZOK;
  std::string text{};
  Names names{};
};

class Handle {
 public:
  explicit Handle(const std::string& servers) {
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    zh_ = zookeeper_init(servers.c_str(), on_watch, 30'000, nullptr, this, 0);
    if (zh_ == nullptr) throw std::runtime_error{"zookeeper_init"};
    until([this] { return zoo_state(zh_) == ZOO_CONNECTED_STATE; });
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { zookeeper_close(zh_); }

  template <typename Condition>
  void until(const Condition& condition) {
    while (!condition()) turn();
  }
  void wait(const Answer& answer) {
    until([&] { return answer.here; });
  }

  void create(const std::string& path, int mode, Answer& answer) {
    check(zoo_acreate(zh_, path.c_str(), data_.data(), static_cast<int>(data_.size()),
                      &ZOO_OPEN_ACL_UNSAFE, mode, on_text, &answer),
          "create");
  }
  void list(const std::string& path, Answer& answer) {
    check(zoo_aget_children(zh_, path.c_str(), 0, on_names, &answer), "list");
  }
  /// Reads the node, with a watch. From the watch's event on, watched_has_gone() returns true.
  void watch(const std::string& path, Answer& answer) {
    gone_ = false;
    check(zoo_awget(zh_, path.c_str(), on_watch, this, on_data, &answer), "watch");
  }
  void remove(const std::string& path, Answer& answer) {
    check(zoo_adelete(zh_, path.c_str(), -1, on_void, &answer), "delete");
  }
  [[nodiscard]] bool watched_has_gone() const { return gone_; }
  [[nodiscard]] std::int64_t session() const { return zoo_client_id(zh_)->client_id; }

 private:
  /// Waits for the network once, and lets the C client process what has arrived.
  void turn() {
    int descriptor = -1;
    int interest = 0;
    timeval limit{};
    check(zookeeper_interest(zh_, &descriptor, &interest, &limit), "zookeeper_interest");
    pollfd ready{descriptor, 0, 0};
    if ((interest & ZOOKEEPER_READ) != 0) ready.events |= POLLIN;
    if ((interest & ZOOKEEPER_WRITE) != 0) ready.events |= POLLOUT;
    const auto milliseconds = static_cast<int>(limit.tv_sec * 1000 + limit.tv_usec / 1000);
    ::poll(&ready, 1, milliseconds);
    int events = 0;
    if ((ready.revents & (POLLIN | POLLHUP | POLLERR)) != 0) events |= ZOOKEEPER_READ;
    if ((ready.revents & POLLOUT) != 0) events |= ZOOKEEPER_WRITE;
    const int code = zookeeper_process(zh_, events);
    if (code != ZNOTHING) check(code, "zookeeper_process");
  }

  static Answer& answer(const void* data) { return *static_cast<Answer*>(const_cast<void*>(data)); }
  static void on_void(int code, const void* data) {
    answer(data).code = code;
    answer(data).here = true;
  }
  static void on_text(int code, const char* text, const void* data) {
    if (text != nullptr) answer(data).text = text;
    on_void(code, data);
  }
  static void on_names(int code, const String_vector* names, const void* data) {
    for (int i = 0; names != nullptr && i < names->count; ++i) {
      answer(data).names.emplace_back(names->data[i]);
    }
    on_void(code, data);
  }
  static void on_data(int code, const char*, int, const Stat*, const void* data) {
    on_void(code, data);
  }
  static void on_watch(zhandle_t*, int type, int, const char*, void* context) {
    if (type != ZOO_SESSION_EVENT) static_cast<Handle*>(context)->gone_ = true;
  }

  zhandle_t* zh_ = nullptr;
  bool gone_ = false;
  /// The data is as long as that of a usual lock's node: host and process.
  const std::string data_{"127.0.0.1/12345"};
};

std::string sequence_of(const std::string& name) {
  return name.substr(name.size() - std::min<std::size_t>(name.size(), 10));
}

enum class Way { pipelined, waiting };

class Floor final : public Locker {
 public:
  Floor(std::shared_ptr<Handle> handle, std::string path, Way way)
      : handle_{std::move(handle)}, path_{std::move(path)}, way_{way} {}

  ~Floor() override {
    try {
      if (removing_) handle_->wait(removed_);
    } catch (const std::exception&) {
      // The end of the session deletes the node anyway.
    }
  }

  void lock() override { stand_in(Mode::alone); }
  void lock_shared() override { stand_in(Mode::shared); }

  void unlock() override {
    removed_ = Answer{};
    removing_ = true;
    handle_->remove(node_, removed_);
    if (way_ == Way::waiting) handle_->wait(removed_);
  }
  void unlock_shared() override { unlock(); }

  [[nodiscard]] std::string session() const override {
    std::ostringstream text;
    text << std::hex << static_cast<std::uint64_t>(handle_->session());
    return text.str();
  }

 private:
  enum class Mode { alone, shared };

  void stand_in(Mode mode) {
    mode_ = mode;
    if (stand() != ZNONODE) return;
    make_path();
    check(stand(), "create");
  }
  void make_path() {
    for (std::size_t end = path_.find('/', 1); end != path_.npos; end = path_.find('/', end + 1)) {
      make(path_.substr(0, end));
    }
    make(path_);
  }
  void make(const std::string& path) {
    Answer answer;
    handle_->create(path, 0, answer);
    handle_->wait(answer);
    if (answer.code != ZNODEEXISTS) check(answer.code, path);
  }

  /// Creates this contender's node, and waits until it is first. Returns ZNONODE if the lock's path
  /// does not exist.
  int stand() {
    Answer created;
    Answer listed;
    handle_->create(prefix(), ZOO_EPHEMERAL | ZOO_SEQUENCE, created);
    if (way_ == Way::waiting) handle_->wait(created);
    if (created.code == ZNONODE) return created.code;
    handle_->list(path_, listed);
    handle_->wait(listed);
    // Answers come in the order of the requests, so the previous delete has been answered, too.
    if (removing_) check(removed_.code, "delete");
    removing_ = false;
    if (created.code == ZNONODE) return created.code;
    check(created.code, "create");
    check(listed.code, "list");
    node_ = created.text;
    wait_in(std::move(listed.names));
    return ZOK;
  }

  /// A node's name as long as Curator's, which contains a uuid.
  [[nodiscard]] std::string prefix() {
    std::ostringstream name;
    name << path_ << "/_c_" << std::hex << std::setfill('0');
    for (int i = 0; i < 4; ++i) name << std::setw(8) << random_();
    name << (mode_ == Mode::shared ? "-uuid-__READ__" : "-uuid-lock-");
    return name.str();
  }

  void wait_in(Names names) {
    const std::string mine = sequence_of(node_);
    for (;;) {
      std::erase_if(names, [&](const std::string& name) {
        return sequence_of(name) >= mine ||
               (mode_ == Mode::shared && name.find("__READ__") != name.npos);
      });
      if (names.empty()) return;
      const auto nearest = std::max_element(
          names.begin(), names.end(),
          [](const auto& a, const auto& b) { return sequence_of(a) < sequence_of(b); });
      Answer watched;
      handle_->watch(path_ + "/" + *nearest, watched);
      handle_->wait(watched);
      if (watched.code != ZNONODE) {
        check(watched.code, "watch");
        handle_->until([this] { return handle_->watched_has_gone(); });
      }
      // A new contender queues behind this one, so the lock is held once the only predecessor is
      // gone.
      if (way_ == Way::pipelined && names.size() == 1) return;
      Answer listed;
      handle_->list(path_, listed);
      handle_->wait(listed);
      check(listed.code, "list");
      names = std::move(listed.names);
    }
  }

  std::shared_ptr<Handle> handle_;
  const std::string path_;
  const Way way_;
  std::minstd_rand random_{static_cast<unsigned>(::getpid())};
  Mode mode_ = Mode::alone;
  std::string node_;
  Answer removed_;
  bool removing_ = false;
};

class Client final : public Contestant {
 public:
  Client(Way way, std::string servers) : way_{way}, servers_{std::move(servers)} {}

  std::unique_ptr<Locker> locker(const Task& task, int /*index*/) override {
    // Each measurement has a new session: between measurements nobody would send its pings.
    const std::string& servers = task.work == "start" ? task.servers : servers_;
    return std::make_unique<Floor>(std::make_shared<Handle>(servers), task.path, way_);
  }

 private:
  const Way way_;
  const std::string servers_;
};

}  // namespace
}  // namespace custodian::bench

int main(int argc, char* argv[]) {
  using namespace custodian::bench;
  if (argc != 3) return 2;
  Client contestant{std::string_view{argv[1]} == "waiting" ? Way::waiting : Way::pipelined,
                    argv[2]};
  return serve(contestant);
}
