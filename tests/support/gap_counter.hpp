#pragma once

/// \file
/// GapCounter watches a path, and counts how often there is no node at it.

#include <atomic>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "custodian/client.hpp"
#include "support/acquired.hpp"
#include "support/test_client.hpp"

namespace custodian::tests {

class GapCounter {
 public:
  /// Begins to watch. The client must outlive the object.
  GapCounter(Client& client, std::string path)
      : thread_{[this, &client, path = std::move(path)](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            auto [stat, watch] = client.exists_and_watch(path);
            ++looks_;
            if (!stat) ++gaps_;
            static_cast<void>(error_of([&] { watch.wait(stop); }));
          }
        }} {}
  [[nodiscard]] int looks() const { return looks_; }
  [[nodiscard]] int gaps() const { return gaps_; }

 private:
  std::atomic<int> looks_ = 0;
  std::atomic<int> gaps_ = 0;
  std::jthread thread_;
};

}  // namespace custodian::tests
