#include "ensembles/layout_text.hpp"

#include <optional>
#include <set>
#include <utility>

#include "ensembles/layout_rules.hpp"
#include "ensembles/plain_number.hpp"
#include "ordering/rendezvous_hash.hpp"

namespace custodian::recipes_detail {

namespace {

/// Reads a layout line by line. Each function returns the line's fault, or nothing.
class LayoutReader {
 public:
  using Fault = std::optional<std::string>;

  Fault read(std::string_view line) {
    const std::size_t colon = line.find(": ");
    if (colon == line.npos) return "a line is a name, a colon, a space and a value";
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = line.substr(colon + 2);
    if (name == "version") return read_number(name, value, layout_.version);
    if (name == "depth") return read_number(name, value, layout_.depth);
    if (name == "ensemble") return read_ensemble(value);
    if (name == "pin") return read_pin(value);
    // An unknown line may decide about homes. A process that ignored it would have other homes than
    // a process that knows it, and both would hold the same lock.
    return "the name of the line is unknown to this version";
  }

  Fault end() const {
    for (const char* name : {"version", "depth"}) {
      if (!numbers_.contains(name)) return "there is no line " + std::string{name};
    }
    return layout_fault(layout_);
  }

  [[nodiscard]] EnsembleLayout take() { return std::move(layout_); }

 private:
  template <typename Number>
  Fault read_number(std::string_view name, std::string_view value, Number& number) {
    if (!numbers_.emplace(name).second) return std::string{name} + " is there twice";
    const auto read = plain_number<Number>(value);
    if (!read) return std::string{name} + ": a number in digits, without zeros in front";
    number = *read;
    return std::nullopt;
  }

  Fault read_ensemble(std::string_view value) {
    const std::size_t space = value.find(' ');
    const std::string_view name = value.substr(0, space);
    const auto weight = plain_number<int>(space == value.npos ? "" : value.substr(space + 1));
    if (!is_ensemble_name(name) || !weight) return "ensemble: a name, a space and a weight";
    if (layout_.ensembles.emplace(name, *weight).second) return std::nullopt;
    return "the ensemble " + std::string{name} + " is there twice";
  }

  Fault read_pin(std::string_view value) {
    const std::size_t space = value.find(' ');
    const std::string_view name = value.substr(0, space);
    const std::string_view path = space == value.npos ? "" : value.substr(space + 1);
    if (!is_ensemble_name(name) || !is_mapped_path(path)) {
      return "pin: the name of an ensemble, a space and a path";
    }
    if (layout_.pins.emplace(path, name).second) return std::nullopt;
    return "the path is pinned twice";
  }

  EnsembleLayout layout_;
  std::set<std::string, std::less<>> numbers_;
};

LayoutFault at_line(int number, const std::string& fault) {
  return {"line " + std::to_string(number) + ": " + fault};
}

}  // namespace

std::string encode(const EnsembleLayout& layout) {
  std::string text{layout_title};
  text.append("\nversion: ").append(std::to_string(layout.version));
  text.append("\ndepth: ").append(std::to_string(layout.depth)).append("\n");
  for (const auto& [name, weight] : layout.ensembles) {
    text.append("ensemble: ").append(name).append(" ").append(std::to_string(weight)).append("\n");
  }
  for (const auto& [path, name] : layout.pins) {
    text.append("pin: ").append(name).append(" ").append(path).append("\n");
  }
  return text;
}

std::variant<EnsembleLayout, LayoutFault> decode_layout(std::string_view text) {
  LayoutReader reader;
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    // A text that was cut off has no last line break.
    if (end == text.npos) return at_line(number, "it has no end");
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (number == 1) {
      if (line != layout_title) return at_line(1, "it is not: " + std::string{layout_title});
      continue;
    }
    if (const auto fault = reader.read(line)) return at_line(number, *fault);
  }
  if (number == 0) return LayoutFault{"the text is empty"};
  if (auto fault = reader.end()) return LayoutFault{std::move(*fault)};
  return reader.take();
}

std::string fingerprint_of(std::string_view text) {
  std::uint64_t hash = mixed(hash_on(hash_of_nothing, text));
  std::string digits(16, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, hash >>= 4U) {
    *digit = "0123456789abcdef"[hash & 15U];
  }
  return digits;
}

}  // namespace custodian::recipes_detail
