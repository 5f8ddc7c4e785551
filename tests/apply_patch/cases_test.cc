// The test that runs each case of cases.txt.
#include <gmock/gmock.h>

#include <vector>

#include "apply_patch/make_plan.h"
#include "apply_patch/working_dir.h"

namespace holdfast::apply_patch {
namespace {

struct Case {
  std::string name;
  Tree files = {}, leaves = {};
  std::string patch = {}, fails = {};
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

std::string Unescaped(std::string line) {
  const auto replace = [&line](std::string_view escape, const char* text) {
    for (size_t at = 0; (at = line.find(escape, at)) != std::string::npos;) line.replace(at, escape.size(), text);
  };
  replace("\\r", "\r");
  replace("\\t", "\t");
  if (line.ends_with("\\c")) return line.substr(0, line.size() - 2);
  return line + "\n";
}

std::vector<Case> ReadCases() {
  std::vector<Case> cases;
  std::ifstream in(HOLDFAST_SOURCE_DIR "/tests/apply_patch/cases.txt");
  std::string* section = nullptr;
  std::string skipped, blank_lines;  // blank lines before a case belong to none of its sections
  for (std::string line; std::getline(in, line);) {
    const auto rest = [&line](std::string_view word) { return line.substr(word.size()); };
    if (line.starts_with("## ")) {
      cases.push_back({.name = rest("## ")});
      section = &skipped;
    } else if (line.starts_with(">> file ")) {
      section = &cases.back().files[rest(">> file ")];
    } else if (line.starts_with(">> leaves ")) {
      section = &cases.back().leaves[rest(">> leaves ")];
    } else if (line.starts_with(">> fails ")) {
      cases.back().fails = rest(">> fails ");
      section = &skipped;
    } else if (line == ">> patch") {
      section = &cases.back().patch;
    } else if (line.empty()) {
      blank_lines += "\n";
      continue;
    } else if (section != nullptr) {
      *section += blank_lines + Unescaped(line);
    }
    blank_lines.clear();
  }
  return cases;
}

class CasesTest : public WorkingDir, public testing::WithParamInterface<Case> {};

TEST_P(CasesTest, LeavesWhatItSays) {
  const Case& one = GetParam();
  for (const auto& [name, content] : one.files) dir_.Write(name, content);
  const auto patch = ParsePatch(one.patch);
  const auto plan = patch ? MakePlan(*patch) : std::unexpected(patch.error());
  const auto done = plan ? Apply(*plan) : std::unexpected(plan.error());
  EXPECT_EQ(done.has_value(), one.fails.empty()) << (done ? "" : done.error().message);
  if (!done) EXPECT_THAT(done.error().message, testing::HasSubstr(one.fails));
  EXPECT_EQ(Files(), one.fails.empty() ? one.leaves : one.files);
}

std::string NameOfCase(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.name;
  std::erase_if(name, [](char c) { return c == '\''; });
  std::ranges::replace(name, ' ', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(, CasesTest, testing::ValuesIn(ReadCases()), NameOfCase);

}  // namespace
}  // namespace holdfast::apply_patch
