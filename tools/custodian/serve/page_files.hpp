#pragma once

/// \file
/// PageFiles are the files of the page (serve/page), compiled in.

#include <string_view>
#include <vector>

namespace custodian::cli {

struct PageFile {
  std::string_view name{};  ///< "index.html"
  std::string_view content{};
};

/// All files; made by embed.cmake.
[[nodiscard]] const std::vector<PageFile>& page_files();

/// The file of this name; null if there is none.
[[nodiscard]] const PageFile* find_page_file(std::string_view name);

/// The media type of a file, by its name.
[[nodiscard]] std::string_view type_of(std::string_view name);

}  // namespace custodian::cli
