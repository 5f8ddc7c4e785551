#include "sandbox/jail/inner_orders.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace holdfast::sandbox {
namespace {

// The version stands for the whole layout. No other version is accepted, because both stages are the same program.
constexpr std::string_view kHeader = "holdfast orders 4\n";
// This is more than the kernel accepts as arguments of a program, together with the rules of a large policy.
constexpr size_t kMaxBytes = 16u << 20;
constexpr uint32_t kMaxFd = 1u << 20;
constexpr auto kMaxFilter = static_cast<uint32_t>(Filter::kProxyNoListening);
constexpr auto kMaxCheck = static_cast<uint32_t>(MountCheck::Kind::kHeld);
constexpr auto kMaxRights = static_cast<uint32_t>(LandlockRule::Rights::kList);

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  void Number(uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8) out_.push_back(static_cast<char>(value >> shift & 0xff));
  }
  void Identity(const sys::FileIdentity& identity) {
    for (const uint64_t value : {identity.device, identity.inode}) {
      Number(static_cast<uint32_t>(value));
      Number(static_cast<uint32_t>(value >> 32));
    }
  }
  void Text(std::string_view text) {
    Number(static_cast<uint32_t>(text.size()));
    out_ += text;
  }
  void Texts(const std::vector<std::string>& texts) {
    Number(static_cast<uint32_t>(texts.size()));
    for (const std::string& text : texts) Text(text);
  }

 private:
  std::string& out_;
};

// Reader decodes the fields one after the other. After the first error it stays in the error state and reads only empty
// values, so that one check at the end is enough.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  bool Expect(std::string_view text) { return Bytes(text.size()) == text || Spoil(); }

  uint32_t Number(uint32_t max) {
    const std::string_view bytes = Bytes(4);
    if (bytes.empty()) return 0;
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i) value |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    return value <= max || Spoil() ? value : 0;
  }

  sys::FileIdentity Identity() {
    sys::FileIdentity identity;
    for (uint64_t* const value : {&identity.device, &identity.inode}) {
      *value = Number(UINT32_MAX);
      *value |= uint64_t{Number(UINT32_MAX)} << 32;
    }
    return identity;
  }

  // Reads the number of elements that follow. Each takes at least four bytes, so a small input cannot claim many.
  uint32_t Count() { return Number(static_cast<uint32_t>(std::min(left_.size(), kMaxBytes) / 4)); }

  std::string Text() {
    const std::string_view text = Bytes(Number(kMaxBytes));
    if (text.contains('\0')) Spoil();
    return std::string(text);
  }

  std::vector<std::string> Texts() {
    std::vector<std::string> texts;
    for (uint32_t left = Count(); good_ && left > 0; --left) texts.push_back(Text());
    return texts;
  }

  std::string Path() {
    std::string path = Text();
    if (!path.starts_with('/')) Spoil();
    return path;
  }

  bool Spoil() {
    good_ = false;
    left_ = {};
    return false;
  }
  bool good() const { return good_; }
  bool complete() const { return good_ && left_.empty(); }

 private:
  std::string_view Bytes(size_t size) {
    if (size > left_.size()) {
      Spoil();
      return {};
    }
    const std::string_view bytes = left_.substr(0, size);
    left_.remove_prefix(size);
    return bytes;
  }

  std::string_view left_;
  bool good_ = true;
};

// Reads a descriptor, which must not be one of the standard streams.
int ReadFd(Reader& reader) {
  const int fd = static_cast<int>(reader.Number(kMaxFd));
  if (fd <= 2) reader.Spoil();
  return fd;
}

std::vector<int> ReadFds(Reader& reader) {
  std::vector<int> fds;
  for (uint32_t left = reader.Count(); reader.good() && left > 0; --left) {
    const int fd = ReadFd(reader);
    if (!fds.empty() && fd <= fds.back()) reader.Spoil();  // in rising order, so that no descriptor comes twice
    fds.push_back(fd);
  }
  return fds;
}

void WriteProxy(Writer& writer, const ProxyOrders& proxy) {
  writer.Number(static_cast<uint32_t>(proxy.control_fd));
  writer.Number(proxy.listeners);
  writer.Number(static_cast<uint32_t>(proxy.variables.size()));
  for (const ProxyVariable& variable : proxy.variables) {
    writer.Text(variable.name);
    writer.Text(variable.before);
    writer.Text(variable.after);
    writer.Number(variable.endpoint);
  }
}

ProxyOrders ReadProxy(Reader& reader) {
  ProxyOrders proxy;
  proxy.control_fd = ReadFd(reader);
  proxy.listeners = reader.Number(kMaxProxyEndpoints);
  if (proxy.listeners == 0) reader.Spoil();
  for (uint32_t left = reader.Count(); reader.good() && left > 0; --left) {
    ProxyVariable variable = {.name = reader.Text(), .before = reader.Text(), .after = reader.Text()};
    if (variable.name.empty() || variable.name.contains('=')) reader.Spoil();
    variable.endpoint = reader.Number(proxy.listeners - 1);
    proxy.variables.push_back(std::move(variable));
  }
  return proxy;
}

void WriteStreams(Writer& writer, const Streams& streams) {
  for (const int fd : {streams.in, streams.out, streams.err}) writer.Number(static_cast<uint32_t>(fd));
}

Streams ReadStreams(Reader& reader) {
  Streams streams;
  for (int* const fd : {&streams.in, &streams.out, &streams.err}) *fd = ReadFd(reader);
  return streams;
}

}  // namespace

