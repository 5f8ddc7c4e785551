// Tests that a profile, whatever is in it, is the same after it was written as text and decoded again.
#include <array>
#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "sandbox/policy/location.h"
#include "sandbox/policy/permission_profile.h"
#include "sandbox/policy/policy.h"
#include "sandbox/policy/policy_text.h"

namespace holdfast::sandbox {
namespace {

constexpr int kRounds = 2000;

// Makes random profiles from everything that profiles can contain. The seed is fixed, so that each run has the same
// ones.
class AnyProfile {
 public:
  Profile operator()() {
    Profile profile;
    profile.type = Pick(std::array{ProfileType::kManaged, ProfileType::kManaged, ProfileType::kManaged,
                                   ProfileType::kExternal, ProfileType::kDisabled});
    profile.policy.network = Pick(std::array{Network::kRestricted, Network::kEnabled});
    if (profile.type == ProfileType::kDisabled) profile.policy.network = Network::kEnabled;
    if (profile.type == ProfileType::kManaged && Below(8) > 0) profile.policy.files = Files();
    return profile;
  }

 private:
  size_t Below(size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(random_); }
  template <typename T, size_t kSize>
  T Pick(const std::array<T, kSize>& values) {
    return values[Below(kSize)];
  }

  Policy::Files Files() {
    Policy::Files files;
    for (size_t count = Below(6); count > 0; --count) files.entries.push_back(AnyEntry());
    if (Below(3) == 0) files.glob_scan_max_depth = 1 + Below(100);
    return files;
  }

  Entry AnyEntry() {
    Entry entry;
    do {
      entry.where = Where();
      entry.access = Pick(std::array{Access::kRead, Access::kWrite, Access::kDeny});
    } while (!CheckEnforceable(entry));
    if (Below(4) == 0) entry.if_missing = IfMissing::kSkip;
    return entry;
  }

  decltype(Entry::where) Where() {
    switch (Below(3)) {
      case 0:
        return AbsolutePath{"/" + Names(Bytes::kAny)};
      case 1:
        return Pattern{Names(Bytes::kText) + Pick(std::array<std::string_view, 4>{"", "/**", "*.env", "/[a]?"}).data()};
      default:
        const auto kind = Pick(std::array{PlaceKind::kRoot, PlaceKind::kMinimal, PlaceKind::kProjectRoots,
                                          PlaceKind::kTmpDir, PlaceKind::kSlashTmp, PlaceKind::kUnknown});
        if (kind == PlaceKind::kProjectRoots && Below(2) == 0) return Place{kind, Names(Bytes::kText)};
        return Place{kind};
    }
  }

  enum class Bytes { kAny, kText };
  std::string Names(Bytes bytes) {
    std::string names = Name(bytes);
    for (size_t more = Below(4); more > 0; --more) names += "/" + Name(bytes);
    return names;
  }
  // Returns a name that is not empty, and neither "." nor "..".
  std::string Name(Bytes bytes) {
    std::string name(1, static_cast<char>('a' + Below(26)));
    for (size_t length = Below(12); length > 0; --length) name += Piece(bytes);
    return name;
  }
  std::string Piece(Bytes bytes) {
    if (bytes == Bytes::kText) {
      return std::string(
          Pick(std::array<std::string_view, 10>{"a", ".", " ", "\"", "\\", "\n", "%41", "#", "\u00e9", "\U0001f512"}));
    }
    char byte = 0;
    while (byte == 0 || byte == '/') byte = static_cast<char>(Below(256));
    return std::string(1, byte);
  }

  std::mt19937 random_{1};
};

TEST(ProfileTextTest, ComesBackAsTheSameProfile) {
  AnyProfile any;
  for (int round = 0; round < kRounds; ++round) {
    const Profile profile = any();
    const std::string text = ProfileText(profile);
    const Result<Profile> back = ParseProfile(text);
    ASSERT_TRUE(back) << text << ": " << back.error().message;
    ASSERT_EQ(*back, profile) << text;
  }
}

TEST(ProfileTextTest, IsTheSameForEqualProfilesAndNoOthers) {
  AnyProfile any;
  std::vector<Profile> profiles;
  for (int round = 0; round < 200; ++round) profiles.push_back(any());
  for (const Profile& one : profiles) {
    for (const Profile& other : profiles) EXPECT_EQ(one == other, ProfileText(one) == ProfileText(other));
  }
}

TEST(ProfileTextTest, CarriesNamesThatAreNotText) {
  Profile profile;
  profile.policy.files.emplace();
  profile.policy.files->entries = {{AbsolutePath{"/caf\xe9/%41 \x01?#"}, Access::kDeny}};
  const std::string text = ProfileText(profile);
  for (const char byte : text) EXPECT_TRUE(byte >= ' ' && byte <= '~') << text;
  EXPECT_EQ(ParseProfile(text), profile);
}

}  // namespace
}  // namespace holdfast::sandbox
