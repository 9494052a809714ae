// Traces for OpenTelemetry: an observer with a span `acquire` for each acquire, and a span `hold`
// for each lease, which is linked with the acquire that it came from. The spans go where the
// program's tracer provider sends them: to nowhere, until a program sets one up (this example does
// not).
//
//   custodian-example-opentelemetry 127.0.0.1:2181

#include <opentelemetry/nostd/shared_ptr.h>
#include <opentelemetry/trace/provider.h>
#include <opentelemetry/trace/span.h>
#include <opentelemetry/trace/span_context.h>
#include <opentelemetry/trace/span_startoptions.h>
#include <opentelemetry/trace/tracer.h>

#include <deque>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "custodian/client.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/observer.hpp"

namespace {

namespace trace = opentelemetry::trace;
namespace nostd = opentelemetry::nostd;
using Span = nostd::shared_ptr<trace::Span>;

nostd::string_view view(std::string_view text) { return {text.data(), text.size()}; }

/// Makes spans of a client's events. Threads: any.
class Spans final : public custodian::Observer {
 public:
  void on_acquire_begun(const custodian::AcquireBegun& event) override {
    Span span = tracer_->StartSpan("acquire");
    describe(*span, event.recipe, event.path);
    const std::lock_guard lock{mutex_};
    acquires_.emplace(Acquire{event.recipe, event.path, event.began}, std::move(span));
  }

  /// An acquire's leases are reported before its end, and the report does not name the acquire. So
  /// the spans of leases begin here; each takes the oldest lease of this recipe and path that has
  /// no span yet.
  void on_acquire_ended(const custodian::AcquireEnded& event) override {
    const std::lock_guard lock{mutex_};
    auto acquire =
        acquires_.extract(Acquire{std::string{event.recipe}, std::string{event.path}, event.began});
    if (acquire.empty()) return;
    Span& span = acquire.mapped();
    span->SetAttribute("custodian.outcome", view(to_string(event.outcome)));
    if (event.outcome == custodian::AcquireOutcome::failed) {
      span->SetStatus(trace::StatusCode::kError, event.error.message());
    }
    span->End();
    for (std::size_t i = 0; i < event.leases; ++i) begin_hold(event, span->GetContext());
  }

  void on_lease_begun(const custodian::LeaseBegun& event) override {
    const std::lock_guard lock{mutex_};
    fresh_[{std::string{event.recipe}, std::string{event.path}}].push_back(event.token);
  }

  void on_lease_lost(const custodian::LeaseLost& event) override {
    const std::lock_guard lock{mutex_};
    const auto hold = holds_.find(Hold{std::string{event.path}, event.token});
    if (hold == holds_.end()) return;
    const auto why = to_string(event.reason);
    hold->second->AddEvent("lost");
    hold->second->SetStatus(trace::StatusCode::kError, view(why));
  }

  void on_lease_released(const custodian::LeaseReleased& event) override {
    const std::lock_guard lock{mutex_};
    // A lease that came too late for its caller has no span yet: its token is forgotten.
    std::erase(fresh_[{std::string{event.recipe}, std::string{event.path}}], event.token);
    auto hold = holds_.extract(Hold{std::string{event.path}, event.token});
    if (!hold.empty()) hold.mapped()->End();
  }

 private:
  using Acquire = std::tuple<std::string, std::string, custodian::BootClock::time_point>;
  using Hold = std::pair<std::string, custodian::FencingToken>;

  static void describe(trace::Span& span, std::string_view recipe, std::string_view path) {
    span.SetAttribute("custodian.recipe", view(recipe));
    span.SetAttribute("custodian.path", view(path));
  }

  /// The caller holds the mutex.
  void begin_hold(const custodian::AcquireEnded& event, const trace::SpanContext& acquire) {
    auto& fresh = fresh_[{std::string{event.recipe}, std::string{event.path}}];
    if (fresh.empty()) return;
    const custodian::FencingToken token = fresh.front();
    fresh.pop_front();
    Span span = tracer_->StartSpan("hold", {}, {{acquire, {}}});
    describe(*span, event.recipe, event.path);
    holds_.emplace(Hold{event.path, token}, std::move(span));
  }

  const nostd::shared_ptr<trace::Tracer> tracer_ =
      trace::Provider::GetTracerProvider()->GetTracer("custodian");
  std::mutex mutex_;  ///< guards what follows
  std::multimap<Acquire, Span> acquires_;
  std::map<std::pair<std::string, std::string>, std::deque<custodian::FencingToken>> fresh_;
  std::multimap<Hold, Span> holds_;
};

}  // namespace

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    const custodian::Client client{{.servers = argv[1], .observer = std::make_shared<Spans>()}};
    custodian::InterProcessMutex mutex{client, "/examples/traced"};
    const custodian::Lease lease = mutex.acquire();
    std::cout << "traced\n";
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
