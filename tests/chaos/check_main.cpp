/// \file
/// Judges a chaos run by the histories of its processes, and by nothing else.

#include <exception>
#include <iostream>
#include <string_view>

#include "report.hpp"

int main(int argc, char* argv[]) {
  const std::string_view argument = argc == 2 ? argv[1] : "--help";
  if (argument == "--help" || argument == "-h") {
    (argc == 2 ? std::cout : std::cerr)
        << "usage: " << argv[0] << " <directory>\n\n"
        << "Reads the histories that custodian-chaos has left in the directory, and judges them.\n"
        << "Exits with 0 if there is no violation; with 1 if there is; with 2 if it cannot read.\n";
    return argc == 2 ? 0 : 2;
  }
  try {
    const auto history = custodian::chaos::read_history(argv[1]);
    const auto verdict = custodian::chaos::judge(history);
    custodian::chaos::print(std::cout, history, verdict);
    return verdict.violations.empty() ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << '\n';
    return 2;
  }
}
