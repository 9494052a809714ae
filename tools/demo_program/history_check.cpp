/// \file
/// Reads a history of holds, from a file or the standard input, and says whether at most one
/// process held the lock at any time. It uses nothing but that history.

#include <fstream>
#include <iostream>
#include <string_view>

#include "history.hpp"

int main(int argc, char* argv[]) {
  const std::string_view argument = argc == 2 ? argv[1] : "--help";
  if (argument == "--help" || argument == "-h") {
    (argc == 2 ? std::cout : std::cerr)
        << "usage: " << argv[0] << " <file>   (or - for the standard input)\n\n"
        << "Each line of the file is one hold of a lock, written by its holder:\n"
        << "  <process> <token> <node> <boot time in, ns> <boot time out, ns>\n"
        << "Exits with 0 if the tokens and the nodes' numbers grow from line to line and no two\n"
        << "holds overlap in time; with 1 if not; with 2 if the file cannot be read.\n";
    return argc == 2 ? 0 : 2;
  }
  std::ifstream file;
  if (argument != "-") {
    file.open(argv[1]);
    if (!file) {
      std::cerr << argv[0] << ": cannot read " << argument << '\n';
      return 2;
    }
  }
  const auto verdict = custodian::demo::judge(argument == "-" ? std::cin : file);
  std::cout << verdict.holds.size() << " holds, " << verdict.overlaps << " overlaps, "
            << verdict.disorders << " out of order, " << verdict.malformed << " malformed lines\n";
  for (const std::string& fault : verdict.faults) std::cout << "  " << fault << '\n';
  return verdict.flawless() ? 0 : 1;
}
