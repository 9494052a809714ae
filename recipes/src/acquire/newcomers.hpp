#pragma once

/// \file
/// Newcomers tells those of a client that keep a lock without a holder of every contender that the
/// client itself is about to send to the same path. Such a contender would find the idle node in
/// front, and wait for its own client. For the strand only.

#include <boost/asio/any_io_executor.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "custodian/authoring/service.hpp"
#include "ordering/lock_spec.hpp"

namespace custodian::recipes_detail {

/// *NewcomerListener* is an object that keeps a lock's node.
class NewcomerListener {
 public:
  NewcomerListener() = default;
  NewcomerListener(const NewcomerListener&) = delete;
  NewcomerListener& operator=(const NewcomerListener&) = delete;
  virtual ~NewcomerListener() = default;

  /// A contender of this client is about to be sent to the path. What the listener deletes now is
  /// deleted first.
  virtual void on_newcomer() = 0;
};

/// One for each client.
class Newcomers final : public Service {
 public:
  explicit Newcomers(const boost::asio::any_io_executor& /*strand*/) {}

  /// The listener hears of newcomers at this path for as long as it lives.
  void add(const std::string& path, std::weak_ptr<NewcomerListener> listener);
  /// Tells all listeners of the lock's path but one.
  static void tell(const LockSpec& spec, const NewcomerListener* except);

 private:
  using Listeners = std::vector<std::weak_ptr<NewcomerListener>>;

  std::map<std::string, Listeners> listeners_;
  std::size_t forget_at_ = 16;
};

}  // namespace custodian::recipes_detail
