#include "buffer_commands.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "custodian/conditions/inter_process_condition.hpp"
#include "custodian/locks/inter_process_mutex.hpp"

namespace custodian::tests {
namespace {

/// One side of the buffer: waits at one condition, and signals at the other.
class Side {
 public:
  Side(const Client& client, const BufferPaths& paths, const std::string& waits_at,
       const std::string& signals_at)
      : client_{client.share()},
        paths_{paths},
        mutex_{client, paths.lock()},
        waits_at_{mutex_, waits_at},
        signals_at_{mutex_, signals_at} {}

  /// Waits until `may_go_on(items)` is true, commits the transaction of `change(items)`, and
  /// signals. Begins again if the lock is lost, or if the outcome of the change is unknown: the
  /// next read of the nodes shows the outcome.
  template <typename MayGoOn, typename Change>
  void act(MayGoOn may_go_on, Change change) {
    for (;;) {
      try {
        Lease lease = mutex_.acquire();
        GetResult items = client_.get(paths_.items());
        while (!may_go_on(items.data)) {
          waits_at_.wait(lease);
          items = client_.get(paths_.items());
        }
        Transaction transaction = change(items);
        transaction.insert(transaction.begin(), lease.check());
        client_.commit(transaction);
        signals_at_.signal(lease);
        return;
      } catch (const Error& error) {
        const bool begins_again = error.code() == Errc::lock_lost ||
                                  error.code() == ServerErrc::no_node ||
                                  error.code() == ServerErrc::bad_version ||
                                  error.code() == ErrorCondition::outcome_unknown ||
                                  error.code() == ErrorCondition::session_over ||
                                  error.code() == ErrorCondition::retryable;
        if (!begins_again) throw;
      }
    }
  }

  /// A transaction that raises the number in a node.
  TransactionOperation raise(const std::string& path, int expected) {
    const GetResult now = client_.get(path);
    if (std::stoi(now.data) != expected) {
      throw std::runtime_error{path + " is " + now.data + ", not " + std::to_string(expected)};
    }
    return set(path, std::to_string(expected + 1), now.stat.version);
  }
  [[nodiscard]] int number(const std::string& path) const {
    return std::stoi(client_.get(path).data);
  }

 private:
  Client client_;
  const BufferPaths paths_;
  InterProcessMutex mutex_;
  InterProcessCondition waits_at_;
  InterProcessCondition signals_at_;
};

[[noreturn]] void produce(const Client& client, const BufferPaths& paths, int producer) {
  Side side{client, paths, paths.has_room(), paths.has_items()};
  const auto has_room = [](const std::string& items) {
    return static_cast<std::size_t>(std::ranges::count(items, '\n')) < room_of_buffer;
  };
  for (;;) {
    side.act(has_room, [&](const GetResult& items) {
      const int next = side.number(paths.put(producer));
      const std::string item = std::to_string(producer) + " " + std::to_string(next) + "\n";
      return Transaction{set(paths.items(), items.data + item, items.stat.version),
                         side.raise(paths.put(producer), next)};
    });
  }
}

[[noreturn]] void consume(const Client& client, const BufferPaths& paths) {
  Side side{client, paths, paths.has_items(), paths.has_room()};
  const auto has_items = [](const std::string& items) { return !items.empty(); };
  for (;;) {
    side.act(has_items, [&](const GetResult& items) {
      const std::size_t end = items.data.find('\n');
      const std::string item = items.data.substr(0, end);
      const std::size_t blank = item.find(' ');
      const int producer = std::stoi(item.substr(0, blank));
      // The items of a producer come in order: any other number means that an item was lost, or
      // came twice.
      return Transaction{set(paths.items(), items.data.substr(end + 1), items.stat.version),
                         side.raise(paths.taken(producer), std::stoi(item.substr(blank + 1)))};
    });
  }
}

}  // namespace

void use_buffer(const Client& client, const std::string& what, std::istream& words) {
  BufferPaths paths;
  int producer = 0;
  words >> paths.base >> producer;
  if (what == "produce") produce(client, paths, producer);
  consume(client, paths);
}

}  // namespace custodian::tests
