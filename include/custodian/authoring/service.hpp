#pragma once

/// \file
/// State that a recipe shares among all its objects on one client: see `Client::use_service`.

#include "custodian/export.hpp"

namespace custodian {

/// Derive from it, and be constructible from a `boost::asio::any_io_executor`, the client's strand.
///
/// Threads: constructed on whichever thread asks first; the virtual functions are called on the
/// strand. Lifetimes: destroyed after shutdown(), when the client's last reference goes.
class CUSTODIAN_EXPORT Service {
 public:
  Service() = default;
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  virtual ~Service() = default;

  /// The client drains: no new work is to be begun, and what only waits is to end with
  /// `Errc::closed`. Called once, before shutdown().
  virtual void begin_shutdown() {}
  /// The client is closed. Called once; nothing may be left that refers to the client.
  virtual void shutdown() {}
};

}  // namespace custodian
