#pragma once

/// \file
/// WatchedService follows the nodes of a service, and chooses among its instances. A
/// ServiceProvider and its waits share it.

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/authoring/event.hpp"
#include "custodian/client.hpp"
#include "custodian/discovery/provider_options.hpp"
#include "custodian/mirror/path_children_cache.hpp"
#include "down_instances.hpp"
#include "instance_choice.hpp"
#include "known_instances.hpp"

namespace custodian::discovery_detail {

class WatchedService : public std::enable_shared_from_this<WatchedService> {
 public:
  /// The service is not followed until follow() is called.
  WatchedService(const Client& client, std::string path, ServiceProviderOptions options);

  // -- Any thread ---------------------------------------------------------------------------------

  void follow();
  /// Ends what follow() has begun, and all waits.
  void close();
  [[nodiscard]] const Client& client() const noexcept { return client_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] InstancePtr get();
  [[nodiscard]] InstancePtr get_for(std::string_view key);
  /// The available instances.
  [[nodiscard]] std::vector<InstancePtr> available();
  void note_error(std::string_view id);
  [[nodiscard]] MirrorState state() const;
  [[nodiscard]] std::vector<std::string> malformed() const;
  /// Why the service is not followed any more; no error while it is followed.
  [[nodiscard]] error_code ended() const;

  // -- The strand only ----------------------------------------------------------------------------

  /// Waits for a change of what the functions above return.
  [[nodiscard]] boost::asio::awaitable<void> wait_for_change(Deadline until,
                                                             CancellationPtr cancellation);

 private:
  void ask_next();
  void take(const MirrorChange& change);
  void note(const std::string& node, std::string_view data, MirrorAccess access);
  void remove(const std::string& node);
  void end(error_code why);
  [[nodiscard]] std::vector<InstancePtr> available_now(DownInstances::Time now);

  const Client client_;
  const std::string path_;
  const std::vector<InstanceFilter> filters_;
  const CancellationPtr over_;  ///< wakes the waits at the end
  AsyncEvent changes_;          ///< the strand only

  mutable std::mutex mutex_;  ///< guards what follows
  std::optional<PathChildrenCache> cache_;
  bool is_loaded_ = false;  ///< whether all nodes of the first walk were taken
  KnownInstances known_;
  DownInstances down_;
  InstanceChoice choice_;
  error_code ended_;
};

}  // namespace custodian::discovery_detail
