// Tests of the files that are left when memory runs out while a plan is applied. For the whole test program, operator
// new is replaced by one that fails on demand.
#include <cstdlib>
#include <limits>
#include <new>

#include "apply_patch/make_plan.h"
#include "apply_patch/working_dir.h"

namespace {

constexpr size_t kNever = std::numeric_limits<size_t>::max();

thread_local size_t allocations_left = kNever;
thread_local bool fails_again = false;

bool MayAllocate() {
  if (allocations_left == kNever) return true;
  if (allocations_left > 0) return --allocations_left, true;
  if (!fails_again) allocations_left = kNever;
  return false;
}

}  // namespace

void* operator new(size_t size, const std::nothrow_t&) noexcept { return MayAllocate() ? std::malloc(size) : nullptr; }
void* operator new(size_t size) {
  if (void* const memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

namespace holdfast::apply_patch {
namespace {

enum class Shortage { kOnce, kFromThenOn };
enum class End { kApplied, kFailed, kThrew };

// Applies a plan with memory for a number of allocations.
End ApplyWithMemoryFor(size_t allocations, Shortage shortage, const Plan& plan) {
  fails_again = shortage == Shortage::kFromThenOn;
  allocations_left = allocations;
  End end = End::kThrew;
  try {
    end = Apply(plan) ? End::kApplied : End::kFailed;
  } catch (const std::bad_alloc&) {  // there is no memory even for the message
  }
  allocations_left = kNever;
  return end;
}

class OutOfMemoryTest : public WorkingDir {
 protected:
  OutOfMemoryTest() {
    dir_.Write("changed", "1\n");
    dir_.Write("removed with a name that needs memory", "r\n");
    dir_.Write("moved", "m\n");
  }

  // Returns the number of allocations that the plan needs. Checks that with fewer of them all files stay as they were.
  static size_t AllocationsUntilApplied(Shortage shortage) {
    const std::string text =
        "*** Begin Patch\n*** Update File: changed\n-1\n+2\n*** Delete File: removed with a name that needs memory\n"
        "*** Add File: a directory with a long name/a file with a long name\n+x\n"
        "*** Update File: moved\n*** Move to: new/place\n m\n*** Add File: last\n*** End Patch\n";
    const Tree before = Files();
    for (size_t allocations = 0; allocations < 1000; ++allocations) {
      const auto patch = ParsePatch(text);
      const auto plan = MakePlan(*patch);
      const End end = ApplyWithMemoryFor(allocations, shortage, *plan);
      if (end == End::kApplied) return allocations;
      if (shortage == Shortage::kOnce) EXPECT_EQ(end, End::kFailed) << allocations;
      EXPECT_EQ(Files(), before) << allocations;
      if (HasFailure()) return 0;
    }
    ADD_FAILURE() << "the plan is never applied";
    return 0;
  }
};

TEST_F(OutOfMemoryTest, PutsEverythingBackWhicheverAllocationFails) {
  EXPECT_GT(AllocationsUntilApplied(Shortage::kOnce), 2u);
  EXPECT_EQ(Read("changed"), "2\n");
}

TEST_F(OutOfMemoryTest, NeedsNoMemoryToPutEverythingBack) {
  EXPECT_GT(AllocationsUntilApplied(Shortage::kFromThenOn), 2u);
  EXPECT_EQ(Read("changed"), "2\n");
}

}  // namespace
}  // namespace holdfast::apply_patch
