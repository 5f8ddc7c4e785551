#include "support/test_network.h"

#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/eventually.h"

namespace holdfast::support {
namespace {

constexpr size_t kMaxMachines = 16;

// The addresses are those that RFC 5737 reserves for documentation.
std::string AddressOf(size_t number) { return fmt::format("192.0.2.{}", number); }
std::string HardwareAddressOf(size_t number) { return fmt::format("02:00:00:00:02:{:02x}", number); }

// Runs a script of the program ip on a host. Returns its complaints.
std::string Configure(const TestHost& host, const std::string& script, int inherited = -1) {
  const Outcome done = host.Start({"/bin/sh", "-ec", script}, inherited).Finish();
  return done.status == 0 ? "" : fmt::format("{}: exit {}: {}", script, done.status, done.err);
}

// The hosts know the hardware addresses of all others beforehand. So a host that is cut off or missing is not
// discovered by questions without an answer, after which connect would fail with "No route to host".
std::string LinkScript(size_t number) {
  std::string script = fmt::format("ip link set lo up; ip address add {}/24 dev eth0; ip link set eth0 address {} up\n",
                                   AddressOf(number), HardwareAddressOf(number));
  for (size_t other = 1; other <= kMaxMachines; ++other) {
    if (other == number) continue;
    script += fmt::format("ip neighbour replace {} lladdr {} nud permanent dev eth0\n", AddressOf(other),
                          HardwareAddressOf(other));
  }
  return script;
}

// The kernel tells the bridge a moment later that the link is up. A frame that comes earlier is lost.
void AwaitForwarding(const TestHost& the_switch, const std::string& port) {
  EXPECT_TRUE(Eventually(
      [&] { return the_switch.Start({"ip", "-d", "link", "show", port}).Finish().out.contains("state forwarding"); }));
}

}  // namespace

TestNetwork::TestNetwork()
    : hosts_file_(dir_.Write("hosts", "127.0.0.1 localhost\n")), switch_(hosts_file_), why_not_(switch_.why_not()) {
  if (why_not_.empty()) why_not_ = Configure(switch_, "ip link add switch type bridge; ip link set switch up");
}

TestNetwork::Machine& TestNetwork::Add() {
  const size_t number = machines_.size() + 1;
  EXPECT_LE(number, kMaxMachines);
  const std::string port = fmt::format("port{}", number);
  machines_.push_back(std::unique_ptr<Machine>(
      new Machine{.address = AddressOf(number), .port = port, .host = TestHost(hosts_file_, &switch_)}));
  Machine& machine = *machines_.back();
  EXPECT_EQ(machine.host.why_not(), "");
  const OwnedFd network = machine.host.OpenNetwork();
  EXPECT_EQ(Configure(switch_,
                      fmt::format("ip link add {0} type veth peer name eth0 netns /proc/self/fd/3\n"
                                  "ip link set {0} master switch up",
                                  port),
                      network.get()),
            "");
  EXPECT_EQ(Configure(machine.host, LinkScript(number)), "");
  AwaitForwarding(switch_, port);
  return machine;
}

// The interface of the switch stays up, so the host does not notice anything.
void TestNetwork::Cut(const Machine& machine) const {
  EXPECT_EQ(Configure(switch_, fmt::format("ip link set {} nomaster", machine.port)), "");
}

void TestNetwork::Heal(const Machine& machine) const {
  EXPECT_EQ(Configure(switch_, fmt::format("ip link set {} master switch", machine.port)), "");
  AwaitForwarding(switch_, machine.port);
}

void TestNetwork::PowerOff(Machine& machine) const {
  Cut(machine);
  machine.host.Kill();
}

// The file is rewritten in its place, because it is mounted on each host.
void TestNetwork::SetName(std::string_view name, const std::vector<const Machine*>& machines) {
  for (const Machine* machine : machines) names_ += fmt::format("{} {}\n", machine->address, name);
  std::ofstream(hosts_file_, std::ios::trunc) << "127.0.0.1 localhost\n" << names_;
}

}  // namespace holdfast::support
