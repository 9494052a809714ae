// custodian-bench measures Custodian's locks, and those of other libraries for comparison.

#include <CLI/CLI.hpp>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "bench_run.hpp"
#include "contestants.hpp"
#include "driver_link.hpp"
#include "measuring.hpp"
#include "plot.hpp"
#include "report.hpp"
#include "run_result.hpp"
#include "scale.hpp"
#include "scale_plot.hpp"
#include "scale_report.hpp"

namespace {

using namespace custodian::bench;

constexpr auto description =
    R"(Measures Custodian's locks beside those of others, on this machine.

It starts the servers that are needed (ZooKeeper with its log forced to the disk; Redis, MariaDB and
etcd where they are installed), and each contestant as a process of its own. A workload is measured in
rounds; in each round every contestant has its turn, so that what else the machine does meets all of
them. Compare the figures of one run only. What counts are the ratios, round by round.

Results are written to standard output, what is being done to standard error.)";

constexpr auto footer = R"(Examples:
  custodian-bench                              all of it; takes an hour or less
  custodian-bench --only lock --peers curator  one workload, one peer
  custodian-bench --json run.json --markdown run.md --plot run.svg
  custodian-bench --from run.json --plot run.svg    a picture of an old run
  custodian-bench --scale --plot scale.svg     how figures grow with numbers

How to read it: docs/benchmark.md.

Exit status: 0; 1 if something failed, above all if a lock let two in at once; 2 for wrong words.)";

void write(const std::string& file, const std::string& text) {
  if (file.empty()) return;
  std::ofstream stream{file};
  if (!(stream << text << std::flush)) throw std::runtime_error{"cannot write " + file};
}

RunResult read(const std::string& file) {
  std::ifstream stream{file};
  if (!stream) throw std::runtime_error{"cannot read " + file};
  return parse_run({std::istreambuf_iterator<char>{stream}, {}});
}

void list() {
  std::cout << "Workloads:\n";
  for (const Workload& workload : all_workloads())
    std::cout << "  " << workload.name << ": " << workload.title << " (" << parameters(workload)
              << ")\n";
  std::cout << "\nWith --scale:\n";
  for (const Series& series : all_series())
    std::cout << "  " << series.name << ": " << series.title << " (" << series.sizes.front()
              << " to " << series.sizes.back() << ")\n";
  std::cout << "\nContestants:\n";
  for (const ContestantEntry& entry : all_contestants()) {
    std::cout << "  " << entry.name << ": " << entry.does << "\n    route: " << entry.route
              << "\n    durability: " << entry.durability << "\n";
    if (!entry.absent.empty()) std::cout << "    absent: " << entry.absent << "\n";
  }
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("--rounds", options.rounds, "Rounds of each workload")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "Of each measurement; with --scale 6")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--warm-up", options.warm_up, "Seconds for each contestant, not counted")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--only", options.only, "These workloads, or series, with commas between them")
      ->delimiter(',');
  app.add_option("--peers", options.peers, "Ours and these peers, with commas between them")
      ->delimiter(',');
  app.add_option("--before", options.before,
                 "Another build's custodian-bench-ours, which takes part as ours-before")
      ->check(CLI::ExistingFile);
  app.add_flag("--ensemble", options.ensemble, "Three ZooKeeper servers instead of one");
  app.add_option("--directory", options.directory, "Where the servers' data goes; on a disk")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str();
  app.add_option("--queue", options.sizes.sessions, "Sessions of the workload 'sessions'")
      ->check(CLI::Range(3, 5000))
      ->capture_default_str();
  app.add_option("--waiters", options.sizes.waiters, "Waiters of the workload 'waiters'")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_flag("--scale", options.scale,
               "Instead of the workloads: how figures grow with waiters, sessions and held locks");
  app.add_option("--sizes", options.scale_sizes, "Of --scale, with commas between them")
      ->delimiter(',')
      ->check(CLI::Range(1, 100'000))
      ->needs("--scale");
  app.add_option("--json", options.json, "Write all figures to this file");
  app.add_option("--markdown", options.markdown, "Write tables to this file, in Markdown");
  app.add_option("--plot", options.plot, "Write a picture to this file, SVG");
  app.add_option("--from", options.from, "Measure nothing; take what --json wrote")
      ->check(CLI::ExistingFile);
  app.add_flag("--list", options.list, "Tell workloads and contestants, and who is absent");
}

/// A workload of a series is printed later, with the others of that series.
void tell(const WorkloadResult& workload) {
  if (workload.series.empty()) std::cout << to_text(workload) << '\n' << std::flush;
}

int measure(const Options& options, const std::string& command) {
  RunResult result;
  if (options.from.empty()) {
    mind_interruptions();
    result = run(options, command,
                 {.progress = [](const std::string& what) { std::cerr << what << '\n'; },
                  .measured = [](const WorkloadResult& workload) { tell(workload); }});
  } else {
    result = read(options.from);
    for (const WorkloadResult& workload : result.workloads) tell(workload);
  }
  const std::vector<Growth> grown = growths(result);
  for (const Growth& growth : grown) std::cout << to_text(growth) << '\n';
  std::cout << contestants(result) << '\n' << heading(result);
  write(options.json, to_json(result));
  write(options.markdown, to_markdown(result));
  write(options.plot, grown.empty() ? to_svg(result) : to_scale_svg(result));
  if (!result.complete) return 1;
  for (const WorkloadResult& workload : result.workloads) {
    for (const ContestantResult& contestant : workload.contestants) {
      if (!contestant.failure.empty()) return 1;
    }
  }
  return 0;
}

/// The command line for the report. It begins with the program's name instead of its path, so that
/// others can repeat it.
std::string command_line(int argc, char* argv[]) {
  std::string text = "custodian-bench";
  for (int i = 1; i < argc; ++i) text += std::string{" "} + argv[i];
  return text;
}

}  // namespace

int main(int argc, char* argv[]) {
  Options options;
  CLI::App app{description, "custodian-bench"};
  app.footer(footer);
  add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    if (options.list) {
      list();
      return 0;
    }
    // A series measures cycles beside held locks: such a measurement must be long enough for a beat
    // of the locks' session.
    if (options.scale && app.count("--seconds") == 0) options.seconds = 6;
    return measure(options, command_line(argc, argv));
  } catch (const std::invalid_argument& error) {
    std::cerr << "custodian-bench: " << error.what() << '\n';
    return 2;
  } catch (const Violation& violation) {
    std::cerr << "custodian-bench: NO MUTUAL EXCLUSION: " << violation.what() << '\n';
  } catch (const std::exception& error) {
    std::cerr << "custodian-bench: " << error.what() << '\n';
  }
  return 1;
}
