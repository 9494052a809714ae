/// \file
/// A command line, one argument a line, as the subcommands that run a command parse it.

#include "options/command_line.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "fuzz.hpp"
#include "run/run_options.hpp"
#include "targets.hpp"
#include "text/duration.hpp"

namespace custodian::fuzz {
namespace {

using cli::OnLost;
using cli::RunOptions;
using Words = std::vector<std::string>;

std::optional<RunOptions> parsed(Words words) {
  RunOptions options;
  CLI::App app{"", "custodian"};
  cli::add_path(app, options, "");
  cli::add_wait_options(app, options);
  cli::add_hold_at_most_option(app, options);
  cli::add_identity_option(app, options);
  cli::add_on_lost_option(app, options, cli::MayIgnoreLoss::yes);
  std::ranges::reverse(words);
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    // Any other exception would be a failure, not a wrong command line.
    require(*error.what() != '\0', "a refusal says why");
    return std::nullopt;
  }
  return options;
}

bool same(const RunOptions& left, const RunOptions& right) {
  const auto all = [](const RunOptions& options) {
    return std::tie(options.path, options.wait, options.hold_at_most, options.identity,
                    options.on_lost);
  };
  return all(left) == all(right);
}

Words written(const RunOptions& options) {
  Words words{options.path, "--identity=" + options.identity};
  if (options.wait) words.insert(words.end(), {"--wait", cli::format_duration(*options.wait)});
  if (options.hold_at_most) {
    words.insert(words.end(), {"--hold-at-most", cli::format_duration(*options.hold_at_most)});
  }
  words.emplace_back(options.on_lost == OnLost::kill     ? "--on-lost=kill"
                     : options.on_lost == OnLost::ignore ? "--on-lost=ignore"
                                                         : "--on-lost=terminate");
  return words;
}

void check_split(const Words& words, const cli::CommandLine& line) {
  require(std::ranges::find(line.ours, "--") == line.ours.end(), "the first -- is the border");
  Words again = line.ours;
  if (line.command) {
    again.emplace_back("--");
    again.insert(again.end(), line.command->begin(), line.command->end());
  }
  require(again == words, "no word is lost");
}

}  // namespace

void command_line(std::string_view input) {
  const Words words = split(input, '\n');
  const cli::CommandLine line = cli::split_command_line(words);
  check_split(words, line);

  const auto options = parsed(line.ours);
  if (!options) return;
  require(std::ranges::find(line.ours, options->path) != line.ours.end(), "the path is a word");
  require(!options->wait || *options->wait >= options->wait->zero(), "a wait is not negative");
  require(!options->hold_at_most || *options->hold_at_most > options->hold_at_most->zero(),
          "a limit is more than nothing");
  if (options->identity.empty()) return;
  const auto again = parsed(written(*options));
  require(again && same(*again, *options), "what is written is read as the same");
}

}  // namespace custodian::fuzz
