#include "custodian/locks/striped_mutex.hpp"

#include <algorithm>
#include <boost/crc.hpp>
#include <utility>
#include <vector>

#include "async/block_in_time.hpp"
#include "custodian/authoring/argument_checks.hpp"
#include "custodian/authoring/path.hpp"
#include "custodian/ensembles/ensemble_map.hpp"
#include "kept/kept_locks.hpp"
#include "locks/stripes.hpp"
#include "locks/stripes_at_homes.hpp"

namespace custodian {

std::size_t stripe_of(std::string_view key, std::size_t stripes) {
  if (stripes == 0) {
    throw Error{Errc::invalid_argument, "stripe_of", {}, "stripes: a key belongs to one of some"};
  }
  boost::crc_32_type crc;
  crc.process_bytes(key.data(), key.size());
  return crc.checksum() % stripes;
}

namespace recipes_detail {

namespace {

/// Makes the stripes; `client_of` gives the client of a stripe's path.
template <typename ClientOf>
StripesPtr make_stripes(const Client& client, const std::string& path, std::size_t stripes,
                        const LockOptions& options, const ClientOf& client_of) {
  check_path(client.core(), "StripedMutex", path);
  if (stripes == 0 || stripes > StripedMutex::most_stripes) {
    throw Error{Errc::invalid_argument, "StripedMutex", path,
                "stripes: between 1 and " + std::to_string(StripedMutex::most_stripes) + ", not " +
                    std::to_string(stripes)};
  }
  Stripes all{.path = path, .specs = {}};
  for (std::size_t i = 0; i < stripes; ++i) {
    const std::string own = join(path, std::to_string(i));
    const Client& home = client_of(own);
    all.specs.push_back(make_kept_lock_spec(home, "StripedMutex", mutex_rule,
                                            ContenderKind::exclusive, own, options,
                                            ObservedAs{"StripedMutex", path}));
  }
  all.homes = divided_by_home(all);
  return std::make_shared<const Stripes>(std::move(all));
}

}  // namespace

void start_acquire_any(CorePtr, CancellationPtr cancellation, StripesPtr stripes, WaitLimit limit,
                       AcquireOptions options, Handler<StripeLease> handler) {
  const auto begin = stripes->homes.empty() ? start_acquire_any_within : start_acquire_any_at_homes;
  begin(stripes, std::move(cancellation), limit.from_now(), std::move(options), std::move(handler));
}

}  // namespace recipes_detail

StripedMutex::StripedMutex(const Client& client, const std::string& path, std::size_t stripes,
                           const LockOptions& options)
    : core_{client.core()},
      stripes_{recipes_detail::make_stripes(
          client, path, stripes, options,
          [&](const std::string&) -> const Client& { return client; })} {
  make_mutexes(options);
}

StripedMutex::StripedMutex(const EnsembleMap& map, const std::string& path, std::size_t stripes,
                           const LockOptions& options)
    : stripes_{recipes_detail::make_stripes(
          map.client_for(path), path, stripes, options,
          [&](const std::string& stripe) { return map.client_for(stripe); })} {
  core_ = stripes_->specs.front()->client.core();
  make_mutexes(options);
}

void StripedMutex::make_mutexes(const LockOptions& options) {
  for (const auto& spec : stripes_->specs) {
    mutexes_.emplace_back(spec->client, spec->path, options);
  }
}

StripedMutex::StripedMutex(StripedMutex&&) noexcept = default;

StripedMutex& StripedMutex::operator=(StripedMutex&&) noexcept = default;

StripedMutex::~StripedMutex() = default;

const std::string& StripedMutex::path() const noexcept { return stripes_->path; }

std::size_t StripedMutex::stripe_of(std::string_view key) const {
  return custodian::stripe_of(key, size());
}

InterProcessMutex& StripedMutex::stripe(std::size_t index) {
  if (index < size()) return mutexes_[index];
  throw Error{Errc::invalid_argument, "stripe", path(),
              "index: there are " + std::to_string(size()) + ", from 0 on, and no " +
                  std::to_string(index)};
}

StripeLease StripedMutex::acquire_any(AcquireOptions options, std::stop_token stop) {
  const auto held = [](const InterProcessMutex& mutex) { return mutex.hold_count() > 0; };
  if (std::ranges::all_of(mutexes_, held)) {
    throw Error{make_error_code(boost::system::errc::resource_deadlock_would_occur), "acquire_any",
                path(), "this thread holds all the stripes itself"};
  }
  return acquire_within("acquire_any", {}, std::move(options), std::move(stop));
}

StripeLease StripedMutex::try_acquire_any(AcquireOptions options) {
  return acquire_within("try_acquire_any", {.try_once = true}, std::move(options), {});
}

StripeLease StripedMutex::try_acquire_any_until(Deadline deadline, AcquireOptions options,
                                                std::stop_token stop) {
  return acquire_within("try_acquire_any_until", {.deadline = deadline}, std::move(options),
                        std::move(stop));
}

StripeLease StripedMutex::acquire_within(std::string_view operation, const WaitLimit& limit,
                                         AcquireOptions options, std::stop_token stop) const {
  // On a thread of any of the clients, the call would wait for itself.
  for (const auto& home : stripes_->homes) {
    detail::require_may_block(*home->specs.front()->client.core(), operation, path());
  }
  return recipes_detail::block_in_time<&recipes_detail::start_acquire_any, StripeLease>(
      stripes_->specs.front()->client, operation, path(), stripes_, limit, std::move(options),
      std::move(stop));
}

}  // namespace custodian
