#pragma once

/// \file
/// Placeholder is the address to which the C client "connects" before it is given an established
/// connection: a port of 127.0.0.1 that this process holds without listening. So no other process
/// can listen there, and no byte of a session goes astray.

#include <string>

namespace custodian::detail {

class Placeholder {
 public:
  /// The placeholder of this process, which keeps it for ever. Throws Error if the machine has no
  /// port for it.
  [[nodiscard]] static const Placeholder& of_this_process();

  /// "127.0.0.1:port".
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  Placeholder();

  std::string text_;
};

}  // namespace custodian::detail
