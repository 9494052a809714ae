#include "leader/candidacy.hpp"

#include <boost/asio/post.hpp>
#include <utility>

#include "acquire/pending_acquires.hpp"
#include "async/backoff.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

namespace {

void start_wait_lost(CorePtr core, CancellationPtr cancellation, const Lease& leadership,
                     Handler<> handler) {
  detail::start_wait_lost(std::move(core), std::move(cancellation), leadership.hold(),
                          std::move(handler));
}

}  // namespace

Candidacy::Candidacy(LockSpecPtr spec, std::function<void(error_code)> on_error)
    : spec_{std::move(spec)},
      on_error_{std::move(on_error)},
      over_{std::make_shared<Cancellation>(spec_->client.core())} {}

CandidacyPtr Candidacy::anew() const { return std::make_shared<Candidacy>(spec_, on_error_); }

void Candidacy::end() { over_->request(); }

void Candidacy::attach() {
  if (std::exchange(attached_, true)) return;
  auto& service = Client{client().share()}.use_service<PendingAcquires>();
  if (ended() || service.closing()) return end();
  service.enter(over_);
  over_->on_request(this, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    Client{self->client().share()}.use_service<PendingAcquires>().leave(self->over_);
    self->notify();
  });
}

asio::awaitable<Lease> Candidacy::stand() {
  const auto core = client().core();
  for (int failures = 0; !ended(); ++failures) {
    AcquireOptions options;
    auto [error, result] = co_await await<&start_acquire, AcquireResult>(
        core, over_, spec_, WaitLimit{}, std::move(options));
    if (!error && !ended()) {
      // A candidate that never waited has no watch on its node yet. With a watch, the deletion of
      // the node by an operator is noticed at once.
      detail::watch_node(result.lease);
      co_return std::move(result.lease);
    }
    if (error == Errc::closed || error == Errc::forked) end();
    if (ended()) break;
    tell(error);
    // The pause spares the servers a candidate that fails again and again, for instance because its
    // node is deleted each time.
    co_await back_off(client(), failures, Deadline::never(), over_);
  }
  co_return Lease{};
}

asio::awaitable<void> Candidacy::until_over(Lease leadership) {
  const auto core = client().core();
  co_await await<&start_wait_lost>(core, over_, std::move(leadership));
}

asio::awaitable<void> Candidacy::wait_for_change(Deadline until, CancellationPtr cancellation) {
  const asio::any_io_executor strand = client().get_executor();
  co_await changes_.wait(strand, until, cancellation);
}

void Candidacy::tell(const error_code& error) {
  client().log(LogLevel::warning, spec_->path + ": " + spec_->identity +
                                      " does not stand for election: " + error.message() +
                                      "; it will try again");
  if (!on_error_) return;
  asio::post(client().callback_executor(), [callback = on_error_, error] { callback(error); });
}

CandidacyPtr make_candidacy(const Client& client, std::string_view recipe, const NamingRule& rule,
                            std::string path, CandidateOptions options) {
  LockSpecPtr spec = make_lock_spec(client, recipe, rule, ContenderKind::exclusive, std::move(path),
                                    {.identity = std::move(options.id), .lease = options.lease});
  return std::make_shared<Candidacy>(std::move(spec), std::move(options.on_error));
}

void start(CandidateState& state, const LockSpec& spec, std::string_view recipe) {
  const std::string operation = std::string{recipe} + "::start";
  if (const error_code error = spec.client.unusable()) throw Error{error, operation, spec.path};
  if (state == CandidateState::started)
    throw Error{Errc::invalid_argument, operation, spec.path, "it is started"};
  state = CandidateState::started;
}

}  // namespace custodian::recipes_detail
