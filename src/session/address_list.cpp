#include "session/address_list.hpp"

#include <vector>

namespace custodian::detail {

std::string with_odd_length(std::string_view addresses, std::size_t repeated) {
  std::vector<std::string_view> each;
  for (std::string_view rest = addresses; !rest.empty();) {
    const std::size_t comma = rest.find(',');
    each.push_back(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
  }
  std::string list{addresses};
  if (each.empty() || each.size() % 2 != 0) return list;
  return list.append(",").append(each[repeated % each.size()]);
}

}  // namespace custodian::detail
