#pragma once

/// \file
/// Screen draws a text repeatedly at the same place.

#include <cstddef>
#include <string>
#include <vector>

namespace custodian::cli {

/// A size in lines and columns.
struct ScreenSize {
  std::size_t lines = 24;
  std::size_t columns = 80;
};

/// The standard output, if it is a terminal: each picture replaces the previous one, and the last
/// one stays. Neither the cursor nor the terminal's modes are changed, so nothing has to be
/// restored, however the process ends.
///
/// Threads: one.
class Screen {
 public:
  [[nodiscard]] static bool is_terminal() noexcept;

  /// Draws lines of printable text. Lines that are too long are cut; excess lines are omitted.
  void draw(const std::vector<std::string>& lines);
  /// To be called after the terminal's size has changed. The next picture begins on an empty
  /// screen, since the place of the old one is unknown.
  void forget_picture() noexcept { is_known_ = false; }

 private:
  std::size_t drawn_ = 0;
  bool is_known_ = true;
};

/// The output of draw(): the text and the terminal's control sequences. `drawn` is the number of
/// lines of the last picture, and becomes that of this one. Pure.
[[nodiscard]] std::string frame(const std::vector<std::string>& lines, ScreenSize size,
                                std::size_t& drawn);

}  // namespace custodian::cli
