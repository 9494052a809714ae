#include "custodian/ensembles/ensemble_map.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "custodian/authoring/argument_checks.hpp"
#include "ensembles/home_choice.hpp"
#include "ensembles/map_check.hpp"

namespace custodian {

namespace recipes_detail {

struct EnsembleHomes {
  EnsembleLayout layout;
  std::string text;
  std::string fingerprint;
  HomeChoice choice;
  /// The clients, in the order of their ensembles' names. The handles own the clients if the map
  /// does.
  std::map<std::string, Client, std::less<>> clients;

  /// One of the clients, for questions that all of them answer alike.
  [[nodiscard]] const Client& any() const { return clients.begin()->second; }
};

namespace {

[[noreturn]] void refuse_map(const std::string& detail) {
  throw Error{Errc::invalid_argument, "EnsembleMap", {}, detail};
}

/// Throws if a name is only in the layout, or only among the clients.
template <typename ByName>
void check_names(const EnsembleLayout& layout, const ByName& clients) {
  layout.check();
  for (const auto& [name, weight] : layout.ensembles) {
    if (!clients.contains(name)) refuse_map("clients: the ensemble " + name + " has none");
  }
  for (const auto& [name, client] : clients) {
    if (!layout.ensembles.contains(name)) {
      refuse_map("clients: the layout has no ensemble " + name);
    }
  }
}

std::unique_ptr<const EnsembleHomes> make_homes(
    EnsembleLayout layout, std::map<std::string, Client, std::less<>> clients) {
  const CorePtr& core = clients.begin()->second.core();
  for (const auto& [path, name] : layout.pins) check_path(core, "EnsembleMap", path);
  HomeChoice choice{layout};
  std::string text = layout.text();
  std::string fingerprint = layout.fingerprint();
  return std::make_unique<const EnsembleHomes>(EnsembleHomes{.layout = std::move(layout),
                                                             .text = std::move(text),
                                                             .fingerprint = std::move(fingerprint),
                                                             .choice = std::move(choice),
                                                             .clients = std::move(clients)});
}

std::unique_ptr<const EnsembleHomes> homes_of(EnsembleLayout layout,
                                              const EnsembleMap::Clients& clients) {
  check_names(layout, clients);
  std::map<std::string, Client, std::less<>> handles;
  for (const auto& [name, client] : clients) {
    // With one client for two names, the paths of two ensembles would be on one.
    const auto twice = std::ranges::find_if(
        handles, [&](const auto& each) { return each.second.core() == client.get().core(); });
    if (twice != handles.end()) {
      refuse_map("clients: " + twice->first + " and " + name + " have the same client");
    }
    handles.emplace(name, client.get().share());
  }
  return make_homes(std::move(layout), std::move(handles));
}

std::unique_ptr<const EnsembleHomes> homes_of(EnsembleLayout layout,
                                              const std::map<std::string, ClientOptions>& options) {
  check_names(layout, options);
  std::map<std::string, Client, std::less<>> clients;
  for (const auto& [name, each] : options) clients.emplace(name, Client{each});
  return make_homes(std::move(layout), std::move(clients));
}

}  // namespace

CorePtr core_of_check(const MapCheckPtr& check) { return check->home().core(); }

void start_verify_map(CorePtr, CancellationPtr cancellation, MapCheckPtr check,
                      OperationOptions options, Handler<MapVerdict> handler) {
  start_map_check(check, std::move(cancellation), options, std::move(handler));
}

}  // namespace recipes_detail

std::string MapVerdict::explain() const {
  if (ensemble.empty()) return {};
  if (theirs.empty()) return "at the ensemble " + ensemble;
  return ensemble + " has the layout " + theirs + ", and this process " + ours;
}

EnsembleMap::EnsembleMap(EnsembleLayout layout, const Clients& clients)
    : homes_{recipes_detail::homes_of(std::move(layout), clients)} {}

EnsembleMap::EnsembleMap(EnsembleLayout layout, const std::map<std::string, ClientOptions>& options)
    : homes_{recipes_detail::homes_of(std::move(layout), options)} {}

EnsembleMap::EnsembleMap(EnsembleMap&&) noexcept = default;

EnsembleMap& EnsembleMap::operator=(EnsembleMap&&) noexcept = default;

EnsembleMap::~EnsembleMap() = default;

const EnsembleLayout& EnsembleMap::layout() const noexcept { return homes_->layout; }

const std::string& EnsembleMap::fingerprint() const noexcept { return homes_->fingerprint; }

const std::string& EnsembleMap::home_of(std::string_view path) const {
  check_path(homes_->any().core(), "home_of", path);
  return homes_->choice.home_of(path);
}

Client EnsembleMap::client_for(std::string_view path) const {
  return homes_->clients.find(home_of(path))->second.share();
}

Client EnsembleMap::client(std::string_view ensemble) const {
  const auto found = homes_->clients.find(ensemble);
  if (found != homes_->clients.end()) return found->second.share();
  throw Error{Errc::invalid_argument,
              "EnsembleMap::client",
              {},
              "ensemble: the layout has none of this name"};
}

recipes_detail::MapCheckPtr EnsembleMap::check_at(const std::string& path) const {
  std::vector<recipes_detail::AskedEnsemble> asked;
  for (const auto& [name, client] : homes_->clients) {
    check_create(client.core(), path, homes_->text, {});
    asked.push_back({name, client.share()});
  }
  return std::make_shared<const recipes_detail::MapCheck>(
      recipes_detail::MapCheck{.ensembles = std::move(asked),
                               .path = path,
                               .layout = homes_->layout,
                               .text = homes_->text,
                               .fingerprint = homes_->fingerprint});
}

void EnsembleMap::verify(const std::string& path, OperationOptions options) const {
  recipes_detail::MapCheckPtr check = check_at(path);
  const CorePtr core = recipes_detail::core_of_check(check);
  // On a thread of any of the clients, the call would wait for itself.
  for (const auto& each : check->ensembles) {
    detail::require_may_block(*each.client.core(), "verify", path);
  }
  const auto [error, verdict] = block_in_time<&recipes_detail::start_verify_map, MapVerdict>(
      core, "verify", path, {}, {options.deadline, Errc::deadline_exceeded_outcome_unknown}, check,
      options);
  if (!error) return;
  // Without a connection, the text of the error names the ensemble's servers, but not the ensemble.
  const bool found_nobody = error == Errc::not_connected || error == Errc::deadline_exceeded;
  const auto at =
      verdict.ensemble.empty() ? homes_->clients.begin() : homes_->clients.find(verdict.ensemble);
  throw_if(*at->second.core(), error, "verify", path, found_nobody ? "" : verdict.explain());
}

}  // namespace custodian
