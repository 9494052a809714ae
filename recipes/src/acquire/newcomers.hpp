#pragma once

/// \file
/// Newcomers notifies a client's kept locks of every contender that the client itself is about to
/// send to the same path. Otherwise such a contender might find an idle node of a kept lock in
/// front, and wait for its own client. Used on the strand only.

#include <boost/asio/any_io_executor.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "custodian/authoring/service.hpp"
#include "ordering/lock_spec.hpp"

namespace custodian::recipes_detail {

/// An object that keeps a lock's node while the lock has no holder.
class NewcomerListener {
 public:
  NewcomerListener() = default;
  NewcomerListener(const NewcomerListener&) = delete;
  NewcomerListener& operator=(const NewcomerListener&) = delete;
  virtual ~NewcomerListener() = default;

  /// Called before a contender of this client is sent to the path. A node that the listener deletes
  /// now is deleted before the contender's node is created.
  virtual void on_newcomer(ContenderKind kind) = 0;
};

/// One for each client.
class Newcomers final : public Service {
 public:
  explicit Newcomers(const boost::asio::any_io_executor& /*strand*/) {}

  /// Adds a listener, which is notified of newcomers at this path for as long as it lives.
  void add(const std::string& path, std::weak_ptr<NewcomerListener> listener);
  /// Notifies all listeners of the lock's path but `except`, which may be null.
  static void tell(const LockSpec& spec, const NewcomerListener* except);

 private:
  using Listeners = std::vector<std::weak_ptr<NewcomerListener>>;

  std::map<std::string, Listeners> listeners_;
  std::size_t forget_at_ = 16;
};

}  // namespace custodian::recipes_detail
