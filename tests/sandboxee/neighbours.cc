#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sandboxee/surroundings.h"

namespace holdfast::sandboxee {
namespace {

constexpr int kFlags = SOCK_NONBLOCK | SOCK_CLOEXEC;

// The name is a path, or after an @ a name in the abstract namespace. All users may use the socket.
OwnedFd Bind(int type, const std::string& name) {
  OwnedFd fd(::socket(AF_UNIX, type | kFlags, 0));
  sockaddr_un address = {AF_UNIX, {}};
  name.copy(address.sun_path, sizeof address.sun_path - 1);
  if (name[0] == '@') address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), size), 0) << name;
  if (name[0] != '@') EXPECT_EQ(::chmod(name.c_str(), 0777), 0);
  if (type == SOCK_STREAM) EXPECT_EQ(::listen(fd.get(), 8), 0);
  return fd;
}

OwnedFd BindLoopback(int type) {
  OwnedFd fd(::socket(AF_INET, type | kFlags, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  if (type == SOCK_STREAM) EXPECT_EQ(::listen(fd.get(), 8), 0);
  return fd;
}

std::string Port(const OwnedFd& socket) {
  sockaddr_in address = {};
  socklen_t size = sizeof address;
  EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  return std::to_string(ntohs(address.sin_port));
}

// Accepts all waiting connections. Returns whether there were any.
bool Accepts(const OwnedFd& listener) {
  bool any = false;
  while (OwnedFd(::accept4(listener.get(), nullptr, nullptr, kFlags)).is_open()) any = true;
  return any;
}

bool Receives(const OwnedFd& fd) {
  bool any = false;
  for (char byte; ::read(fd.get(), &byte, 1) > 0;) any = true;
  return any;
}

const std::string& GivenTo(uid_t user, const std::string& path) {
  EXPECT_EQ(::chown(path.c_str(), user, user), 0) << path;
  return path;
}

// Returns the disk that holds /, if there is one.
std::string DiskDevice() {
  for (const char* name : {"/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/xvda", "/dev/loop0"}) {
    if (std::filesystem::exists(name)) return name;
  }
  return "/dev/sda";
}

}  // namespace

Neighbours::Neighbours(uid_t user)
    : mark_(fmt::format("sandboxee-{}", ::getpid())),
      stream_(Bind(SOCK_STREAM, directory_.path() + "/stream")),
      abstract_(Bind(SOCK_STREAM, "@" + mark_)),
      datagram_(Bind(SOCK_DGRAM, directory_.path() + "/datagram")),
      tcp_(BindLoopback(SOCK_STREAM)),
      udp_(BindLoopback(SOCK_DGRAM)),
      shared_file_(::open(("/dev/shm/" + mark_).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600)),
      segment_(::shmget(IPC_PRIVATE, 1, 0666)),
      queue_(::mq_open(("/" + mark_).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600, nullptr)),
      sleeper_(user, GivenTo(user, directory_.path())) {
  const std::string& d = directory_.path();
  const std::string fifo = d + "/fifo", file = directory_.Write("file.txt", "outside\n");
  EXPECT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  fifo_ = OwnedFd(::open(fifo.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  for (const std::string& path : {fifo, file}) GivenTo(user, path);
  for (const int fd : {shared_file_.get(), queue_}) EXPECT_TRUE(fd < 0 || ::fchown(fd, user, user) == 0);
  shared_ = static_cast<char*>(::shmat(segment_, nullptr, 0));
  places_ = {{"host", d},
             {"abstract", "@" + mark_},
             {"mark", mark_},
             {"tcp", Port(tcp_)},
             {"udp", Port(udp_)},
             {"segment", std::to_string(segment_)},
             {"pid", std::to_string(sleeper_.pid())},
             {"disk", DiskDevice()}};
}

Neighbours::~Neighbours() {
  ::shmdt(shared_);
  ::shmctl(segment_, IPC_RMID, nullptr);
  ::shm_unlink(("/" + mark_).c_str());
  if (queue_ < 0) return;
  ::mq_close(queue_);
  ::mq_unlink(("/" + mark_).c_str());
}

std::string Neighbours::Heard() {
  std::string heard;
  const auto note = [&](bool arrived, std::string_view where) {
    if (arrived) heard += fmt::format("{} ", where);
  };
  note(Accepts(stream_), "stream");
  note(Accepts(abstract_), "abstract");
  note(Accepts(tcp_), "tcp");
  note(Receives(datagram_), "datagram");
  note(Receives(udp_), "udp");
  note(Receives(fifo_), "fifo");
  note(Receives(shared_file_), "shared memory");
  note(std::exchange(*shared_, '\0') != '\0', "segment");
  return heard;
}

}  // namespace holdfast::sandboxee
