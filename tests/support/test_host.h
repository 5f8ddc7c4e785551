// A test host is a machine in miniature: a tree of processes with a network, process numbers, mounts and an /etc/hosts
// of its own. Its namespaces have no names. They are held by its first process, which the kernel kills when the test
// process ends, however that happens; and with it all other processes of the host.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "support/program.h"

namespace holdfast::support {

class TestHost {
 public:
  // Makes a host that has no link yet. `hosts_file` becomes its /etc/hosts. Where the test may not make namespaces, the
  // first host gets a user namespace, and the hosts that name it as their `neighbour` share it.
  explicit TestHost(const std::string& hosts_file, const TestHost* neighbour = nullptr);
  ~TestHost();
  TestHost(const TestHost&) = delete;
  TestHost& operator=(const TestHost&) = delete;

  // The reason why the host could not be made; empty if it was made.
  const std::string& why_not() const { return why_not_; }

  // Starts a program on the host. The test is its parent, and destroys it before the host. The program gets `inherited`
  // as descriptor 3.
  Program Start(const std::vector<std::string>& words, int inherited = -1) const;

  // Kills all processes of the host. Nothing can be started on it any more.
  void Kill();

  // Returns a descriptor of the network namespace, to put a link into it.
  OwnedFd OpenNetwork() const;

 private:
  pid_t Fork() const;  // returns as fork does; the child is on the host

  pid_t first_process_ = -1;  // has the number 1 on the host
  OwnedFd pidfd_;             // of that process
  bool has_user_namespace_ = false;
  std::string why_not_;
};

}  // namespace holdfast::support
