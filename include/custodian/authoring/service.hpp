#pragma once

/// \file
/// A service is state that a recipe shares among all its objects on one client: see
/// `Client::use_service`.

#include "custodian/export.hpp"

namespace custodian {

/// The base class of services. A derived class must be constructible from a
/// `boost::asio::any_io_executor`, the client's strand.
///
/// Threads: constructed on the first thread that asks for it; the virtual functions are called on
/// the strand. Lifetimes: destroyed after shutdown(), with the last reference to the client.
class CUSTODIAN_EXPORT Service {
 public:
  Service() = default;
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  virtual ~Service() = default;

  /// Called once, when the client begins to close, before shutdown(). The service must begin no new
  /// work, and end all work that only waits, with `Errc::closed`.
  virtual void begin_shutdown() {}
  /// Called once, when the client is closed. Afterwards nothing may be left that refers to the
  /// client.
  virtual void shutdown() {}
};

}  // namespace custodian
