#include "serve/page_files.hpp"

#include <algorithm>

namespace custodian::cli {

const PageFile* find_page_file(std::string_view name) {
  const auto found = std::ranges::find(page_files(), name, &PageFile::name);
  return found == page_files().end() ? nullptr : &*found;
}

std::string_view type_of(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return "application/octet-stream";
}

}  // namespace custodian::cli
