// These functions make the parts of the doctor's report that are about the kernel.
#pragma once

#include "doctor/kernel_report.h"
#include "doctor/namespaces.h"
#include "sandbox/jail/host_limits.h"

namespace holdfast::doctor {

Host DescribeHost(const sandbox::HostFacts& facts);
NamespacesReport DescribeNamespaces(const NamespaceErrors& errors);
LandlockReport DescribeLandlock(int abi);
SeccompReport DescribeSeccomp(const sandbox::HostFacts& facts);
AppArmorReport DescribeAppArmor(const sandbox::HostFacts& facts);

}  // namespace holdfast::doctor
