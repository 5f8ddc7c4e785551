#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "base/log_escape.h"
#include "sandbox/plan/landlock_plan.h"
#include "sandbox/plan/plan.h"

namespace holdfast::sandbox {
namespace {

// Returns a path with its control characters escaped. Commands choose the names of files: a name must not look like a
// line of the plan, nor move the cursor of a terminal.
std::string Shown(std::string_view path) {
  std::string shown;
  AppendWord(shown, path);
  return shown;
}

struct MountText {
  const NamespacePlan& plan;

  std::string_view NoteOn(std::string_view path) const {
    const auto placeholder = std::ranges::find(plan.placeholders, path, &Placeholder::path);
    return placeholder == plan.placeholders.end() ? "" : " (placeholder)";
  }

  std::string operator()(const ReadOnlyBind& bind) const { return "read-only " + Shown(bind.path); }
  std::string operator()(const WritableBind& bind) const { return "writable " + Shown(bind.path); }
  std::string operator()(const PinnedBind& bind) const { return "pinned " + Shown(bind.path); }
  std::string operator()(const PinnedLink& link) const { return "pinned link " + Shown(link.path); }
  std::string operator()(const HeldDirectory& held) const { return "held " + Shown(held.path); }
  std::string operator()(const EmptyRoot&) const { return "empty root"; }
  std::string operator()(const EmptyDirectory& empty) const {
    return fmt::format("empty directory {} {:04o}{}", Shown(empty.path), empty.mode, NoteOn(empty.path));
  }
  std::string operator()(const EmptyFile& empty) const {
    return fmt::format("empty file {} {:04o}{}", Shown(empty.path), empty.mode, NoteOn(empty.path));
  }
  std::string operator()(const MakeDirectory& make) const { return "make directory " + Shown(make.path); }
  std::string operator()(const Symlink& link) const {
    return fmt::format("link {} -> {}", Shown(link.path), Shown(link.target));
  }
  std::string operator()(const Seal& seal) const { return "seal " + Shown(seal.path); }
  std::string operator()(const PrivateDev&) const { return "private /dev"; }
  std::string operator()(const FreshProc& proc) const {
    return proc.only_knobs ? "fresh /proc, its knobs read-only" : "fresh read-only /proc";
  }
};

std::string_view NameOfFilter(Filter filter) {
  switch (filter) {
    case Filter::kOpenNetwork:
      return "open-network";
    case Filter::kRestrictedNetwork:
      return "restricted-network";
    case Filter::kProxyOnly:
      return "proxy-only";
    case Filter::kGuardedNetwork:
      return "guarded-network";
    case Filter::kProxyNoListening:
      return "proxy-no-listening";
  }
  return "";
}

std::string_view NameOfRights(LandlockRule::Rights rights) {
  switch (rights) {
    case LandlockRule::Rights::kRead:
      return "read";
    case LandlockRule::Rights::kWrite:
      return "write";
    case LandlockRule::Rights::kList:
      return "list";
  }
  return "";
}

// Returns the lines that the text of every plan ends with.
std::string LastLines(const auto& plan) {
  std::string text;
  for (const LandlockRule& rule : plan.landlock) {
    text += fmt::format("landlock {} {}\n", NameOfRights(rule.rights), Shown(rule.path));
  }
  return text + fmt::format("working directory {}\n", Shown(plan.working_directory));
}

}  // namespace

std::string Text(const NamespacePlan& plan) {
  std::string text;
  const auto add = [&](std::string_view line) { text.append(line).append("\n"); };
  if (plan.mounts.empty()) add("files as they are");
  for (const Mount& mount : plan.mounts) add(std::visit(MountText{plan}, mount));
  for (const std::string& path : plan.absent) add("absent " + Shown(path));
  add(plan.own_network ? "network none" : "network as it is");
  add(fmt::format("filter {}", NameOfFilter(plan.filter)));
  return text + LastLines(plan);
}

std::string Text(const LandlockPlan& plan) {
  std::string text = "no namespaces, no mounts\n";
  text += plan.filter == Filter::kRestrictedNetwork ? "network refused by the filter\n" : "network as it is\n";
  text += plan.landlock.empty() ? "files as they are\n" : "file attributes refused by the filter\n";
  return text + LastLines(plan);
}

}  // namespace holdfast::sandbox
