#include "options/command_line.hpp"

#include "support/catch.hpp"

namespace custodian::tests::command_line_test {

using custodian::cli::split_command_line;
using Words = std::vector<std::string>;

TEST_CASE("the command is what stands behind the first dashes, word by word") {
  const auto line = split_command_line({"lock", "/p", "--", "printf", "[a,b]", "", "--", "-x"});
  CHECK(line.ours == Words{"lock", "/p"});
  REQUIRE(line.command);
  CHECK(*line.command == Words{"printf", "[a,b]", "", "--", "-x"});
}

TEST_CASE("without dashes there is no command, and nothing behind them is an empty one") {
  CHECK_FALSE(split_command_line({"inspect", "/p"}).command);
  CHECK_FALSE(split_command_line({}).command);
  const auto line = split_command_line({"lock", "/p", "--"});
  REQUIRE(line.command);
  CHECK(line.command->empty());
  CHECK(line.ours == Words{"lock", "/p"});
}

}  // namespace custodian::tests::command_line_test
