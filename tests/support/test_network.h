// A test network is a switch with hosts, for tests of what happens when machines and the links between them fail. All
// of it is made of namespaces, so a test needs no real network and reaches none. A link that is cut drops packets
// without a word, like a cable that is pulled out far away: no connection is refused or reset.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/scratch_dir.h"
#include "support/test_host.h"

namespace holdfast::support {

class TestNetwork {
 public:
  struct Machine {
    std::string address;  // IPv4
    std::string port;     // the interface of the switch to which the host is connected
    TestHost host;
  };

  TestNetwork();

  // The reason why there is no network, for RequireAvailable (required_program.h); empty if there is one.
  const std::string& why_not() const { return why_not_; }

  // Adds a host that is connected to the switch. A failure fails the test. The reference holds as long as the network.
  Machine& Add();

  // Cut drops all packets from and to the host. Heal lets them pass again; connections that have survived go on.
  void Cut(const Machine& machine) const;
  void Heal(const Machine& machine) const;

  // Ends a host as a power failure does: its processes are gone, and its peers are told nothing.
  void PowerOff(Machine& machine) const;

  // Gives a name to some machines, on all hosts. It resolves to all their addresses, in this order.
  void SetName(std::string_view name, const std::vector<const Machine*>& machines);

 private:
  ScratchDir dir_;
  std::string hosts_file_;
  std::string names_;  // the lines of the hosts file
  TestHost switch_;
  std::string why_not_;
  std::vector<std::unique_ptr<Machine>> machines_;
};

}  // namespace holdfast::support
