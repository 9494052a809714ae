#include "run/course.hpp"

#include <cerrno>
#include <csignal>

#include "support/catch.hpp"

namespace custodian::cli::course_test {
namespace {

constexpr int exited_with_7 = 7 << 8;
constexpr int killed_by_term = SIGTERM;

Course running(OnLost on_lost = OnLost::terminate, Repeat repeat = Repeat::never) {
  Course course{on_lost, repeat};
  CHECK(course.on(event::Acquired{}) == Steps{step::Start{}});
  return course;
}

}  // namespace

TEST_CASE("a command runs when the lock is had, and the lock is released when it has ended") {
  Course course = running();
  CHECK(course.on(event::Ended{.wait_status = exited_with_7}) ==
        Steps{step::Release{}, step::Finish{7}});
}

TEST_CASE("a command that a signal has ended gives 128 and its number") {
  Course course = running();
  CHECK(course.on(event::Ended{.wait_status = killed_by_term}) ==
        Steps{step::Release{}, step::Finish{128 + SIGTERM}});
}

TEST_CASE("an acquire that comes to nothing decides the exit status") {
  Course course{OnLost::terminate, Repeat::never};
  CHECK(course.on(event::NotAcquired{ExitStatus::not_acquired}) == Steps{step::Finish{75}});
  Course other{OnLost::terminate, Repeat::never};
  CHECK(other.on(event::NotAcquired{ExitStatus::unavailable}) == Steps{step::Finish{69}});
}

TEST_CASE("a signal while waiting gives the wait up, once, and tells the signal") {
  Course course{OnLost::terminate, Repeat::never};
  CHECK(course.on(event::Signalled{SIGINT}) == Steps{step::GiveUp{}});
  CHECK(course.on(event::Signalled{SIGTERM}).empty());
  CHECK(course.on(event::NotAcquired{ExitStatus::failure}) == Steps{step::Finish{130}});
}

TEST_CASE("a lock that is had just when the wait was given up is released, and nothing runs") {
  Course course{OnLost::terminate, Repeat::never};
  CHECK(course.on(event::Signalled{SIGTERM}) == Steps{step::GiveUp{}});
  CHECK(course.on(event::Acquired{}) == Steps{step::Release{}, step::Finish{143}});
}

TEST_CASE("signals while the command runs are the command's, and keep the lock") {
  Course course = running();
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGWINCH, SIGTSTP}) {
    CHECK(course.on(event::Signalled{signal}) == Steps{step::PassOn{signal}});
  }
  CHECK(course.on(event::Signalled{SIGCONT}) == Steps{step::Proceed{1}});
  CHECK(course.on(event::Ended{.wait_status = exited_with_7}) ==
        Steps{step::Release{}, step::Finish{7}});
}

TEST_CASE("Ctrl-Z stops the waiting, and with a command that it has stopped the runner") {
  Course waiting{OnLost::terminate, Repeat::never};
  CHECK(waiting.on(event::Signalled{SIGTSTP}) == Steps{step::StopSelf{SIGTSTP}});
  CHECK(waiting.on(event::Signalled{SIGCONT}).empty());
  CHECK(waiting.on(event::Stopped{SIGTSTP}).empty());
  Course course = running();
  for (const int signal : {SIGTSTP, SIGTTIN, SIGTTOU}) {
    CHECK(course.on(event::Stopped{signal}) == Steps{step::StopSelf{signal}});
  }
}

TEST_CASE("a stop from before the command was let go on does not stop the runner again") {
  Course course = running();
  CHECK(course.on(event::Signalled{SIGCONT}) == Steps{step::Proceed{1}});
  CHECK(course.on(event::Signalled{SIGCONT}) == Steps{step::Proceed{2}});
  for (const std::uint64_t before : {0U, 1U}) {
    CHECK(course.on(event::Stopped{.signal = SIGTSTP, .proceeded = before}).empty());
  }
  CHECK(course.on(event::Stopped{.signal = SIGTTIN, .proceeded = 2}) ==
        Steps{step::StopSelf{SIGTTIN}});
}

TEST_CASE("a loss ends the command, and its end is told as a loss") {
  Course course = running();
  CHECK(course.on(event::Lost{}) == Steps{step::EndForLoss{}});
  CHECK(course.on(event::Ended{.wait_status = killed_by_term, .for_loss = true}) ==
        Steps{step::Release{}, step::Finish{70}});
}

TEST_CASE("a command that ended before a loss could end it has its own status") {
  Course course = running();
  CHECK(course.on(event::Lost{}).size() == 1);
  CHECK(course.on(event::Ended{.wait_status = exited_with_7, .for_loss = false}) ==
        Steps{step::Release{}, step::Finish{7}});
}

TEST_CASE("a loss that is to be ignored does nothing") {
  Course course = running(OnLost::ignore);
  CHECK(course.on(event::Lost{}).empty());
  CHECK(course.on(event::Ended{.wait_status = exited_with_7}) ==
        Steps{step::Release{}, step::Finish{7}});
}

TEST_CASE("a command that cannot be run tells so as a shell does, and lets the lock go") {
  CHECK(running().on(event::NotStarted{ENOENT}) == Steps{step::Release{}, step::Finish{127}});
  CHECK(running().on(event::NotStarted{EACCES}) == Steps{step::Release{}, step::Finish{126}});
}

