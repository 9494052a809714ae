#pragma once

/// \file
/// Display shows the progress of the demo: on a terminal two lines that change in place, elsewhere
/// a line from time to time.

#include <chrono>
#include <cstddef>
#include <string>

namespace custodian::demo {

class Display {
 public:
  Display();

  struct Picture {
    std::string holder{};  ///< empty if nobody holds the lock
    std::size_t waiting = 0;
    long done = 0;
    long planned = 0;
  };
  void show(const Picture& picture);
  /// Prints a line that stays.
  void tell(const std::string& message);
  /// Ends the drawing, and leaves the present lines as they are.
  void finish();

  /// Returns whether to use colours: on a terminal that has them, without NO_COLOR
  /// (https://no-color.org).
  [[nodiscard]] bool colours() const noexcept { return colours_; }

 private:
  void erase();
  void draw();

  bool in_place_;
  bool colours_;
  bool drawn_ = false;
  std::string lines_[2];
  std::chrono::steady_clock::time_point next_plain_line_{};
};

}  // namespace custodian::demo
