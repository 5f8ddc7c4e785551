#include "base/record.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/record_reader.h"

namespace holdfast {
namespace {

enum class Colour { kRed, kGreen };
constexpr Colour LastOf(Colour) { return Colour::kGreen; }

struct Nothing {
  friend bool operator==(const Nothing&, const Nothing&) = default;
};

struct Mark {
  std::string text;
  int number = 0;

  void Fields(this auto& self, auto& f) { f(self.text, self.number); }
  bool IsValid() const { return number != 13; }
  friend bool operator==(const Mark&, const Mark&) = default;
};

struct Sheet {
  bool is_signed = false;
  Colour colour = Colour::kRed;
  std::optional<uint64_t> size = {};
  std::vector<Mark> marks = {};
  std::array<uint16_t, 2> pair = {};
  std::variant<Nothing, Mark> last = {};

  static constexpr std::string_view kRecord = "sheet 1\n";
  void Fields(this auto& self, auto& f) { f(self.is_signed, self.colour, self.size, self.marks, self.pair, self.last); }
  friend bool operator==(const Sheet&, const Sheet&) = default;
};

Sheet Filled() {
  return {.is_signed = true,
          .colour = Colour::kGreen,
          .size = UINT64_MAX,
          .marks = {{"a\xff", -1}, {"", INT32_MIN}},
          .pair = {UINT16_MAX, 1},
          .last = Mark{"z", 7}};
}

void ExpectRefused(const Sheet& sheet) {
  const auto read = DecodeRecord<Sheet>(EncodeRecord(sheet));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error(), (Error{ErrorKind::kInvalidParams, "sheet: damaged"}));
}

TEST(RecordTest, ComesBackAsItWas) {
  for (const Sheet& sheet : {Filled(), Sheet{}}) EXPECT_EQ(DecodeRecord<Sheet>(EncodeRecord(sheet)), sheet);
}

TEST(RecordTest, RefusesWhatItsStructCallsInvalid) {
  Sheet sheet = Filled();
  sheet.marks[1].number = 13;
  ExpectRefused(sheet);
  sheet = Filled();
  sheet.last = Mark{"z", 13};
  ExpectRefused(sheet);
}

TEST(RecordTest, RefusesTextsWithNulAndValuesOutsideOfTheirLists) {
  Sheet sheet = Filled();
  sheet.marks[0].text = std::string("a\0b", 3);
  ExpectRefused(sheet);
  sheet = Filled();
  sheet.colour = static_cast<Colour>(2);
  ExpectRefused(sheet);
}

TEST(RecordTest, RefusesAnotherVersion) {
  const auto read = DecodeRecord<Sheet>("sheet 2\n" + EncodeRecord(Filled()).substr(8));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "sheet: of another version of holdfast");
}

TEST(RecordTest, RefusesEveryTruncationAndWhatFollows) {
  const std::string bytes = EncodeRecord(Filled());
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(DecodeRecord<Sheet>(bytes.substr(0, size))) << size;
  EXPECT_FALSE(DecodeRecord<Sheet>(bytes + '\0'));
}

TEST(RecordTest, RefusesMoreThanItsLimit) {
  Sheet sheet;
  sheet.marks.push_back({std::string(kMaxRecordBytes, 'x'), 0});
  const auto read = DecodeRecord<Sheet>(EncodeRecord(sheet));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::kLimit);
}

// A count that is larger than the input can hold is refused before memory is allocated for it.
TEST(RecordTest, AcceptsNoOtherSpelling) {
  const std::string bytes = EncodeRecord(Filled());
  for (size_t at = Sheet::kRecord.size(); at < bytes.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string garbled = bytes;
      garbled[at] = static_cast<char>(value);
      if (const auto read = DecodeRecord<Sheet>(garbled)) {
        ASSERT_EQ(EncodeRecord(*read), garbled) << at;
      }
    }
  }
}

}  // namespace
}  // namespace holdfast
