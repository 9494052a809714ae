#include <sstream>
#include <string>

#include "history.hpp"
#include "support/catch.hpp"

namespace custodian::tests::demo_history_test {

using custodian::demo::Hold;
using custodian::demo::judge;
using custodian::demo::parse_line;
using custodian::demo::to_line;
using custodian::demo::Verdict;

namespace {

std::string node(const char* sequence) {
  return std::string{"/demo/lock/_c_uuid-lock-"} + sequence;
}

Verdict judge_text(const std::string& text) {
  std::istringstream history{text};
  return judge(history);
}

const Hold first{1, 10, node("0000000000"), 100, 200};
const Hold second{2, 11, node("0000000001"), 201, 300};
const Hold third{1, 15, node("0000000005"), 300, 300};

}  // namespace

TEST_CASE("a history of holds one after another is flawless") {
  const Verdict verdict = judge_text(to_line(first) + to_line(second) + to_line(third));
  CHECK(verdict.flawless());
  CHECK(verdict.holds == std::vector<Hold>{first, second, third});
  CHECK(verdict.faults.empty());
}

TEST_CASE("an empty history is flawless, and holds nothing") {
  CHECK(judge_text("").flawless());
  CHECK(judge_text("").holds.empty());
}

TEST_CASE("a hold that begins before the one before has ended is an overlap") {
  Hold early = second;
  early.in = first.out - 1;
  const Verdict verdict = judge_text(to_line(first) + to_line(early));
  CHECK(verdict.overlaps == 1);
  CHECK_FALSE(verdict.flawless());
  REQUIRE(verdict.faults.size() == 1);
  CHECK(verdict.faults.front().find("process 2") != std::string::npos);
}

TEST_CASE("holds of one process must not overlap either") {
  Hold early = second;
  early.process = first.process;
  early.in = first.in;
  CHECK(judge_text(to_line(first) + to_line(early)).overlaps == 1);
}

TEST_CASE("a long hold overlaps all that lie within it, and not only its neighbour") {
  Hold long_one = first;
  long_one.out = 400;
  CHECK(judge_text(to_line(long_one) + to_line(second) + to_line(third)).overlaps == 2);
}

TEST_CASE("an overlap is found in whatever order the lines came") {
  Hold early = second;
  early.in = 150;
  CHECK(judge_text(to_line(early) + to_line(first)).overlaps == 1);
}

TEST_CASE("a token that does not grow is out of order") {
  Hold same = second;
  same.token = first.token;
  CHECK(judge_text(to_line(first) + to_line(same)).disorders == 1);
  Hold smaller = second;
  smaller.token = first.token - 1;
  CHECK(judge_text(to_line(first) + to_line(smaller)).disorders == 1);
}

TEST_CASE("a grant out of the order of the queue is found though its token grows") {
  Hold overtaking = second;
  overtaking.node = first.node;
  CHECK(judge_text(to_line(first) + to_line(overtaking)).disorders == 1);
}

TEST_CASE("a hold that ends before it begins is malformed") {
  Hold backwards = first;
  backwards.out = backwards.in - 1;
  CHECK(judge_text(to_line(backwards)).malformed == 1);
}

TEST_CASE("lines that are cut off, run together or no holds at all are malformed") {
  const std::string line = to_line(first);
  CHECK(judge_text(line.substr(0, line.size() - 1)).malformed == 1);  // no line break
  CHECK(judge_text(line.substr(0, line.size() - 5) + "\n").malformed == 1);
  CHECK(judge_text(line.substr(0, line.size() - 1) + line).malformed == 1);
  CHECK(judge_text("\n").malformed == 1);
  CHECK(judge_text("1 10 /no-sequence 100 200\n").malformed == 1);
  CHECK(judge_text("1 10  " + first.node + " 100 200\n").malformed == 1);
  CHECK(judge_text("1 x " + first.node + " 100 200\n").malformed == 1);
  CHECK(judge_text("1 10 " + first.node + " 100 99999999999999999999\n").malformed == 1);
  CHECK(judge_text("1 10 " + first.node + " -100 200\n").malformed == 1);
}

TEST_CASE("a malformed line does not hide the faults around it") {
  Hold early = second;
  early.in = first.in;
  const Verdict verdict = judge_text(to_line(first) + "nonsense\n" + to_line(early));
  CHECK(verdict.malformed == 1);
  CHECK(verdict.overlaps == 1);
}

TEST_CASE("a hold survives being written and read") {
  const std::string line = to_line(first);
  CHECK(line.back() == '\n');
  CHECK(parse_line(std::string_view{line}.substr(0, line.size() - 1)) == first);
}

}  // namespace custodian::tests::demo_history_test
