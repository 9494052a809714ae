#pragma once

/// \file
/// HelpFormatter formats --help: lines that fit a terminal, and what CLI11 cannot know.

#include <CLI/CLI.hpp>
#include <string>

namespace custodian::cli {

/// The text in lines of no more than `width` characters, broken between words. Pure.
[[nodiscard]] std::string wrapped(const std::string& text, std::size_t width);

/// Of the whole command, and by inheritance of its subcommands.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter();
  [[nodiscard]] std::string make_option_desc(const CLI::Option* option) const override;
  [[nodiscard]] std::string make_option_opts(const CLI::Option* option) const override;
  [[nodiscard]] std::string make_usage(const CLI::App* app, std::string name) const override;
  [[nodiscard]] std::string make_description(const CLI::App* app) const override;
  [[nodiscard]] std::string make_footer(const CLI::App* app) const override;
};

/// A subcommand of this group runs a command, which its usage shows.
inline constexpr const char* running_group = "Commands that run another";

}  // namespace custodian::cli
