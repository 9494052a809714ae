#include "options/help_formatter.hpp"

#include <sstream>

namespace custodian::cli {
namespace {

constexpr std::size_t name_width = 28;
constexpr std::size_t text_width = 66;

}  // namespace

std::string wrapped(const std::string& text, std::size_t width) {
  std::istringstream words{text};
  std::string lines;
  std::size_t used = 0;
  for (std::string word; words >> word; used += word.size()) {
    if (used > 0 && used + 1 + word.size() > width) {
      lines += '\n';
      used = 0;
    } else if (used > 0) {
      lines += ' ';
      ++used;
    }
    lines += word;
  }
  return lines;
}

HelpFormatter::HelpFormatter() { column_width(name_width); }

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  return wrapped(option->get_description(), text_width);
}

// Exclusions and environment variables are not shown here: the descriptions name them.
std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  if (option->get_type_size() == 0 || option->get_positional()) return {};
  return " " + option->get_type_name();
}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  std::string usage = CLI::Formatter::make_usage(app, std::move(name));
  if (app->get_group() != running_group) return usage;
  usage.erase(usage.find_last_not_of('\n') + 1);
  return usage + " -- COMMAND...\n";
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
  const std::string description = app->get_description();
  return description.empty() ? description : description + "\n\n";
}

std::string HelpFormatter::make_footer(const CLI::App* app) const {
  std::string footer = CLI::Formatter::make_footer(app);
  if (app->get_parent() == nullptr) return footer;
  return "Servers, session and credentials (--servers, ...): custodian --help\n\n" + footer;
}

}  // namespace custodian::cli
