#include "support/scratch_dir.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace holdfast::support {

namespace fs = std::filesystem;

ScratchDir::ScratchDir() : ScratchDir(fs::temp_directory_path().string()) {}

ScratchDir::ScratchDir(const std::string& parent) : path_(parent + "/holdfast_test.XXXXXX") {
  EXPECT_NE(::mkdtemp(path_.data()), nullptr);
}

ScratchDir::~ScratchDir() {
  std::error_code ignored;  // nothing depends on it
  fs::remove_all(path_, ignored);
}

std::string ScratchDir::Write(std::string_view name, std::string_view text, mode_t mode) const {
  const fs::path path = fs::path(path_) / name;
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(::chmod(path.c_str(), mode), 0);
  return path.string();
}

}  // namespace holdfast::support
