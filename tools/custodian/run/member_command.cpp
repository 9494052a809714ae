#include "run/member_command.hpp"

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "custodian/authoring/argument_checks.hpp"
#include "custodian/authoring/path.hpp"
#include "custodian/nodes/persistent_node.hpp"
#include "options/duration_option.hpp"
#include "options/help_formatter.hpp"
#include "options/messages.hpp"
#include "run/outcome.hpp"
#include "run/run_options.hpp"
#include "run/runner.hpp"
#include "text/printable_text.hpp"

namespace asio = boost::asio;

namespace custodian::cli {
namespace {

struct MemberChoice {
  RunOptions run{};
  std::string id{};
  std::string payload{};
  bool takes_over = false;
};

/// A member of a group: a GroupMember on the wire, which does not look at the others. The
/// membership outlives broken connections and lost sessions by itself, and each change is printed.
class Member : public std::enable_shared_from_this<Member> {
 public:
  Member(const MemberChoice& choice, const Client& client)
      : client_{client.share()},
        choice_{choice},
        id_{choice.id.empty() ? default_id(client) : choice.id},
        path_{path_of(choice.run.path, id_)} {
    check_create(client.core(), path_, choice.payload, {.mode = CreateMode::ephemeral});
  }

  /// Calls the handler when the member has joined, or cannot join.
  void join(Attempt attempt, std::function<void(Outcome)> handler) {
    const auto once = std::make_shared<std::function<void(Outcome)>>(std::move(handler));
    const auto answer = [once](Outcome outcome) {
      if (const auto first = std::exchange(*once, nullptr)) first(std::move(outcome));
    };
    node_.emplace(
        client_, path_, choice_.payload,
        PersistentNodeOptions{.foreign_node = choice_.takes_over ? ForeignNode::is_taken_over
                                                                 : ForeignNode::waits});
    const auto on_state = [weak = weak_from_this(), executor = attempt.executor, answer](
                              PersistentNodeState state, error_code error) {
      asio::post(executor, [weak, answer, state, error] {
        const auto self = weak.lock();
        if (self && self->on_state(state, error)) answer({.error = error});
      });
    };
    following_ = node_->on_state(on_state);
    // The listener gets later states only, not the present one.
    if (node_->state() == PersistentNodeState::taken) on_state(node_->state(), {});
    node_->async_wait_present(
        {.deadline = attempt.deadline},
        asio::bind_cancellation_slot(
            attempt.slot, asio::bind_executor(attempt.executor, [self = shared_from_this(),
                                                                 answer](error_code error) {
              if (!error) self->has_joined_ = true;
              answer(self->outcome(error));
            })));
  }

 private:
  static std::string default_id(const Client& client) {
    std::string id = client.identity();
    std::ranges::replace(id, '/', '-');
    return id;
  }

  [[nodiscard]] Outcome outcome(error_code error) const {
    // Another member with this id is in the way: the membership was not acquired in time, which is
    // no error.
    if (error == ServerErrc::node_exists) return {};
    if (error) return {.error = error};
    return {.membership = Membership{.node = path_,
                                     .environment = {"CUSTODIAN_GROUP_PATH=" + choice_.run.path,
                                                     "CUSTODIAN_MEMBER_ID=" + id_}}};
  }

  static std::string path_of(const std::string& group, const std::string& id) {
    if (id.find('/') != std::string::npos) {
      throw Error{Errc::invalid_argument, "member", group, "the id is a name, without a slash"};
    }
    return custodian::join(group, id);
  }

  /// Prints the new state of the membership. Returns true if waiting any longer is useless.
  bool on_state(PersistentNodeState state, error_code error) {
    if (std::exchange(known_, state) == state) return false;
    const std::string where = printable(path_);
    const bool was_out =
        std::exchange(is_out_, has_joined_ && state != PersistentNodeState::present);
    switch (state) {
      case PersistentNodeState::present:
        if (was_out) say(where + " is a member again");
        break;
      case PersistentNodeState::absent:
        if (has_joined_) say(where + " is no member at the moment: the command goes on");
        break;
      case PersistentNodeState::taken:
        say("another session has the member " + where + ": waiting until that has left");
        break;
      case PersistentNodeState::refused:
        if (!has_joined_ && status_of(error) == ExitStatus::no_permission) return true;
        say(where + " cannot join at the moment: " + error.message());
        break;
      case PersistentNodeState::closed: break;
    }
    return false;
  }

  const Client client_;
  const MemberChoice choice_;
  const std::string id_;
  const std::string path_;
  std::optional<PersistentNode> node_;
  PersistentNodeState known_ = PersistentNodeState::absent;
  bool has_joined_ = false;
  bool is_out_ = false;  ///< has joined, and is no member at present
  Subscription following_;
};

Acquire make_acquire(const MemberChoice& choice, const Client& client) {
  const auto member = std::make_shared<Member>(choice, client);
  return [member](Attempt attempt, std::function<void(Outcome)> handler) {
    member->join(std::move(attempt), std::move(handler));
  };
}

}  // namespace

void add_member_command(CLI::App& app, Invocation& invocation) {
  const auto choice = std::make_shared<MemberChoice>();
  // A membership excludes nobody: the command need not end when it is lost.
  choice->run.on_lost = OnLost::ignore;
  choice->run.service.waits = "waits to join";
  choice->run.service.has = "is a member of";
  CLI::App* member = app.add_subcommand("member", "runs a command as a member of a group");
  member->group(running_group);
  add_path(*member, choice->run, "the group, /fleet for one");
  member
      ->add_option("--id", choice->id,
                   "what others see of this member, unlike all others' (default: host-process id)")
      ->type_name("ID");
  member->add_option("--payload", choice->payload, "what this member says of itself")
      ->type_name("TEXT");
  member->add_flag("--take-over", choice->takes_over,
                   "take the place of a member with this id at once, as one that is started again");
  add_positive_duration_option(*member, "--wait", choice->run.wait,
                               "how long to wait for another member with this id, and for the "
                               "servers (default: as long as it takes)");
  add_session_options(*member, choice->run);
  add_service_option(*member, choice->run, "when it is a member");
  member->footer(
      "Example:\n"
      "  custodian member /fleet --id worker-1 --payload 10.0.0.1 -- ./worker\n\n"
      "The command's environment has CUSTODIAN_GROUP_PATH and CUSTODIAN_MEMBER_ID. Signals are\n"
      "passed on to it. It leaves the group when the command has ended, and all that it started.\n"
      "The command goes on when the session is lost, and is a member again as soon as there is\n"
      "another one.\n\n"
      "Exit status: the command's own, 128+n if signal n ended it; or, with a line on the\n"
      "standard error output that begins with \"custodian: \",\n"
      "  64  the command line is wrong\n"
      "  69  no server answered in time\n"
      "  70  the guardian process was killed, and the command with it\n"
      "  75  another member has the id, and has not left in time\n"
      "  77  the servers do not permit it\n"
      "  126, 127  the command cannot be run, is not found");
  member->callback([choice, &invocation] {
    invocation.takes_command = true;
    invocation.run = [choice, &invocation](const GlobalOptions& global) {
      return run_under(global, choice->run, *invocation.command,
                       [choice](const Client& client) { return make_acquire(*choice, client); });
    };
  });
}

}  // namespace custodian::cli
