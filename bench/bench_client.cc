#include "bench_client.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>

#include <fmt/format.h>

#include "base/base64.h"

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 20s;
constexpr size_t kBufferBytes = 512 * 1024;
constexpr size_t kLeastRead = 64 * 1024;

constexpr uint8_t kText = 0x1;
constexpr uint8_t kPing = 0x9;
constexpr uint8_t kPong = 0xa;
constexpr uint8_t kFinal = 0x80;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  Require(file.is_open(), path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the fields of /proc/PID/stat from the third on, which is the state. The second field is a name that may
// contain spaces.
std::string StatFromState(pid_t pid) {
  const std::string stat = ReadFile(fmt::format("/proc/{}/stat", pid));
  return stat.substr(stat.rfind(')') + 2);
}

[[noreturn]] void ExecServerInChild(int output) {
  (void)::prctl(
      PR_SET_PDEATHSIG,
      SIGTERM);  // the server ends with the benchmark; if this fails, only a failed benchmark leaves one behind
  ::dup2(output, STDOUT_FILENO);
  ::execl(HOLDFAST_BINARY, "holdfast", "exec-server", "--log-level", "warn", nullptr);
  ::_exit(127);
}

ServerAddress ReadAddress(int output) {
  std::string line;
  char c = 0;
  while (::read(output, &c, 1) == 1 && c != '\n') line += c;
  ServerAddress address;
  const size_t colon = line.rfind(':'), slash = line.find('/', colon);
  Require(line.starts_with("ws://") && slash != line.npos, HOLDFAST_BINARY " did not print its URL");
  std::from_chars(line.data() + colon + 1, line.data() + slash, address.port);
  address.path = line.substr(slash);
  return address;
}

OwnedFd Connect(uint16_t port) {
  OwnedFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  const timeval patience{.tv_sec = kPatience.count(), .tv_usec = 0};
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  Require(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "connect to the server");
  return socket;
}

// Returns the rest of the message from the value of the member on.
std::string_view From(std::string_view message, std::string_view name) {
  std::array<char, 32> key;
  const auto end = fmt::format_to_n(key.begin(), key.size(), "\"{}\":", name).out;
  const std::string_view quoted(key.data(), static_cast<size_t>(end - key.begin()));
  const size_t at = message.find(quoted);
  Require(at != message.npos, fmt::format("no {} in {}", name, message.substr(0, 200)));
  return message.substr(at + quoted.size());
}

// The flood consists of printable characters, so that a terminal passes them on unchanged. Its period is a multiple of
// 3, so that its base64 is periodic too. The period does not divide the size of a block, so that a lost block is
// noticed.
constexpr size_t kFloodPeriod = 93;
constexpr size_t kBlockBytes = 64 * 1024;

char FloodByte(size_t index) { return static_cast<char>('!' + index % kFloodPeriod); }

std::string FloodBytes(size_t from, size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = FloodByte(from + i);
  return bytes;
}

bool IsError(std::string_view message) { return Method(message).empty() && message.find("\"error\":") != message.npos; }

}  // namespace

void Require(bool holds, std::string_view reason) {
  if (holds) return;
  fmt::print(stderr, "server_bench: {}\n", reason);
  std::exit(1);
}

Server::Server() {
  int output[2];
  Require(::pipe2(output, O_CLOEXEC) == 0, "pipe2");
  const OwnedFd read_end(output[0]);
  OwnedFd write_end(output[1]);
  pid_ = ::fork();
  if (pid_ == 0) ExecServerInChild(write_end.get());
  Require(pid_ > 0, "fork");
  write_end.Reset();
  address_ = ReadAddress(read_end.get());
}

Server::~Server() {
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
}

void Server::AwaitQuiet(size_t children) const {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  const std::string path = fmt::format("/proc/{0}/task/{0}/children", pid_);
  for (;;) {
    const std::string pids = ReadFile(path);
    const auto count = static_cast<size_t>(std::ranges::count(pids, ' '));
    if (count == children && StatFromState(pid_).starts_with('S')) return;
    Require(std::chrono::steady_clock::now() < deadline,
            fmt::format("the server did not become quiet; it has {} children instead of {}", count, children));
  }
}

