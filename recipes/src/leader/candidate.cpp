#include "custodian/leader/candidate.hpp"

#include "acquire/participants.hpp"
#include "leader/leader_lookup.hpp"
#include "ordering/lock_spec.hpp"

namespace custodian {

Candidate::Candidate(recipes_detail::LockSpecPtr spec)
    : core_{spec->client.core()}, spec_{std::move(spec)} {}

Candidate::~Candidate() = default;

const Client& Candidate::client() const noexcept { return spec_->client; }
const std::string& Candidate::path() const noexcept { return spec_->path; }
const std::string& Candidate::id() const noexcept { return spec_->identity; }

std::optional<Participant> Candidate::leader(OperationOptions options) const {
  return recipes_detail::leader_of(spec_, "leader", options);
}

std::vector<Participant> Candidate::participants(OperationOptions options) const {
  return recipes_detail::participants_of(spec_, "participants", options);
}

}  // namespace custodian
