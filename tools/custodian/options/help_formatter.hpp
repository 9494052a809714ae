#pragma once

/// \file
/// HelpFormatter formats --help: it wraps lines, and adds to the usage what CLI11 cannot know.

#include <CLI/CLI.hpp>
#include <string>

namespace custodian::cli {

/// Breaks the text between words into lines of at most `width` characters. Pure.
[[nodiscard]] std::string wrapped(const std::string& text, std::size_t width);

/// The formatter of the main command; its subcommands inherit it.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter();
  [[nodiscard]] std::string make_option_desc(const CLI::Option* option) const override;
  [[nodiscard]] std::string make_option_opts(const CLI::Option* option) const override;
  [[nodiscard]] std::string make_usage(const CLI::App* app, std::string name) const override;
  [[nodiscard]] std::string make_description(const CLI::App* app) const override;
  [[nodiscard]] std::string make_footer(const CLI::App* app) const override;
};

/// The group, in the help, of the subcommands that run a command; their usage shows that command.
inline constexpr const char* running_group = "Commands that run another";

}  // namespace custodian::cli
