#include "sandbox/bubblewrap/bubblewrap.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/sha256.h"
#include "sys/executable_image.h"

namespace holdfast::sandbox {
namespace {

constexpr std::string_view kName = "bwrap";
constexpr std::string_view kBundled = "holdfast-resources/bwrap";

// FileView maps a program file into memory.
class FileView {
 public:
  static Result<FileView> Map(int fd, const std::string& path) {
    struct stat status;
    if (::fstat(fd, &status) < 0) return FailErrno("fstat", path);
    const auto size = static_cast<size_t>(status.st_size);
    void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (start == MAP_FAILED) return FailErrno("mmap", path);
    return FileView(static_cast<const char*>(start), size);
  }
  ~FileView() {
    if (start_ != nullptr) ::munmap(const_cast<char*>(start_), size_);
  }
  FileView(FileView&& other) noexcept : start_(std::exchange(other.start_, nullptr)), size_(other.size_) {}
  FileView& operator=(FileView&&) = delete;

  std::string_view bytes() const { return {start_, size_}; }

 private:
  FileView(const char* start, size_t size) : start_(start), size_(size) {}

  const char* start_;
  size_t size_;
};

// Opens a program so that it can be read and executed. Returns nothing when the path is not an executable file.
std::optional<OwnedFd> OpenProgram(const std::string& path) {
  OwnedFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat status;
  if (!fd.is_open() || ::fstat(fd.get(), &status) < 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) < 0) return std::nullopt;
  return fd;
}

std::optional<Bubblewrap> SystemBubblewrap(const BubblewrapSearch& search) {
  std::optional<OwnedFd> program;
  const auto accept = [&](const std::string& path) {
    program = OpenProgram(path);
    if (!program) return false;
    const auto view = FileView::Map(program->get(), path);
    return view && MissingOptions(view->bytes()).empty();
  };
  auto path = FindTool(
      {.name = kName, .path_variable = search.path_variable, .untrusted = search.untrusted, .trust = search.trust},
      accept);
  if (!path) return std::nullopt;
  return Bubblewrap{.program = *std::move(program), .path = *std::move(path)};
}

Result<> CheckDigest(const OwnedFd& program, const std::string& path, std::string_view expected) {
  if (expected.find_first_not_of('0') == std::string_view::npos) return {};
  TRY(const FileView view, FileView::Map(program.get(), path));
  Sha256 sha;
  sha.Update(std::as_bytes(std::span(view.bytes())));
  const std::string digest = sha.HexDigest();
  if (digest == expected) return {};
  return Fail(ErrorKind::kInvalidRequest, fmt::format("{}: sha256 is {}, expected {}", path, digest, expected));
}

}  // namespace

std::vector<std::string_view> MissingOptions(std::string_view program_text) {
  std::vector<std::string_view> missing;
  std::ranges::copy_if(kNeededOptions, std::back_inserter(missing),
                       [&](std::string_view option) { return !program_text.contains(std::string(option) + '\0'); });
  return missing;
}

Result<Bubblewrap> FindBubblewrap(const BubblewrapSearch& search) {
  if (auto system = SystemBubblewrap(search)) return *std::move(system);
  const std::string path = fmt::format("{}/{}", search.own_directory, kBundled);
  auto program = OpenProgram(path);
  if (!program) {
    return Fail(ErrorKind::kNotFound, fmt::format("no bubblewrap: neither {} on PATH nor {}", kName, path));
  }
  // The digest is computed of a sealed copy, and the copy is executed: no process can change it in between.
  TRY(OwnedFd copy, sys::BeginExecutableCopy("bwrap"));
  TRY_VOID(sys::FinishExecutableCopy(copy.get(), program->get(), sys::ImageMode::kReadable));
  TRY_VOID(CheckDigest(copy, path, search.bundled_sha256));
  return Bubblewrap{std::move(copy), path};
}

}  // namespace holdfast::sandbox
