// The bus of a node that is alone.
#pragma once

#include <memory>

#include "rendezvous/bus/bus.h"

namespace holdfast::rendezvous {

// Its ticket key is random, so tickets end with the process.
std::unique_ptr<Bus> MakeMemoryBus();

}  // namespace holdfast::rendezvous
