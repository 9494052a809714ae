#pragma once

/// \file
/// OwnedSocket closes a socket's descriptor.

#include <unistd.h>

#include <utility>

namespace custodian::detail {

/// A socket's descriptor, which is closed with this object.
class OwnedSocket {
 public:
  OwnedSocket() = default;
  explicit OwnedSocket(int descriptor) noexcept : descriptor_{descriptor} {}
  OwnedSocket(OwnedSocket&& other) noexcept : descriptor_{other.release()} {}
  OwnedSocket& operator=(OwnedSocket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~OwnedSocket() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  [[nodiscard]] int get() const noexcept { return descriptor_; }
  /// Returns the descriptor, which the caller closes from now on.
  [[nodiscard]] int release() noexcept { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_ = -1;
};

}  // namespace custodian::detail
