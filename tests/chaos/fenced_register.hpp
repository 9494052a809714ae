#pragma once

/// \file
/// FencedRegister is a resource outside of ZooKeeper that locks protect. It refuses a write whose
/// token is smaller than the largest token that it has seen for that lock.
///
/// Protocol, over TCP: a line "<lock> <token>", the token as parse_token() reads it, is answered by
/// a line "landed" or "refused".
///
/// Threads: the register has a thread of its own. The destructor closes all connections.

#include <cstdint>
#include <memory>

namespace custodian::chaos {

class FencedRegister {
 public:
  /// Listens on the loopback interface. Throws boost::system::system_error.
  FencedRegister();
  ~FencedRegister();
  FencedRegister(const FencedRegister&) = delete;
  FencedRegister& operator=(const FencedRegister&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace custodian::chaos
