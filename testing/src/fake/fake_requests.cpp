#include "custodian/testing/fault_plan.hpp"
#include "fake/fake_tree.hpp"

namespace custodian::testing {

namespace {

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

}  // namespace

std::string kind_of(const Request& request) {
  return std::visit(Overloaded{[](const request::Create&) { return "create"; },
                               [](const request::Remove&) { return "remove"; },
                               [](const request::Exists&) { return "exists"; },
                               [](const request::Get&) { return "get"; },
                               [](const request::Set&) { return "set"; },
                               [](const request::GetChildren&) { return "children"; },
                               [](const request::GetAcl&) { return "get_acl"; },
                               [](const request::SetAcl&) { return "set_acl"; },
                               [](const request::Sync&) { return "sync"; },
                               [](const request::Multi&) { return "multi"; }},
                    request);
}

std::string path_of(const Request& request) {
  return std::visit(
      [](const auto& each) -> std::string {
        if constexpr (requires { each.path; }) return each.path;
        return {};
      },
      request);
}

bool is_write(const Request& request) {
  return std::holds_alternative<request::Create>(request) ||
         std::holds_alternative<request::Remove>(request) ||
         std::holds_alternative<request::Set>(request) ||
         std::holds_alternative<request::SetAcl>(request) ||
         std::holds_alternative<request::Multi>(request);
}

std::string_view to_string(FaultKind kind) noexcept {
  switch (kind) {
    case FaultKind::pass: return "pass";
    case FaultKind::fail_before: return "fail before";
    case FaultKind::fail_after: return "fail after";
    case FaultKind::apply_late: return "apply late";
    case FaultKind::disconnect: return "disconnect";
    case FaultKind::expire_before: return "expire before";
    case FaultKind::expire_after: return "expire after";
    case FaultKind::delay: return "delay";
    case FaultKind::throttle: return "throttle";
  }
  return "unknown";
}

}  // namespace custodian::testing
