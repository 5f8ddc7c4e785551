// These tests describe small structs. tests/tools/openrpc_test.py checks the description of the whole protocol.
#include "wire/schema.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "wire/error_code.h"
#include "wire/fs_messages.h"
#include "wire/indented_json.h"
#include "wire/process_control_messages.h"
#include "wire/process_messages.h"
#include "wire/sandbox_messages.h"

namespace holdfast::wire {

struct Sample {
  std::string always;
  bool flag = false;
  std::optional<uint64_t> maybe;
  std::optional<Stream> stream;

  void Fields(auto& f) {
    f.Required("always", always);
    f.Optional("flag", flag);
    f.Optional("maybe", maybe);
    f.Nullable("stream", stream);
  }
};

struct Choosing {
  std::optional<std::string> prepared;
  std::string program, directory;

  void Fields(auto& f) {
    if constexpr (requires { f.RefuseUnknown(); }) f.RefuseUnknown();
    f.Optional("prepared", prepared);
    if (!prepared) {
      f.Required("program", program);
      f.Required("directory", directory);
    }
  }
};

struct Everything {
  Bytes bytes;
  std::vector<StringMap> maps;
  TerminateMode mode;

  void Fields(auto& f) {
    f.Required("bytes", bytes);
    f.Required("maps", maps);
    f.Required("mode", mode);
  }
};

namespace {

template <typename T>
std::string Schema(Sender sender) {
  SchemaBook book;
  (void)book.Of<T>(sender);
  return book.named().at(NameOfType<T>());
}

TEST(SchemaTest, LetsAClientLeaveOutOrNullWhatIsOptional) {
  EXPECT_EQ(Schema<Sample>(Sender::kClient),
            R"({"type":"object","properties":{"always":{"type":"string"},"flag":{"type":"boolean"},)"
            R"("maybe":{"type":["integer","null"],"minimum":0},)"
            R"("stream":{"anyOf":[{"$ref":"#/components/schemas/Stream"},{"type":"null"}]}},"required":["always"]})");
}

TEST(SchemaTest, SaysWhatTheServerAlwaysSends) {
  EXPECT_EQ(Schema<Sample>(Sender::kServer),
            R"({"type":"object","properties":{"always":{"type":"string"},"flag":{"type":"boolean"},)"
            R"("maybe":{"type":"integer","minimum":0},)"
            R"("stream":{"anyOf":[{"$ref":"#/components/schemas/Stream"},{"type":"null"}]}},)"
            R"("required":["always","flag","stream"]})");
}

TEST(SchemaTest, FindsMembersThatStandForOthers) {
  EXPECT_EQ(Schema<Choosing>(Sender::kClient),
            R"({"type":"object","properties":{"prepared":{"type":["string","null"]},"program":{"type":"string"},)"
            R"("directory":{"type":"string"}},"additionalProperties":false,"allOf":[{"anyOf":[)"
            R"({"required":["program","directory"]},)"
            R"({"required":["prepared"],"properties":{"prepared":{"not":{"type":"null"}}}}]}]})");
}

TEST(SchemaTest, KnowsBytesMapsAndTypesThatAreDescribedByHand) {
  EXPECT_EQ(Schema<Everything>(Sender::kClient),
            R"({"type":"object","properties":{"bytes":{"type":"string","contentEncoding":"base64"},)"
            R"("maps":{"type":"array","items":{"type":"object","additionalProperties":{"type":"string"}}},)"
            R"("mode":{"$ref":"#/components/schemas/TerminateMode"}},"required":["bytes","maps","mode"]})");
}

TEST(SchemaTest, NamesTypesWithoutTheirNamespaces) {
  EXPECT_EQ(NameOfType<Sandboxed<FsPathParams>>(), "SandboxedFsPathParams");
  EXPECT_EQ(NameOfType<Sample>(), "Sample");
}

TEST(SchemaBookDeathTest, DiesOfAStructThatBothSidesSendInDifferentForms) {
  SchemaBook book;
  (void)book.Of<Sample>(Sender::kClient);
  EXPECT_DEATH((void)book.Of<Sample>(Sender::kServer), "emplace");
}

TEST(KnownErrorsTest, HaveEveryCodeAndKindThatTheServerAnswers) {
  std::set<std::pair<int, std::string_view>> known, possible;
  for (const KnownError& error : kKnownErrors) known.emplace(ErrorCode(error.kind), ErrorName(error.kind));
  for (int kind = 0; kind <= static_cast<int>(ErrorKind::kCannotExecute); ++kind) {
    possible.emplace(ErrorCode(ErrorKind{kind}), ErrorName(ErrorKind{kind}));
  }
  EXPECT_EQ(known, possible);
}

TEST(IndentedJsonTest, BreaksWhatIsTooLongForALine) {
  const std::string many(40, '1');
  const std::string text =
      R"({"short":[1,{}],"long":{"a":")" + many + R"(","b":")" + many + R"(","c":")" + many + "\"}}";
  Document document;
  EXPECT_EQ(IndentedJson(document.Parse(text).value()), "{\n  \"short\": [1, {}],\n  \"long\": {\n    \"a\": \"" +
                                                            many + "\",\n    \"b\": \"" + many + "\",\n    \"c\": \"" +
                                                            many + "\"\n  }\n}");
}

}  // namespace
}  // namespace holdfast::wire
