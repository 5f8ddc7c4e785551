#include "exec_server/fs_path.h"

#include "exec_server/fs_fixture.h"

namespace holdfast::exec_server {
namespace {

using testing::HasSubstr;

// Every place where a request names a path, as params with PATH in that place and a good path in the others. They touch
// nothing: all good paths are below one that does not exist.
struct Place {
  const char* method;
  const char* params;
};

constexpr Place kPlaces[] = {
    {"fs/readFile", R"({"path":PATH})"},
    {"fs/writeFile", R"({"path":PATH,"dataBase64":""})"},
    {"fs/createDirectory", R"({"path":PATH,"recursive":false})"},
    {"fs/getMetadata", R"({"path":PATH})"},
    {"fs/canonicalize", R"({"path":PATH})"},
    {"fs/readDirectory", R"({"path":PATH})"},
    {"fs/remove", R"({"path":PATH,"force":false})"},
    {"fs/copy", R"({"sourcePath":PATH,"destinationPath":"/missing/x","recursive":true})"},
    {"fs/copy", R"({"sourcePath":"/missing/x","destinationPath":PATH,"recursive":true})"},
    {"fs/rename", R"({"sourcePath":PATH,"destinationPath":"/missing/x"})"},
    {"fs/rename", R"({"sourcePath":"/missing/x","destinationPath":PATH})"},
    {"fs/walk",
     R"({"path":PATH,"options":{"maxDepth":1,"maxDirectories":1,"maxEntries":1,"followDirectorySymlinks":false}})"},
    {"fs/open", R"({"path":PATH,"handleId":"h"})"},
    {"fs/watchMissing", R"({"watchId":ID,"missing":[PATH]})"},
    {"fs/watchMissing", R"({"watchId":ID,"missing":["/missing/x"],"present":PATH})"},
};

class FsPathTest : public FsFixture {
 protected:
  // With `path`, a JSON value, put in; `more` are further members.
  Message Ask(const Place& place, std::string_view path, std::string_view more = "") {
    std::string params = place.params;
    Put(params, "PATH", path);
    Put(params, "ID", std::to_string(next_watch_id_++));
    params.insert(params.size() - 1, more);
    return Do(place.method, params);
  }

  // Nothing is there, which a watch does not mind.
  static int64_t MissingCode(const Place& place) {
    return place.method == std::string_view("fs/watchMissing") ? 0 : -32004;
  }

 private:
  static void Put(std::string& text, std::string_view mark, std::string_view value) {
    if (const size_t at = text.find(mark); at != std::string::npos) text.replace(at, mark.size(), value);
  }

  int next_watch_id_ = 1;
};

TEST_F(FsPathTest, EveryMethodTakesPathsAndUris) {
  for (const Place& place : kPlaces) {
    for (const char* path :
         {R"("/missing/y")", R"("file:///missing/y")", R"("file://localhost/missing/y")", R"("file:/missing/%79")",
          R"("/missing/./z/../y/")", R"("file:///missing/%FF")", R"("/missing/a b?c#d%00")"}) {
      const Message answer = Ask(place, path);
      EXPECT_EQ(answer.error_code(), MissingCode(place)) << place.params << " " << path << " " << answer;
    }
  }
}

TEST_F(FsPathTest, EveryMethodRefusesWhatIsNoPathOfThisMachine) {
  struct Refusal {
    const char* path;
    int code;
  };
  constexpr Refusal kRefusals[] = {
      {R"("")", -32602},
      {R"("relative/path")", -32602},
      {R"("~/x")", -32602},
      {R"("/nul\u0000byte")", -32602},
      {R"("file:relative")", -32602},
      {R"("file:///nul%00byte")", -32602},
      {R"("file:///x?query")", -32602},
      {R"("file:///x#fragment")", -32602},
      {R"("http://localhost/x")", -32602},
      {R"("file://elsewhere/x")", -32600},
      {"5", -32602},
      {R"(["/x"])", -32602},
  };
  for (const Place& place : kPlaces) {
    for (const auto& [path, code] : kRefusals) {
      const Message answer = Ask(place, path);
      EXPECT_EQ(answer.error_code(), code) << place.params << " " << path << " " << answer;
    }
  }
}

TEST_F(FsPathTest, EveryMethodTakesASandboxThatRestrictsNothing) {
  for (const Place& place : kPlaces) {
    for (const char* sandbox :
         {"null", R"({"permissions":{"type":"disabled"},"windowsSandboxLevel":"disabled"})",
          R"({"permissions":{"type":"external","network":"restricted"},"windowsSandboxLevel":"elevated","cwd":"/"})",
          R"({"permissions":{"type":"managed","file_system":{"type":"unrestricted"},"network":"enabled"},
              "windowsSandboxLevel":"restricted-token","workspaceRoots":[],"useLegacyLandlock":true})"}) {
      const Message answer = Ask(place, R"("/missing/y")", fmt::format(R"(,"sandbox":{})", sandbox));
      EXPECT_EQ(answer.error_code(), MissingCode(place)) << place.params << " " << sandbox << " " << answer;
    }
  }
}

// It could not be kept to.
TEST_F(FsPathTest, EveryMethodRefusesASandboxThatRestrictsFiles) {
  const std::string file = support::Quoted(MakeFile("file"));
  for (const Place& place : kPlaces) {
    const Message answer = Ask(place, file,
                               R"(,"sandbox":{"permissions":{"type":"managed","file_system":{"type":"restricted",
                                  "entries":[]},"network":"restricted"},"windowsSandboxLevel":"disabled"})");
    EXPECT_EQ(answer.error_code(), -32602) << place.params;
    EXPECT_THAT(answer.Text("error.message"), HasSubstr("sandbox")) << place.params;
  }
  EXPECT_EQ(fs::NamesIn(Path()), std::vector<std::string>{"file"});
}

TEST_F(FsPathTest, EveryMethodRefusesASandboxItCannotRead) {
  for (const Place& place : kPlaces) {
    for (const char* sandbox :
         {"{}", "[]", "true", R"("ReadOnly")", R"({"type":"read-only"})", R"({"permissions":{"type":"disabled"}})",
          R"({"permissions":{"type":"disabled"},"windowsSandboxLevel":"none"})",
          R"({"permissions":{},"windowsSandboxLevel":"disabled"})",
          R"({"permissions":null,"windowsSandboxLevel":"disabled"})",
          R"({"permissions":{"type":"bogus"},"windowsSandboxLevel":"disabled"})",
          R"({"permissions":{"type":"managed"},"windowsSandboxLevel":"disabled"})",
          R"({"permissions":{"type":"managed","file_system":null},"windowsSandboxLevel":"disabled"})",
          R"({"permissions":{"type":"managed","file_system":{}},"windowsSandboxLevel":"disabled"})",
          R"({"permissions":{"type":"managed","file_system":{"type":"open"}},"windowsSandboxLevel":"disabled"})"}) {
      const Message answer = Ask(place, R"("/missing/y")", fmt::format(R"(,"sandbox":{})", sandbox));
      EXPECT_EQ(answer.error_code(), -32602) << place.params << " " << sandbox << " " << answer;
    }
  }
}

}  // namespace
}  // namespace holdfast::exec_server
