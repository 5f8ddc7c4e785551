#include "base/build_id.h"

#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

// The note with the build id has the same bytes in the file of the program as in memory: sizes and type, the owner, and
// the bytes of the build id.
TEST(BuildIdTest, IsTheOneInTheProgramsFile) {
  const std::string id = BuildId();
  ASSERT_FALSE(id.empty());
  std::string note("\3\0\0\0GNU\0", 8);
  for (size_t i = 0; i < id.size(); i += 2) note.push_back(static_cast<char>(std::stoi(id.substr(i, 2), nullptr, 16)));
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const std::string program{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(program.find(note), std::string::npos) << id;
  EXPECT_EQ(BuildId(), id);
}

}  // namespace
}  // namespace holdfast
