#include "files/capabilities/capability_reader.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <string_view>

#include <fmt/format.h>

#include "base/file_uri.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "files/disk/file.h"
#include "files/disk/metadata.h"
#include "skills/front_matter.h"
#include "sys/open.h"
#include "sys/read_to_end.h"

namespace holdfast::files {
namespace {

// The member names and quotes around a file in JSON.
constexpr size_t kEnvelopeBytes = 64;

// Returns the length of the text in JSON, or somewhat more.
size_t JsonLength(std::string_view text) {
  size_t length = 0;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) {
      length += 6;
    } else {
      length += c == '"' || c == '\\' ? 2 : 1;
    }
  }
  return length;
}

Result<File> OpenItself(const std::string& path) {
  const std::string directory(ParentOf(path));
  TRY(const OwnedFd opened, sys::OpenAt(AT_FDCWD, directory, O_PATH | O_DIRECTORY, sys::Links::kFollow));
  return File::OpenForReadingAt(opened.get(), std::string(NameOf(path)), path);
}

// Returns whether there is a regular file at the path. A path that cannot be looked at counts as one, so that the error
// is reported when it is opened.
bool IsFile(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) < 0) return errno != ENOENT && errno != ENOTDIR && errno != ELOOP;
  return S_ISREG(status.st_mode);
}

}  // namespace

std::optional<wire::CapabilityFile> CapabilityReader::Read(const std::string& path, LastName last_name, Part part) {
  if (!IsFile(path)) return std::nullopt;
  auto text = ReadText(path, last_name);
  if (!text) {
    // A file that is gone by now is not there, and so is the placeholder of a sandbox.
    if (text.error().kind != ErrorKind::kNotFound) Warn(std::move(text).error().message);
    return std::nullopt;
  }
  if (part == Part::kFrontMatter) text->resize(skills::FrontMatterLength(*text));
  std::string uri = FileUri(path);
  if (!TakeRoom(JsonLength(*text) + uri.size() + kEnvelopeBytes)) return std::nullopt;
  return wire::CapabilityFile{.path = std::move(uri), .contents = *std::move(text)};
}

Result<std::string> CapabilityReader::ReadText(const std::string& path, LastName last_name) const {
  TRY(const File file,
      last_name == LastName::kIsNoLink ? OpenItself(path) : File::OpenForReading(path, Symlinks::kFollow));
  TRY(std::string text, sys::ReadToEnd(file.fd(), kMaxFileBytes, path));
  if (!IsUtf8(text)) return Fail(ErrorKind::kInvalidRequest, fmt::format("read {}: is not UTF-8", path));
  return text;
}

bool CapabilityReader::TakeRoom(size_t bytes) {
  if (bytes <= room_) {
    room_ -= bytes;
    return true;
  }
  if (!is_full_) Warn("some files are left out: together they are longer than a server reads");
  is_full_ = true;
  return false;
}

}  // namespace holdfast::files
