#include "session/address.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace custodian::detail {
namespace {

bool is_in(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

void add_missing(std::vector<std::string>& names, const std::vector<std::string>& others) {
  std::ranges::copy_if(others, std::back_inserter(names),
                       [&](const std::string& name) { return !is_in(names, name); });
}

}  // namespace

std::vector<Address> merged(const std::vector<Address>& addresses) {
  std::map<boost::asio::ip::tcp::endpoint, std::vector<std::string>> names;
  for (const Address& each : addresses) add_missing(names[each.endpoint], each.names);
  std::vector<Address> once;
  once.reserve(names.size());
  for (auto& [endpoint, its_names] : names) once.push_back({endpoint, std::move(its_names)});
  return once;
}

std::vector<Address> with_unresolved(std::vector<Address> found, const std::vector<Address>& known,
                                     const std::vector<std::string>& unresolved) {
  for (const Address& before : known) {
    const auto place = std::ranges::lower_bound(found, before.endpoint, {}, &Address::endpoint);
    const bool is_found = place != found.end() && place->endpoint == before.endpoint;
    Address kept{before.endpoint};
    bool is_needed = false;
    for (const std::string& name : before.names) {
      const bool is_unresolved = is_in(unresolved, name);
      is_needed = is_needed || is_unresolved;
      // The names keep their order.
      if (is_unresolved || (is_found && is_in(place->names, name))) kept.names.push_back(name);
    }
    if (!is_needed) continue;
    if (is_found) {
      add_missing(kept.names, place->names);
      *place = std::move(kept);
    } else {
      found.insert(place, std::move(kept));
    }
  }
  return found;
}

std::string to_text(const boost::asio::ip::tcp::endpoint& endpoint) {
  const std::string host = endpoint.address().to_string();
  const std::string port = std::to_string(endpoint.port());
  return endpoint.address().is_v6() ? "[" + host + "]:" + port : host + ":" + port;
}

}  // namespace custodian::detail
