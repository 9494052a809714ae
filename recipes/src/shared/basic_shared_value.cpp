#include "custodian/shared/basic_shared_value.hpp"

#include <utility>

#include "shared/shared_node.hpp"
#include "shared/value_listener.hpp"

namespace custodian {

using recipes_detail::bytes_for;
using recipes_detail::ExpectedVersion;
using recipes_detail::SharedNode;

template <typename T>
BasicSharedValue<T>::BasicSharedValue(const Client& client, std::string_view recipe,
                                      std::string path, const T& seed)
    : core_{client.core()} {
  check_path(core_, recipe, path);
  auto node = std::make_shared<SharedNode>(
      SharedNode{.client = client.share(), .path = std::move(path), .seed = {}});
  node->seed = bytes_for(node, seed);
  check_create(core_, node->path, node->seed, {});
  node_ = std::move(node);
}

template <typename T>
const std::string& BasicSharedValue<T>::path() const noexcept {
  return node_->path;
}

template <typename T>
Versioned<T> BasicSharedValue<T>::load(OperationOptions options) const {
  return block_in_time_or_throw<&recipes_detail::start_load<T>, Versioned<T>>(
      core_, "load", path(), {}, {options.deadline}, node_, options);
}

template <typename T>
void BasicSharedValue<T>::store(const T& desired, OperationOptions options) {
  block_in_time_or_throw<&recipes_detail::start_store>(
      core_, "store", path(), {}, {options.deadline, Errc::deadline_exceeded_outcome_unknown},
      node_, bytes_for(node_, desired), options);
}

template <typename T>
bool BasicSharedValue<T>::compare_exchange(Versioned<T>& expected, const T& desired,
                                           OperationOptions options) {
  auto [written, now] =
      block_in_time_or_throw<&recipes_detail::start_compare_exchange<T>, bool, Versioned<T>>(
          core_, "compare_exchange", path(), {},
          {options.deadline, Errc::deadline_exceeded_outcome_unknown}, node_,
          ExpectedVersion{expected.version, expected.mzxid}, bytes_for(node_, desired), options);
  expected = std::move(now);
  return written;
}

template <typename T>
Versioned<T> BasicSharedValue<T>::wait(const Versioned<T>& known, std::stop_token stop) const {
  return block_or_throw<&recipes_detail::start_wait_newer<T>, Versioned<T>>(
      core_, "wait", path(), std::move(stop), node_, known.mzxid);
}

template <typename T>
Subscription BasicSharedValue<T>::on_change(Listener listener) const {
  return recipes_detail::listen<T>(node_, std::move(listener));
}

template <typename T>
std::optional<Versioned<T>> BasicSharedValue<T>::last_known() const {
  // In a forked child the mutex may be locked for ever.
  if (node_->client.unusable() == Errc::forked) return std::nullopt;
  return recipes_detail::last_known<T>(*node_);
}

template class BasicSharedValue<std::string>;
template class BasicSharedValue<std::int32_t>;

}  // namespace custodian
