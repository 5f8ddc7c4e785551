// A temporary directory of the test, which is its working directory, because the paths of a patch start there.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "apply_patch/apply.h"
#include "apply_patch/make_plan.h"
#include "apply_patch/parse.h"
#include "apply_patch/plan.h"
#include "base/result.h"
#include "support/scratch_dir.h"

namespace holdfast::apply_patch {

// The paths of a directory tree: files with their content, links as "-> target", empty directories as "directory".
using Tree = std::map<std::string, std::string>;

class WorkingDir : public testing::Test {
 protected:
  WorkingDir() { std::filesystem::current_path(dir_.path()); }
  ~WorkingDir() override { std::filesystem::current_path(before_); }

  static Result<> Run(const std::string& operations) {
    const std::string text = "*** Begin Patch\n" + operations + "*** End Patch\n";
    TRY(const Patch patch, ParsePatch(text));
    TRY(const Plan plan, MakePlan(patch));
    return Apply(plan);
  }

  // Runs the operations and returns the error message, or an empty string if the patch was applied.
  static std::string Problem(const std::string& operations) {
    const auto done = Run(operations);
    return done ? "" : done.error().message;
  }

  static std::string Read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  static Tree Files() {
    Tree tree;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(".")) {
      const std::string name = entry.path().string().substr(2);
      if (entry.is_symlink()) {
        tree[name] = "-> " + std::filesystem::read_symlink(entry).string();
      } else if (entry.is_regular_file()) {
        tree[name] = Read(name);
      } else if (!entry.is_directory()) {
        tree[name] = "special";
      } else if (std::filesystem::is_empty(entry)) {
        tree[name] = "directory";
      }
    }
    return tree;
  }

  static struct stat Status(const std::string& path) {
    struct stat status = {};
    EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
    return status;
  }

  support::ScratchDir dir_;

 private:
  std::filesystem::path before_ = std::filesystem::current_path();
};

}  // namespace holdfast::apply_patch