double Server::CpuSeconds() const {
  unsigned long user = 0;
  unsigned long system = 0;
  const std::string stat = StatFromState(pid_);
  const int found = std::sscanf(stat.c_str(), "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
  Require(found == 2, "utime and stime in /proc/PID/stat");
  return static_cast<double>(user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

// The number comes from smaps_rollup, for which the kernel walks the pages. VmRSS and statm may be off by some dozen
// pages per CPU.
double Server::RssKib() const {
  const std::string rollup = ReadFile(fmt::format("/proc/{}/smaps_rollup", pid_));
  const size_t at = rollup.find("\nRss:");
  Require(at != rollup.npos, "Rss in smaps_rollup");
  return std::strtod(rollup.c_str() + at + 5, nullptr);
}

Client::Client(const ServerAddress& address) : socket_(Connect(address.port)), buffer_(kBufferBytes) {
  Upgrade(address.path);
  Call("initialize", R"({"clientName":"server_bench"})");
  SendFrame(kText, R"({"method":"initialized","params":{}})");
}

void Client::Upgrade(const std::string& path) {
  SendAll("GET " + path +
          " HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n");
  for (;;) {
    Fill();
    const std::string_view head(buffer_.data(), end_);
    if (const size_t blank = head.find("\r\n\r\n"); blank != head.npos) {
      Require(head.starts_with("HTTP/1.1 101"), head.substr(0, blank));
      begin_ = blank + 4;
      return;
    }
  }
}

void Client::Send(std::string_view method, std::string_view params) {
  outgoing_.clear();
  fmt::format_to(std::back_inserter(outgoing_), R"({{"id":{},"method":"{}","params":{}}})", ++last_id_, method, params);
  SendFrame(kText, outgoing_);
}

std::string_view Client::Receive() {
  for (;;) {
    const std::optional<Frame> frame = TakeFrame();
    if (!frame) {
      Fill();
    } else if (frame->opcode == (kFinal | kText)) {
      Require(!IsError(frame->payload), frame->payload);
      return frame->payload;
    } else {
      Require(frame->opcode == (kFinal | kPing), "the server closed the connection or fragmented a message");
      SendFrame(kPong, frame->payload);
    }
  }
}

std::string_view Client::Call(std::string_view method, std::string_view params) {
  Send(method, params);
  for (;;) {
    const std::string_view message = Receive();
    if (Method(message).empty()) return message;
  }
}

// The mask of the frame is zero, so that the payload need not be changed.
void Client::SendFrame(uint8_t opcode, std::string_view payload) {
  Require(payload.size() < 1 << 16, "the benchmark's client sends no message of 64 KiB or more");
  std::string frame;
  frame.reserve(payload.size() + 8);
  frame += static_cast<char>(kFinal | opcode);
  if (payload.size() < 126) {
    frame += static_cast<char>(0x80 | payload.size());
  } else {
    frame += {static_cast<char>(0x80 | 126), static_cast<char>(payload.size() >> 8), static_cast<char>(payload.size())};
  }
  frame.append(4, '\0');
  frame += payload;
  SendAll(frame);
}

void Client::SendAll(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    Require(sent > 0, "send to the server");
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

std::optional<Client::Frame> Client::TakeFrame() {
  const std::string_view bytes(buffer_.data() + begin_, end_ - begin_);
  if (bytes.size() < 2) return std::nullopt;
  const size_t code = static_cast<uint8_t>(bytes[1]);  // a server's frame has no mask bit
  const size_t length_bytes = code == 127 ? 8 : code == 126 ? 2 : 0;
  if (bytes.size() < 2 + length_bytes) return std::nullopt;
  size_t length = length_bytes == 0 ? code : 0;
  for (const char c : bytes.substr(2, length_bytes)) length = length << 8 | static_cast<uint8_t>(c);
  if (bytes.size() < 2 + length_bytes + length) return std::nullopt;
  begin_ += 2 + length_bytes + length;
  return Frame{static_cast<uint8_t>(bytes[0]), bytes.substr(2 + length_bytes, length)};
}

// Receives more bytes. Only the beginning of an incomplete frame is ever moved, and only once per buffer.
void Client::Fill() {
  if (buffer_.size() - end_ < kLeastRead || begin_ == end_) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() - end_ < kLeastRead) buffer_.resize(buffer_.size() * 2);
  const ssize_t received = ::recv(socket_.get(), buffer_.data() + end_, buffer_.size() - end_, 0);
  Require(received > 0, "the server closed the connection or fell silent");
  end_ += static_cast<size_t>(received);
}

std::string_view Method(std::string_view message) {
  return message.find("\"method\":") == message.npos ? std::string_view() : TextField(message, "method");
}

std::string_view TextField(std::string_view message, std::string_view name) {
  const std::string_view value = From(message, name).substr(1);
  return value.substr(0, value.find('"'));
}

int64_t NumberField(std::string_view message, std::string_view name) {
  const std::string_view value = From(message, name);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  Require(error == std::errc(), name);
  return number;
}

int WriteFlood(size_t total) {
  const std::string bytes = FloodBytes(0, kFloodPeriod + kBlockBytes);
  for (size_t at = 0; at < total;) {
    const ssize_t n = ::write(STDOUT_FILENO, bytes.data() + at % kFloodPeriod, std::min(kBlockBytes, total - at));
    if (n <= 0) return 1;
    at += static_cast<size_t>(n);
  }
  return 0;
}

FloodCheck::FloodCheck() {
  for (size_t shift = 0; shift < texts_.size(); ++shift) {
    const std::string bytes = FloodBytes(shift, kFloodPeriod + kBlockBytes);
    texts_[shift] = Base64Encode(std::as_bytes(std::span(bytes)));
  }
}

void FloodCheck::Check(std::string_view chunk) {
  Require(chunk.size() >= 4 && chunk.size() <= Base64EncodedSize(kBlockBytes),
          "a chunk of the output is empty or has more than 64 KiB");
  const size_t whole = chunk.size() - 4;  // the last group may be padded
  const size_t phase = bytes_ % kFloodPeriod;
  const auto expected = std::string_view(texts_[phase % 3]).substr(phase / 3 * 4, whole);
  const std::string last = Base64Decode(chunk.substr(whole)).value_or("");
  bytes_ += whole / 4 * 3;
  Require(chunk.starts_with(expected) && !last.empty() && last == FloodBytes(bytes_, last.size()),
          "the output is not what was written");
  bytes_ += last.size();
}

}  // namespace holdfast::bench
