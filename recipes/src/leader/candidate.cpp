#include "custodian/leader/candidate.hpp"

#include "acquire/participants.hpp"
#include "leader/election.hpp"
#include "ordering/lock_spec.hpp"

namespace custodian {

Candidate::Candidate(recipes_detail::QueuePtr queue)
    : core_{queue->client.core()}, queue_{std::move(queue)} {}

Candidate::~Candidate() = default;

const Client& Candidate::client() const noexcept { return queue_->client; }
const std::string& Candidate::path() const noexcept { return queue_->path; }
const std::string& Candidate::id() const noexcept { return queue_->identity; }

std::optional<Participant> Candidate::leader(OperationOptions options) const {
  return recipes_detail::leader_of(queue_, "leader", options);
}

std::vector<Participant> Candidate::participants(OperationOptions options) const {
  return recipes_detail::participants_of(queue_, "participants", options);
}

}  // namespace custodian
