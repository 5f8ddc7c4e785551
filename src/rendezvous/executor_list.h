// The answer to GET /executors: the executors of all nodes that a token may use.
#pragma once

#include <string>
#include <vector>

#include "rendezvous/bus/bus.h"
#include "rendezvous/token_table.h"

namespace holdfast::rendezvous {

// The records of one executor, which may have connections to several nodes, become one entry: its sessions are added
// up, and it is there since the earliest of them. The entries are in the order of their ids.
std::string ExecutorList(const std::vector<ExecutorRecord>& records, const TokenRights& rights);

}  // namespace holdfast::rendezvous
