#include "base/build_id.h"

#include <string>

#include <gtest/gtest.h>

#include "support/contents.h"

namespace holdfast {
namespace {

// The note with the build id has the same bytes in the file of the program as in memory: sizes and type, the owner, and
// the bytes of the build id.
TEST(BuildIdTest, IsTheOneInTheProgramsFile) {
  const std::string id = BuildId();
  ASSERT_FALSE(id.empty());
  std::string note("\3\0\0\0GNU\0", 8);
  for (size_t i = 0; i < id.size(); i += 2) note.push_back(static_cast<char>(std::stoi(id.substr(i, 2), nullptr, 16)));
  EXPECT_TRUE(support::Contents("/proc/self/exe").contains(note)) << id;
  EXPECT_EQ(BuildId(), id);
}

}  // namespace
}  // namespace holdfast
