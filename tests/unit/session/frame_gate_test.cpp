#include "session/frame_gate.hpp"

#include <string>

#include "session/inbox.hpp"
#include "session/reply_check.hpp"
#include "support/catch.hpp"

namespace custodian::tests::frame_gate_test {
namespace {

using detail::FrameGate;
using detail::Inbox;
using detail::ReplyCheck;
using Step = FrameGate::Step;

constexpr std::size_t room = 1000;

std::string length(std::size_t size) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(size >> shift & 0xFFU);
  return bytes;
}

/// A frame: the four bytes of its length, and then `size` bytes.
std::string frame(std::size_t size) { return length(size) + std::string(size, 'x'); }

void check(FrameGate::Verdict verdict, Step step, std::size_t size = 0) {
  CHECK(verdict.step == step);
  CHECK(verdict.size == size);
}

TEST_CASE("whole frames are handed on, and a part of one is not", "[frame_gate]") {
  FrameGate gate{room};
  const std::string two = frame(5) + frame(300);
  for (std::size_t part = 0; part < 20; ++part) {
    check(gate.next(two + frame(16).substr(0, part), 0), Step::hand_on, two.size());
    check(gate.next(frame(16).substr(0, part), 0), Step::read_more);
  }
  check(gate.next(frame(0), 0), Step::hand_on, 4);
  check(gate.next("", 0), Step::read_more);
}

TEST_CASE("only as many frames as have room are handed on at once, and only into a pair with room",
          "[frame_gate]") {
  FrameGate gate{room};
  const std::string four = frame(296) + frame(296) + frame(296) + frame(296);
  check(gate.next(four, 0), Step::hand_on, 900);
  check(gate.next(four, room), Step::hand_on, 900);
  check(gate.next(four, room + 1), Step::wait_for_reader, 900);
  check(gate.next(frame(room - 4), 0), Step::hand_on, room);
}

TEST_CASE(
    "a frame without room is judged as a whole, when all before it is read, and then goes on "
    "in parts",
    "[frame_gate]") {
  FrameGate gate{room};
  const std::string longer = frame(5000);
  check(gate.next(frame(5) + longer, 0), Step::hand_on, 9);
  check(gate.next(longer.substr(0, 5003), 0), Step::read_more);
  check(gate.next(longer + frame(5), 1), Step::wait_for_reader);
  check(gate.next(longer + frame(5), 0), Step::judge, 5004);
  gate.accepted(5004);
  // Within a frame that was accepted, bytes that the reader has not read yet do not matter.
  check(gate.next(longer.substr(0, 5000), room + 1), Step::hand_on, 5000);
  check(gate.next("", 0), Step::read_more);
  check(gate.next("xxxx" + frame(5), 0), Step::hand_on, 4);
  check(gate.next(frame(5), 0), Step::hand_on, 9);
}

TEST_CASE("a frame that is never judged as a whole begins with enough for a judgement",
          "[frame_gate]") {
  FrameGate gate{room};
  const std::size_t size = Inbox::longest_whole + 1;
  const std::string begin = length(size - 4) + std::string(Inbox::enough_of_a_long_one, 'x');
  check(gate.next(begin.substr(0, Inbox::enough_of_a_long_one - 1), 0), Step::read_more);
  check(gate.next(begin, 1), Step::wait_for_reader);
  check(gate.next(begin, 0), Step::hand_on, begin.size());
  // The rest of the frame is counted, so that the next frame is recognized.
  const std::string rest(size - begin.size() - 1, 'x');
  check(gate.next(rest, 0), Step::hand_on, rest.size());
  check(gate.next("x" + frame(room + 1), 0), Step::hand_on, 1);
  check(gate.next(frame(room + 1), 0), Step::judge, room + 5);
}

TEST_CASE("a length that no frame may have is handed on at once: its reader refuses it",
          "[frame_gate]") {
  FrameGate negative{room};
  check(negative.next("\xff\xff\xff\xff", room + 1), Step::hand_on, 4);
  check(negative.next("x", 0), Step::hand_on, 1);
  FrameGate too_long{room};
  check(too_long.next(length(ReplyCheck::longest_frame), 0), Step::read_more);
  check(too_long.next(length(ReplyCheck::longest_frame + 1), 0), Step::hand_on, 4);
}

TEST_CASE("the longest frame that is judged as a whole is waited for", "[frame_gate]") {
  FrameGate gate{room};
  const std::string longest = frame(Inbox::longest_whole - 4);
  check(gate.next(longest.substr(0, Inbox::enough_of_a_long_one), 0), Step::read_more);
  check(gate.next(longest, 0), Step::judge, longest.size());
}

}  // namespace
}  // namespace custodian::tests::frame_gate_test
