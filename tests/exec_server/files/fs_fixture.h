// FsFixture is a server with one client and a directory of its own, for the tests of the fs/* methods.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_uri.h"
#include "exec_server/server_fixture.h"
#include "files/disk/storage_fixture.h"
#include "support/scratch_dir.h"

namespace holdfast::exec_server {

class FsFixture : public ServerFixture {
 protected:
  FsFixture() : old_umask_(::umask(022)) {}
  ~FsFixture() override { ::umask(old_umask_); }

  // Returns the first client. It connects at the first call, so a test can change the config before.
  Client& Me() { return clients_.empty() ? ConnectReady() : *clients_.front(); }

  // Sends a request and returns its answer. Earlier messages are forgotten, because searching all of them for each
  // answer takes time.
  Message Do(std::string_view method, std::string_view params) {
    Me().Forget();
    return Call(Me(), method, params);
  }
  int64_t CodeOf(std::string_view method, std::string_view params) { return Do(method, params).error_code(); }
  bool RunUntilAnswered(int id) {
    return RunUntil([&] { return Me().AnswerTo(id).has_value(); });
  }
  int64_t CodeOf(int id) {
    EXPECT_TRUE(RunUntilAnswered(id));
    return Me().AnswerTo(id).value_or(Message()).error_code();
  }

  const std::string& Path() const { return dir_.path(); }
  std::string Path(std::string_view name) const { return dir_.path() + "/" + std::string(name); }

  std::string MakeFile(std::string_view name, std::string_view text = "", mode_t mode = 0644) const {
    return dir_.Write(name, text, mode);
  }
  std::string MakeDirectory(std::string_view name) const {
    EXPECT_EQ(::mkdir(Path(name).c_str(), 0755), 0) << name;
    return Path(name);
  }
  std::string MakeLink(std::string_view name, const std::string& target) const {
    EXPECT_EQ(::symlink(target.c_str(), Path(name).c_str()), 0) << name;
    return Path(name);
  }
  std::string MakeFifo(std::string_view name) const {
    EXPECT_EQ(::mkfifo(Path(name).c_str(), 0666), 0) << name;
    return Path(name);
  }

  // Returns {"path":...} with `more` as further members. A path that is not UTF-8 has to be passed as a URI.
  static std::string At(std::string_view path, std::string_view more = "") {
    return fmt::format(R"({{"path":{}{}{}}})", support::Quoted(path), more.empty() ? "" : ",", more);
  }
  static std::string FromTo(std::string_view source, std::string_view destination, std::string_view more = "") {
    return fmt::format(R"({{"sourcePath":{},"destinationPath":{}{}{}}})", support::Quoted(source),
                       support::Quoted(destination), more.empty() ? "" : ",", more);
  }
  static std::string Data(std::string_view bytes) {
    return fmt::format(R"("dataBase64":"{}")", support::Base64(bytes));
  }

  support::ScratchDir dir_;

 private:
  mode_t old_umask_;
};

constexpr char kNoFollow[] = R"("followSymlinks":false)";

}  // namespace holdfast::exec_server
