#include "addition_commands.hpp"

#include "custodian/atomics/distributed_atomic_integer.hpp"
#include "custodian/atomics/distributed_atomic_long.hpp"

namespace custodian::tests {

void add(const Client& client, std::istream& words) {
  std::string width;
  std::string path;
  int times = 0;
  words >> width >> path >> times;
  const UpdateOptions options{.settle = Settle::exactly_once};
  DistributedAtomicLong wide{client, path, options};
  DistributedAtomicInteger narrow{client, path, options};
  for (int i = 0; i < times; ++i) {
    if (width == "long") {
      ++wide;
    } else {
      ++narrow;
    }
  }
}

std::string tally(const Client& client, std::istream& words) {
  std::string settle;
  std::string path;
  int times = 0;
  words >> settle >> path >> times;
  DistributedAtomicLong number{
      client,
      path,
      {.settle = settle == "settled" ? Settle::exactly_once : Settle::left_to_caller}};
  int certain = 0;
  int unknown = 0;
  for (int i = 0; i < times; ++i) {
    try {
      ++number;
      ++certain;
    } catch (const Error& error) {
      if (error.code() != ErrorCondition::outcome_unknown) throw;
      ++unknown;
    }
  }
  return std::to_string(certain) + " " + std::to_string(unknown);
}

}  // namespace custodian::tests