std::string Encode(const InnerOrders& orders) {
  std::string bytes(kHeader);
  Writer writer(bytes);
  writer.Texts(orders.command.argv);
  writer.Text(orders.command.program);
  writer.Number(orders.built_in ? 1 : 0);
  writer.Number(static_cast<uint32_t>(orders.absent.size()));
  for (const std::string& path : orders.absent) writer.Text(path);
  writer.Number(orders.environment ? 1 : 0);
  if (orders.environment) writer.Texts(*orders.environment);
  writer.Text(orders.command.cwd);
  writer.Number(static_cast<uint32_t>(orders.filter));
  writer.Number(static_cast<uint32_t>(orders.mounts.size()));
  for (const MountCheck& check : orders.mounts) {
    writer.Text(check.path);
    writer.Number(static_cast<uint32_t>(check.kind));
    writer.Identity(check.outside);
  }
  writer.Number(static_cast<uint32_t>(orders.landlock.size()));
  for (const LandlockRule& rule : orders.landlock) {
    writer.Number(static_cast<uint32_t>(rule.rights));
    writer.Text(rule.path);
    writer.Number(rule.identity ? 1 : 0);
    if (rule.identity) writer.Identity(*rule.identity);
  }
  std::vector<int> fds = orders.kept_fds;
  std::ranges::sort(fds);
  writer.Number(static_cast<uint32_t>(fds.size()));
  for (const int fd : fds) writer.Number(static_cast<uint32_t>(fd));
  writer.Number(orders.port_ruleset_fd ? 1 : 0);
  if (orders.port_ruleset_fd) writer.Number(static_cast<uint32_t>(*orders.port_ruleset_fd));
  writer.Number(orders.proxy ? 1 : 0);
  if (orders.proxy) WriteProxy(writer, *orders.proxy);
  writer.Number(orders.streams ? 1 : 0);
  if (orders.streams) WriteStreams(writer, *orders.streams);
  writer.Number(orders.report_fd ? 1 : 0);
  if (orders.report_fd) writer.Number(static_cast<uint32_t>(*orders.report_fd));
  writer.Text(orders.enforcement.backend);
  writer.Text(orders.enforcement.reason);
  writer.Number(orders.lifeline_fd ? 1 : 0);
  if (orders.lifeline_fd) writer.Number(static_cast<uint32_t>(*orders.lifeline_fd));
  writer.Number(orders.control_fd ? 1 : 0);
  if (orders.control_fd) writer.Number(static_cast<uint32_t>(*orders.control_fd));
  writer.Number(orders.exec_supervisor_fd ? 1 : 0);
  if (orders.exec_supervisor_fd) writer.Number(static_cast<uint32_t>(*orders.exec_supervisor_fd));
  return bytes;
}

Result<InnerOrders> DecodeOrders(std::string_view bytes) {
  if (bytes.size() > kMaxBytes) return Fail(ErrorKind::kLimit, "orders: too long");
  Reader reader(bytes);
  if (!reader.Expect(kHeader)) {
    return Fail(ErrorKind::kInvalidParams, "orders: they are not from this version of the helper");
  }
  InnerOrders orders;
  orders.command.argv = reader.Texts();
  orders.command.program = reader.Text();
  orders.built_in = reader.Number(1) == 1;
  if (orders.command.argv.empty() != orders.built_in) reader.Spoil();
  for (uint32_t left = reader.Count(); reader.good() && left > 0; --left) orders.absent.push_back(reader.Path());
  if (!orders.absent.empty() && !orders.built_in) reader.Spoil();
  if (reader.Number(1) == 1) orders.environment = reader.Texts();
  orders.command.cwd = reader.Text();
  if (!orders.command.cwd.empty() && !orders.command.cwd.starts_with('/')) reader.Spoil();
  orders.filter = static_cast<Filter>(reader.Number(kMaxFilter));
  for (uint32_t left = reader.Count(); reader.good() && left > 0; --left) {
    MountCheck check = {.path = reader.Path()};
    check.kind = static_cast<MountCheck::Kind>(reader.Number(kMaxCheck));
    check.outside = reader.Identity();
    orders.mounts.push_back(std::move(check));
  }
  for (uint32_t left = reader.Count(); reader.good() && left > 0; --left) {
    const auto rights = static_cast<LandlockRule::Rights>(reader.Number(kMaxRights));
    orders.landlock.push_back({.path = reader.Path(), .rights = rights});
    if (reader.Number(1) == 1) orders.landlock.back().identity = reader.Identity();
  }
  orders.kept_fds = ReadFds(reader);
  if (reader.Number(1) == 1) orders.port_ruleset_fd = ReadFd(reader);
  if (reader.Number(1) == 1) orders.proxy = ReadProxy(reader);
  if (reader.Number(1) == 1) orders.streams = ReadStreams(reader);
  if (reader.Number(1) == 1) orders.report_fd = ReadFd(reader);
  orders.enforcement.backend = reader.Text();
  orders.enforcement.reason = reader.Text();
  if (reader.Number(1) == 1) orders.lifeline_fd = ReadFd(reader);
  if (reader.Number(1) == 1) orders.control_fd = ReadFd(reader);
  if (orders.control_fd && orders.lifeline_fd) reader.Spoil();
  if (reader.Number(1) == 1) orders.exec_supervisor_fd = ReadFd(reader);
  if (orders.exec_supervisor_fd && orders.built_in) reader.Spoil();  // the file helper executes nothing
  if (!reader.complete()) return Fail(ErrorKind::kInvalidParams, "orders: damaged");
  return orders;
}

}  // namespace holdfast::sandbox
