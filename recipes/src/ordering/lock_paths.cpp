#include "ordering/lock_paths.hpp"

#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "custodian/authoring/service.hpp"

namespace custodian::recipes_detail {

namespace {

using Paths = std::multiset<std::string, std::less<>>;

/// The paths of a client's locks.
class LockPaths {
 public:
  /// Adds the path, or returns the path of a lock above it.
  std::optional<std::string> add(const std::string& path) {
    const std::lock_guard lock{mutex_};
    for (std::size_t end = path.rfind('/'); end != 0; end = path.rfind('/', end - 1)) {
      const auto above = paths_.find(std::string_view{path}.substr(0, end));
      if (above != paths_.end()) return *above;
    }
    paths_.insert(path);
    return std::nullopt;
  }
  void remove(std::string_view path) {
    const std::lock_guard lock{mutex_};
    paths_.erase(paths_.find(path));
  }

 private:
  std::mutex mutex_;
  Paths paths_;
};

class LockPathsService final : public Service {
 public:
  explicit LockPathsService(const boost::asio::any_io_executor& /*strand*/) {}
  [[nodiscard]] const std::shared_ptr<LockPaths>& paths() const noexcept { return paths_; }

 private:
  const std::shared_ptr<LockPaths> paths_ = std::make_shared<LockPaths>();
};

}  // namespace

class LockPlace {
 public:
  LockPlace(Client client, std::shared_ptr<LockPaths> paths, std::string path)
      : client_{std::move(client)}, paths_{std::move(paths)}, path_{std::move(path)} {}
  LockPlace(const LockPlace&) = delete;
  LockPlace& operator=(const LockPlace&) = delete;
  ~LockPlace() {
    // In the child of a fork mutexes may be locked for ever.
    if (client_.unusable() != Errc::forked) paths_->remove(path_);
  }

 private:
  const Client client_;
  const std::shared_ptr<LockPaths> paths_;
  const std::string path_;
};

std::string_view objection_to_path(std::string_view path) noexcept {
  if (path == "/") {
    return "the root is everybody's: a lock has a node of its own, as /locks/printer";
  }
  if (path == "/zookeeper" || path.starts_with("/zookeeper/")) {
    return "ZooKeeper keeps its own nodes at /zookeeper; put the lock elsewhere";
  }
  return {};
}

LockPlacePtr take_place(const Client& client, std::string_view lock, const std::string& path) {
  if (const std::string_view objection = objection_to_path(path); !objection.empty()) {
    throw Error{Errc::invalid_argument, lock, path, objection};
  }
  if (client.unusable() == Errc::forked) return nullptr;
  const auto paths = client.share().use_service<LockPathsService>().paths();
  if (const auto above = paths->add(path)) {
    throw Error{Errc::invalid_argument, lock, path,
                "this client has a lock at " + *above +
                    ", whose children are its contenders; put this one beside it"};
  }
  return std::make_shared<const LockPlace>(client.share(), paths, path);
}

}  // namespace custodian::recipes_detail
