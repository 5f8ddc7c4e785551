// The entries of the bucket that the nodes share.
#include "rendezvous/nats/executor_entry.h"

#include <gtest/gtest.h>

#include "base/sha256.h"

namespace holdfast::rendezvous {
namespace {

const ExecutorRecord kRecord{.id = "build-1", .name = "Büro \"1\"\n", .since_ms = 12, .waiting = 3, .sessions = 4};
constexpr char kUrl[] = "https://192.0.2.1:8070";

TEST(ExecutorEntryTest, SurvivesTheWayOutAndBack) {
  const auto decoded = DecodeEntry(EntryKey("node", "build-1"), EncodeEntry(kRecord, kUrl));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->record, kRecord);
  EXPECT_EQ(decoded->node, (NodePlace{.name = "node", .url = kUrl}));
}

TEST(ExecutorEntryTest, TheKeyHasTheNodeAndTheDigestOfTheId) {
  EXPECT_EQ(EntryKey("node", "abc"), "node.ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(ExecutorEntryTest, TheKeyHasToFit) {
  const std::string value = EncodeEntry(kRecord, kUrl);
  EXPECT_FALSE(DecodeEntry(EntryKey("node", "build-2"), value));
  EXPECT_FALSE(DecodeEntry("node", value));
  EXPECT_FALSE(DecodeEntry("", value));
  EXPECT_FALSE(DecodeEntry("a.b." + Sha256Hex("build-1"), value));
}

TEST(ExecutorEntryTest, NothingElseIsAccepted) {
  const std::string key = EntryKey("node", "a"), no_id = EntryKey("node", "");
  const auto value = [](const std::string& id, const std::string& rest) {
    return R"({"url":"http://h","id":")" + id + "\"," + rest + "}";
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
  EXPECT_FALSE(DecodeEntry(key, R"({"id":"a","name":"","sinceMs":0,"waiting":0,"sessions":0})"));
  EXPECT_FALSE(DecodeEntry(
      key, R"({"url":")" + std::string(2000, 'x') + R"(","id":"a","name":"","sinceMs":0,"waiting":0,"sessions":0})"));
}

}  // namespace
}  // namespace holdfast::rendezvous
