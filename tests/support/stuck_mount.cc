#include "support/stuck_mount.h"

#include <fcntl.h>
#include <linux/fuse.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/result.h"
#include "support/small_tmpfs.h"

namespace holdfast::support {
namespace {

constexpr uint64_t kFileNode = 2;
constexpr uint64_t kLongSeconds = 3600;
constexpr uint32_t kMaxWriteBytes = 32u << 10;
constexpr size_t kMaxQuestionBytes = 2 * kMaxWriteBytes;

struct Question {
  fuse_in_header header;
  const char* body;

  template <typename T>
  T As() const {
    T value;
    std::memcpy(&value, body, sizeof value);
    return value;
  }
};

// To one server, from one kernel.
class Answers {
 public:
  explicit Answers(int fd) : fd_(fd) {}

  void Give(const Question& question) const {
    switch (question.header.opcode) {
      case FUSE_INIT:
        return Initialize(question);
      case FUSE_LOOKUP:
        return LookUp(question);
      case FUSE_GETATTR:
      case FUSE_SETATTR:
        return Describe(question);
      case FUSE_OPEN:
        return Send(question, fuse_open_out{});
      case FUSE_READ:
        return Read(question);
      case FUSE_WRITE:
        return Send(question, fuse_write_out{question.As<fuse_write_in>().size, 0});
      case FUSE_FLUSH:  // what close waits for
      case FUSE_FORGET:
      case FUSE_BATCH_FORGET:
        return;
      default:
        return Refuse(question, question.header.opcode == FUSE_RELEASE ? 0 : ENOSYS);
    }
  }

 private:
  static fuse_attr AttributesOf(uint64_t node) {
    fuse_attr attributes = {};
    attributes.ino = node;
    attributes.mode = node == kFileNode ? S_IFREG | 0644 : S_IFDIR | 0755;
    attributes.size = node == kFileNode ? StuckMount::kContent.size() : 0;
    attributes.nlink = 1;
    return attributes;
  }

  void Initialize(const Question& question) const {
    fuse_init_out answer = {};
    answer.major = FUSE_KERNEL_VERSION;
    answer.minor = 31;
    answer.max_write = kMaxWriteBytes;
    Send(question, answer);
  }

  void LookUp(const Question& question) const {
    if (std::string_view(question.body) != "file") return Refuse(question, ENOENT);
    fuse_entry_out answer = {};
    answer.nodeid = kFileNode;
    answer.entry_valid = kLongSeconds;
    answer.attr_valid = kLongSeconds;
    answer.attr = AttributesOf(kFileNode);
    Send(question, answer);
  }

  void Describe(const Question& question) const {
    fuse_attr_out answer = {};
    answer.attr_valid = kLongSeconds;
    answer.attr = AttributesOf(question.header.nodeid);
    Send(question, answer);
  }

  void Read(const Question& question) const {
    const auto asked = question.As<fuse_read_in>();
    const std::string_view rest =
        StuckMount::kContent.substr(std::min<uint64_t>(asked.offset, StuckMount::kContent.size()));
    Send(question, 0, rest.substr(0, asked.size));
  }

  template <typename T>
  void Send(const Question& question, const T& answer) const {
    Send(question, 0, {reinterpret_cast<const char*>(&answer), sizeof answer});
  }
  void Refuse(const Question& question, int errno_value) const { Send(question, -errno_value, {}); }

  // A kernel that does not want the answer any more says so, which is no failure.
  void Send(const Question& question, int error, std::string_view body) const {
    fuse_out_header header = {static_cast<uint32_t>(sizeof header + body.size()), error, question.header.unique};
    const iovec parts[] = {{&header, sizeof header}, {const_cast<char*>(body.data()), body.size()}};
    (void)::writev(fd_, parts, std::size(parts));
  }

  int fd_;
};

}  // namespace

StuckMount::StuckMount(Silence silence) : why_not_(EnterPrivateMounts()) {
  if (!why_not_.empty()) return;
  server_ = OwnedFd(::open("/dev/fuse", O_RDWR | O_CLOEXEC));
  if (!server_.is_open()) {
    why_not_ = "no /dev/fuse: " + ErrnoText(errno);
    return;
  }
  const std::string options = fmt::format("fd={},rootmode=40000,user_id=0,group_id=0", server_.get());
  if (::mount("stuck", path().c_str(), "fuse", MS_NOSUID | MS_NODEV, options.c_str()) < 0) {
    why_not_ = "no FUSE: " + ErrnoText(errno);
    return;
  }
  if (silence == Silence::kOnClose) thread_ = std::thread([this] { Serve(); });
}

StuckMount::~StuckMount() { Release(); }

void StuckMount::Release() {
  if (!server_.is_open()) return;
  ::umount2(path().c_str(), MNT_FORCE | MNT_DETACH);
  if (thread_.joinable()) thread_.join();
  server_.Reset();
}

void StuckMount::Serve() const {
  alignas(fuse_in_header) std::array<char, kMaxQuestionBytes> buffer;
  const Answers answers(server_.get());
  for (;;) {
    const ssize_t size = ::read(server_.get(), buffer.data(), buffer.size());
    if (size < 0 && (errno == EINTR || errno == ENOENT)) continue;  // a question that was taken back
    if (size < static_cast<ssize_t>(sizeof(fuse_in_header))) return;
    Question question = {.header = {}, .body = buffer.data() + sizeof(fuse_in_header)};
    std::memcpy(&question.header, buffer.data(), sizeof question.header);
    answers.Give(question);
  }
}

}  // namespace holdfast::support