TEST_CASE("who leads stands again after a loss, and leaves with its command") {
  Course course = running(OnLost::terminate, Repeat::after_loss);
  CHECK(course.on(event::Ended{.wait_status = killed_by_term, .for_loss = true}) ==
        Steps{step::Release{}, step::Acquire{}});
  CHECK(course.on(event::Acquired{}) == Steps{step::Start{}});
  CHECK(course.on(event::Ended{.wait_status = exited_with_7}) ==
        Steps{step::Release{}, step::Finish{7}});
}

TEST_CASE("who was asked to end does not stand again") {
  Course course = running(OnLost::terminate, Repeat::after_loss);
  CHECK(course.on(event::Signalled{SIGTERM}) == Steps{step::PassOn{SIGTERM}});
  CHECK(course.on(event::Ended{.wait_status = killed_by_term, .for_loss = true}) ==
        Steps{step::Release{}, step::Finish{143}});
}

TEST_CASE("a signal that the command has survived does not end the candidacy with a later loss") {
  const event::Time then = event::Time::clock::now();
  Course course = running(OnLost::terminate, Repeat::after_loss);
  CHECK(course.on(event::Signalled{SIGHUP, then}) == Steps{step::PassOn{SIGHUP}});
  CHECK(course.on(event::Ended{
            .wait_status = killed_by_term, .for_loss = true, .at = then + farewell_time}) ==
        Steps{step::Release{}, step::Acquire{}});
  CHECK(course.on(event::Acquired{}) == Steps{step::Start{}});
  CHECK(course.on(event::Signalled{SIGTERM, then + 2 * farewell_time}).size() == 1);
  CHECK(course.on(event::Ended{.wait_status = killed_by_term,
                               .for_loss = true,
                               .at = then + 3 * farewell_time - std::chrono::seconds{1}}) ==
        Steps{step::Release{}, step::Finish{143}});
}

TEST_CASE("without its guardian a command is ended before the lock is released") {
  CHECK(running().on(event::GuardianGone{}) ==
        Steps{step::EndOrphans{}, step::Release{}, step::Finish{70}});
  Course waiting{OnLost::terminate, Repeat::never};
  CHECK(waiting.on(event::GuardianGone{}) == Steps{step::GiveUp{}});
  CHECK(waiting.on(event::NotAcquired{ExitStatus::failure}) == Steps{step::Finish{70}});
}

TEST_CASE("nothing happens any more when it is over") {
  Course course = running();
  CHECK(course.on(event::Ended{.wait_status = 0}).size() == 2);
  CHECK(course.on(event::Signalled{SIGTERM}).empty());
  CHECK(course.on(event::Lost{}).empty());
  CHECK(course.on(event::GuardianGone{}).empty());
}

TEST_CASE("what is to be concluded comes between the end of the command and the release") {
  Course course{OnLost::terminate, Repeat::never, Conclusion::needed};
  CHECK(course.on(event::Concluded{}).empty());
  CHECK(course.on(event::Acquired{}) == Steps{step::Start{}});
  CHECK(course.on(event::Ended{.wait_status = exited_with_7}) == Steps{step::Conclude{7}});
  CHECK(course.on(event::Signalled{SIGWINCH}).empty());
  CHECK(course.on(event::Signalled{SIGUSR1}).empty());
  CHECK(course.on(event::Signalled{SIGTSTP}) == Steps{step::StopSelf{SIGTSTP}});
  CHECK(course.on(event::GuardianGone{}).empty());
  CHECK(course.on(event::Concluded{}) == Steps{step::Release{}, step::Finish{7}});
  CHECK(course.on(event::Concluded{}).empty());
}

TEST_CASE(
    "a signal, or the loss of the lock, cuts the time after the command short, not its status") {
  for (const Event& end :
       {Event{event::Signalled{SIGTERM}}, Event{event::Signalled{SIGINT}}, Event{event::Lost{}}}) {
    Course course{OnLost::terminate, Repeat::never, Conclusion::needed};
    CHECK(course.on(event::Acquired{}) == Steps{step::Start{}});
    CHECK(course.on(event::Ended{.wait_status = 0}) == Steps{step::Conclude{0}});
    CHECK(course.on(end) == Steps{step::CutShort{}});
    CHECK(course.on(event::Concluded{}) == Steps{step::Release{}, step::Finish{0}});
  }
}

TEST_CASE(
    "a command that did not begin is concluded as such, and one that was ended for a loss is not") {
  Course missing{OnLost::terminate, Repeat::never, Conclusion::needed};
  CHECK(missing.on(event::Acquired{}) == Steps{step::Start{}});
  CHECK(missing.on(event::NotStarted{ENOENT}) == Steps{step::Conclude{}});
  CHECK(missing.on(event::Concluded{}) == Steps{step::Release{}, step::Finish{127}});

  Course late{OnLost::terminate, Repeat::never, Conclusion::needed};
  CHECK(late.on(event::Signalled{SIGTERM}) == Steps{step::GiveUp{}});
  CHECK(late.on(event::Acquired{}) == Steps{step::Conclude{}});
  CHECK(late.on(event::Concluded{}) == Steps{step::Release{}, step::Finish{143}});

  Course lost{OnLost::terminate, Repeat::never, Conclusion::needed};
  CHECK(lost.on(event::Acquired{}) == Steps{step::Start{}});
  CHECK(lost.on(event::Ended{.wait_status = killed_by_term, .for_loss = true}) ==
        Steps{step::Release{}, step::Finish{70}});
}

}  // namespace custodian::cli::course_test
