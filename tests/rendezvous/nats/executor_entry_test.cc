// The entries of the bucket that the nodes share.
#include "rendezvous/nats/executor_entry.h"

#include <gtest/gtest.h>

#include "base/sha256.h"

namespace holdfast::rendezvous {
namespace {

const ExecutorRecord kRecord{.id = "build-1", .name = "Büro \"1\"\n", .since_ms = 12, .waiting = 3, .sessions = 4};

TEST(ExecutorEntryTest, SurvivesTheWayOutAndBack) {
  EXPECT_EQ(DecodeEntry(EntryKey("node", "build-1"), EncodeEntry(kRecord)), kRecord);
}

TEST(ExecutorEntryTest, TheKeyHasTheNodeAndTheDigestOfTheId) {
  EXPECT_EQ(EntryKey("node", "abc"), "node.ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(ExecutorEntryTest, TheKeyHasToFit) {
  const std::string value = EncodeEntry(kRecord);
  EXPECT_FALSE(DecodeEntry(EntryKey("node", "build-2"), value));
  EXPECT_FALSE(DecodeEntry("node", value));
  EXPECT_FALSE(DecodeEntry("", value));
  EXPECT_FALSE(DecodeEntry("a.b." + Sha256Hex("build-1"), value));
}

TEST(ExecutorEntryTest, NothingElseIsAccepted) {
  const std::string key = EntryKey("node", "a"), no_id = EntryKey("node", "");
  const auto value = [](const std::string& id, const std::string& rest) {
    return R"({"id":")" + id + "\"," + rest + "}";
  };
  EXPECT_TRUE(DecodeEntry(key, value("a", R"("name":"","sinceMs":0,"waiting":0,"sessions":0)")));
  EXPECT_FALSE(DecodeEntry(key, ""));
  EXPECT_FALSE(DecodeEntry(key, "[]"));
  EXPECT_FALSE(DecodeEntry(no_id, value("", R"("name":"","sinceMs":0,"waiting":0,"sessions":0)")));
  EXPECT_FALSE(DecodeEntry(key, value("a", R"("name":"","sinceMs":-1,"waiting":0,"sessions":0)")));
  EXPECT_FALSE(DecodeEntry(key, value("a", R"("name":"","sinceMs":0,"waiting":-1,"sessions":0)")));
  EXPECT_FALSE(DecodeEntry(key, value("a", R"("name":"","sinceMs":0,"waiting":0)")));
  EXPECT_FALSE(DecodeEntry(key, value("a", R"("name":1,"sinceMs":0,"waiting":0,"sessions":0)")));
  EXPECT_FALSE(DecodeEntry(
      key, value("a", R"("name":")" + std::string(2000, 'x') + R"(","sinceMs":0,"waiting":0,"sessions":0)")));
  EXPECT_FALSE(
      DecodeEntry(key, value("a", R"("name":"","sinceMs":0,"waiting":0,"sessions":0)") + std::string(9000, ' ')));
}

}  // namespace
}  // namespace holdfast::rendezvous
