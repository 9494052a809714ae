#pragma once

/// \file
/// Screen draws a text again and again in its place.

#include <cstddef>
#include <string>
#include <vector>

namespace custodian::cli {

/// Lines and columns.
struct ScreenSize {
  std::size_t lines = 24;
  std::size_t columns = 80;
};

/// The standard output, if it is a terminal: each picture takes the place of the one before, and
/// the last one stays. Neither the cursor nor the terminal's modes are touched, so nothing need be
/// restored, however it ends.
///
/// Threads: one.
class Screen {
 public:
  [[nodiscard]] static bool is_terminal() noexcept;

  /// Lines of printable text. Those that are too long, or too many, are cut.
  void draw(const std::vector<std::string>& lines);
  /// The terminal has another size now: the next picture begins on an empty screen, since the place
  /// of the old one is unknown.
  void forget_picture() noexcept { is_known_ = false; }

 private:
  std::size_t drawn_ = 0;
  bool is_known_ = true;
};

/// What draw() writes: the text and the commands to the terminal. Pure. `drawn` is the number of
/// lines of the last picture, and then that of this one.
[[nodiscard]] std::string frame(const std::vector<std::string>& lines, ScreenSize size,
                                std::size_t& drawn);

}  // namespace custodian::cli
