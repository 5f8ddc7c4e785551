#include "files/disk/missing_watches.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "files/disk/adversity.h"
#include "files/disk/storage_fixture.h"
#include "files/disk/tree_fixture.h"
#include "support/eventually.h"
#include "sys/placeholder.h"

namespace holdfast::files {
namespace {

using Keys = std::set<uint64_t>;

class MissingWatchesTest : public StorageTest {
 protected:
  MissingWatchesTest() {
    auto watches = MissingWatches::Create();
    EXPECT_TRUE(Succeeds(watches));
    watches_ = *std::move(watches);
  }

  // Starts a watch and returns its key, or 0 if there is nothing to wait for.
  uint64_t Watch(const std::vector<std::string>& missing, const std::optional<std::string>& present = std::nullopt) {
    const uint64_t key = ++last_key_;
    auto prepared = watches_->Prepare(key, missing, present);
    EXPECT_TRUE(Succeeds(prepared));
    return prepared && *prepared && watches_->Start(key) ? key : 0;
  }

  // Returns all keys that have changed up to the change of `last`. The test causes that change last, by a file that
  // only this watch waits for. So a watch whose key was not returned by then has seen no change.
  Keys ChangedBefore(uint64_t last) {
    Keys all;
    EXPECT_TRUE(support::Eventually([&] {
      for (const uint64_t key : Take()) EXPECT_TRUE(all.insert(key).second) << key;
      return all.contains(last);
    }));
    return all;
  }

  // Returns every key that has changed so far.
  Keys Changed() {
    const std::string name = "the_end_" + std::to_string(++last_key_);
    const uint64_t last = Watch({Path(name)});
    EXPECT_NE(last, 0u);
    MakeFile(name);
    Keys all = ChangedBefore(last);
    all.erase(last);
    return all;
  }

  bool HasChanged(uint64_t key) { return Changed() == Keys{key}; }

  std::vector<uint64_t> Take() {
    auto changed = watches_->TakeChanged();
    EXPECT_TRUE(Succeeds(changed));
    return changed.value_or(std::vector<uint64_t>());
  }

  // Returns the number of inotify watches in the kernel.
  size_t WatchDescriptors() const {
    std::ifstream info("/proc/self/fdinfo/" + std::to_string(watches_->fd()));
    size_t count = 0;
    for (std::string line; std::getline(info, line);) count += line.starts_with("inotify ");
    return count;
  }

  std::shared_ptr<MissingWatches> watches_;
  uint64_t last_key_ = 0;
};
HOLDFAST_ON_EACH_STORAGE(MissingWatchesTest);

TEST_P(MissingWatchesTest, SeesWhateverAppears) {
  MakeFile("other");
  const std::vector<std::pair<std::string, std::function<void(std::string)>>> ways = {
      {"file", [&](const std::string& name) { MakeFile(name); }},
      {"directory", [&](const std::string& name) { MakeDirectory(name); }},
      {"dangling", [&](const std::string& name) { MakeLink(name, "nowhere"); }},
      {"fifo", [&](const std::string& name) { MakeFifo(name); }},
      {"hard_link", [&](const std::string& name) { ::link(Path("other").c_str(), Path(name).c_str()); }},
      {"flicker\xff\n",
       [&](const std::string& name) {
         MakeFile(name);
         ::unlink(Path(name).c_str());
       }},
      {"renamed",
       [&](const std::string& name) {
         MakeFile("old_name");
         ::rename(Path("old_name").c_str(), Path(name).c_str());
       }},
  };
  for (const auto& [name, appear] : ways) {
    const uint64_t key = Watch({Path(name), Path("never")}, Path("other"));
    ASSERT_NE(key, 0u) << name;
    appear(name);
    EXPECT_TRUE(HasChanged(key)) << name;
  }
}

TEST_P(MissingWatchesTest, TellsOnce) {
  const uint64_t key = Watch({Path("missing")});
  MakeFile("missing");
  EXPECT_TRUE(HasChanged(key));
  ASSERT_EQ(::unlink(Path("missing").c_str()), 0);
  MakeFile("missing");
  EXPECT_EQ(Changed(), Keys());
}

TEST_P(MissingWatchesTest, IgnoresTheNeighbours) {
  MakeFile("present");
  MakeDirectory("directory");
  Watch({Path("missing"), Path("directory/missing")}, Path("present"));
  Watch({Path("missing")}, Path("directory"));
  MakeFile("neighbour");
  MakeFile("neighbour", "changed");
  MakeFile("directory/neighbour");
  ASSERT_EQ(::unlink(Path("neighbour").c_str()), 0);
  ASSERT_EQ(::link(Path("present").c_str(), Path("another_name").c_str()), 0);
  EXPECT_EQ(ReadAll(Path("present")), "");
  const OwnedFd opened(::open(Path("present").c_str(), O_WRONLY | O_CLOEXEC));
  EXPECT_EQ(Changed(), Keys());
}

TEST_P(MissingWatchesTest, SeesADirectoryOnTheWayAppear) {
  const uint64_t key = Watch({Path("a/b/missing")});
  MakeDirectory("a");
  EXPECT_TRUE(HasChanged(key));
  const uint64_t deeper = Watch({Path("a/b/missing")});
  MakeDirectory("a/other");
  EXPECT_EQ(Changed(), Keys());
  MakeDirectory("a/b");
  EXPECT_TRUE(HasChanged(deeper));
}

TEST_P(MissingWatchesTest, SeesADirectoryOnTheWayChange) {
  const auto on_the_way = [&](const char* what, const std::function<void()>& change) {
    MakeDirectory("a");
    MakeDirectory("a/b");
    const uint64_t key = Watch({Path("a/b/missing")});
    change();
    EXPECT_TRUE(HasChanged(key)) << what;
    std::filesystem::remove_all(Path("a"));
    std::filesystem::remove_all(Path("moved"));
  };
  on_the_way("removed", [&] { ASSERT_EQ(::rmdir(Path("a/b").c_str()), 0); });
  on_the_way("moved", [&] { ASSERT_EQ(::rename(Path("a/b").c_str(), Path("moved").c_str()), 0); });
  on_the_way("the one above moved", [&] { ASSERT_EQ(::rename(Path("a").c_str(), Path("moved").c_str()), 0); });
  on_the_way("made private", [&] { ASSERT_EQ(::chmod(Path("a/b").c_str(), 0700), 0); });
}

TEST_P(MissingWatchesTest, SeesWhatIsPresentChange) {
  const auto present = [&](const char* what, const std::function<void()>& change) {
    MakeDirectory("d");
    MakeFile("d/present", "text");
    const uint64_t key = Watch({Path("missing")}, Path("d/present"));
    ASSERT_NE(key, 0u) << what;
    change();
    EXPECT_TRUE(HasChanged(key)) << what;
    std::filesystem::remove_all(Path("d"));
    std::filesystem::remove_all(Path("moved"));
  };
  present("written", [&] { std::ofstream(Path("d/present"), std::ios::app) << "more"; });
  present("cut", [&] { ASSERT_EQ(::truncate(Path("d/present").c_str(), 1), 0); });
  present("touched", [&] { ASSERT_EQ(::utimensat(AT_FDCWD, Path("d/present").c_str(), nullptr, 0), 0); });
  present("mode", [&] { ASSERT_EQ(::chmod(Path("d/present").c_str(), 0600), 0); });
  present("removed", [&] { ASSERT_EQ(::unlink(Path("d/present").c_str()), 0); });
  present("moved", [&] { ASSERT_EQ(::rename(Path("d/present").c_str(), Path("moved").c_str()), 0); });
  present("directory moved", [&] { ASSERT_EQ(::rename(Path("d").c_str(), Path("moved").c_str()), 0); });
  present("replaced", [&] {
    MakeFile("new");
    ASSERT_EQ(::rename(Path("new").c_str(), Path("d/present").c_str()), 0);
  });
}

TEST_P(MissingWatchesTest, WaitsOnlyWhereThereIsSomethingToWaitFor) {
  MakeFile("file");
  MakeDirectory("directory");
  MakeFifo("fifo");
  MakeLink("link", "directory");
  MakeLink("to_file", "file");
  MakeLink("dangling", "nowhere");
  EXPECT_EQ(Watch({}), 0u);
  EXPECT_EQ(Watch({}, Path("file")), 0u);
  for (const std::string& path : {Path("file"), Path("directory"), Path("dangling"), Path("link"), Path("link/missing"),
                                  Path("dangling/missing"), Path("file/missing"), std::string("/"),
                                  Path(std::string(300, 'x')), std::string("/proc/missing"), std::string("/sys/x")}) {
    EXPECT_EQ(Watch({path}), 0u) << path;
    EXPECT_EQ(Watch({Path("missing"), path}, Path("file")), 0u) << path;
  }
  for (const char* name : {"missing", "to_file", "dangling", "link/x", "missing/x"}) {
    EXPECT_EQ(Watch({Path("missing")}, Path(name)), 0u) << name;
  }
  EXPECT_EQ(Watch({Path("missing")}, "/proc/version"), 0u);
  for (const std::string& path : {Path("file"), Path("directory"), Path("fifo"), std::string("/")}) {
    EXPECT_NE(Watch({Path("missing"), Path("missing"), Path("a/b/c")}, path), 0u) << path;
  }
}

TEST_P(MissingWatchesTest, WaitsForNoMoreThanItCan) {
  std::vector<std::string> many;
  for (size_t i = 0; i < MissingWatches::kMaxNames; ++i) many.push_back(Path(std::to_string(i)));
  EXPECT_EQ(Watch(many), 0u);  // the names of the directories on the way count too
  many.resize(MissingWatches::kMaxNames / 2);
  EXPECT_NE(Watch(many), 0u);
  EXPECT_EQ(Changed(), Keys());
}

TEST_P(MissingWatchesTest, SaysFalseWhenSomethingHasChangedBeforeTheStart) {
  ASSERT_EQ(watches_->Prepare(1, {Path("missing")}, std::nullopt), true);
  ASSERT_EQ(watches_->Prepare(2, {Path("other")}, std::nullopt), true);
  last_key_ = 2;
  MakeFile("missing");
  EXPECT_EQ(Changed(), Keys());  // the key of a watch that has not started is not returned
  EXPECT_FALSE(watches_->Start(1));
  EXPECT_TRUE(watches_->Start(2));
  watches_->Remove(2);
  EXPECT_EQ(WatchDescriptors(), 0u);
}

TEST_P(MissingWatchesTest, ForgetsWhatIsRemoved) {
  const uint64_t gone = Watch({Path("missing")}, Path());
  const uint64_t stays = Watch({Path("missing")});
  EXPECT_GT(WatchDescriptors(), 0u);
  watches_->Remove(gone);
  watches_->Remove(gone);
  MakeFile("missing");
  EXPECT_EQ(Changed(), Keys{stays});
  EXPECT_EQ(WatchDescriptors(), 0u);
}

TEST_P(MissingWatchesTest, SharesDescriptorsAmongWatches) {
  ASSERT_NE(Watch({Path("missing")}), 0u);
  const size_t one = WatchDescriptors();
  Keys keys{1};
  for (int i = 0; i < 500; ++i) keys.insert(Watch({Path("missing")}));
  EXPECT_EQ(WatchDescriptors(), one);
  MakeFile("missing");
  EXPECT_EQ(Changed(), keys);
  EXPECT_EQ(WatchDescriptors(), 0u);
}

TEST_P(MissingWatchesTest, KeepsNothingOfAWatchThatCannotBe) {
  MakeFile("file");
  EXPECT_EQ(Watch({Path("missing"), Path("file")}), 0u);
  EXPECT_EQ(Watch({Path("missing")}, Path("nothing")), 0u);
  EXPECT_EQ(WatchDescriptors(), 0u);
}

// The kernel drops events when there are too many of them, and then anything may have happened.
TEST_P(MissingWatchesTest, TakesALostEventForAChange) {
  std::ifstream limit("/proc/sys/fs/inotify/max_queued_events");
  int max_events = 0;
  limit >> max_events;
  if (max_events == 0 || max_events > 50'000) GTEST_SKIP() << "it takes " << max_events << " events";
  MakeDirectory("quiet");
  MakeDirectory("busy");
  const uint64_t quiet = Watch({Path("quiet/missing")});
  const uint64_t busy = Watch({Path("busy/missing")});
  // Two files are changed in turn, because the kernel merges consecutive events that are equal.
  const std::string one = MakeFile("busy/one");
  const std::string two = MakeFile("busy/two");
  for (int i = 0; i <= max_events / 2; ++i) {
    ASSERT_EQ(::chmod(one.c_str(), 0644), 0);
    ASSERT_EQ(::chmod(two.c_str(), 0644), 0);
  }
  Keys changed = ChangedBefore(quiet);
  EXPECT_TRUE(changed == (Keys{quiet, busy}) || Take() == std::vector<uint64_t>{busy});
}

TEST_P(MissingWatchesTest, IsReadableWhenThereIsSomethingToTake) {
  const uint64_t key = Watch({Path("missing")});
  pollfd readable = {.fd = watches_->fd(), .events = POLLIN, .revents = 0};
  // The directories above are watched too, and other processes may change them.
  EXPECT_TRUE(support::Eventually([&] {
    Take();
    return ::poll(&readable, 1, 0) == 0;
  }));
  MakeFile("missing");
  EXPECT_EQ(::poll(&readable, 1, -1), 1);
  EXPECT_EQ(ChangedBefore(key), Keys{key});
}

TEST_P(MissingWatchesTest, WatchesWhatItMayNotReadAsFarAsItCan) {
  const AsOrdinaryUser user;
  MakeDirectory("passable");
  MakeDirectory("passable/inside");
  const Locked passable(Path("passable"), 0311);
  const Locked locked(MakeDirectory("locked"), 0);
  MakeFile("secret", "", 0);
  EXPECT_EQ(Watch({Path("locked/missing")}), 0u);
  EXPECT_EQ(Watch({Path("passable/missing")}), 0u);
  const uint64_t key = Watch({Path("passable/inside/missing")}, Path("secret"));
  ASSERT_NE(key, 0u);
  MakeFile("passable/inside/missing");
  EXPECT_TRUE(HasChanged(key));
}

// The test lowers the limits in a user namespace, which has its own.
TEST_P(MissingWatchesTest, SaysWhichLimitIsReached) {
  constexpr int kSkipped = 77;
  const auto in_child = [&] {
    if (::unshare(CLONE_NEWUSER) < 0) ::_exit(kSkipped);
    std::ofstream("/proc/sys/user/max_inotify_watches") << 3;
    std::ofstream("/proc/sys/user/max_inotify_instances") << 1;
    auto watches = MissingWatches::Create();
    ASSERT_TRUE(Succeeds(watches));
    const std::string deep = "/usr/lib/missing/missing";  // needs watches on "/", "/usr" and one more directory
    EXPECT_TRUE(Succeeds((*watches)->Prepare(1, {deep}, std::nullopt)));
    EXPECT_TRUE(
        FailsWith((*watches)->Prepare(2, {Path("missing")}, std::nullopt), ErrorKind::kLimit, "max_user_watches"));
    EXPECT_TRUE(FailsWith(MissingWatches::Create(), ErrorKind::kLimit, "max_user_instances"));
  };
  const pid_t child = ::fork();
  if (child == 0) {
    in_child();
    ::_exit(HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kSkipped) GTEST_SKIP() << "no user namespace";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// Other watches come and go, and one thread takes the changes that another waits for. No watch that stays may lose a
// change.
TEST_P(MissingWatchesTest, LosesNoChangeWhenThreadsWorkAtOnce) {
  MakeDirectory("d");
  std::atomic<uint64_t> next_key = 1'000'000;
  const Meanwhile come_and_go([&] {
    const uint64_t key = next_key++;
    auto prepared = watches_->Prepare(key, {Path("d/none"), Path("e/none")}, std::nullopt);
    ASSERT_TRUE(Succeeds(prepared));
    if (*prepared && watches_->Start(key)) watches_->Remove(key);
  });
  const Meanwhile flicker([&] {
    ::mkdir(Path("e").c_str(), 0755);
    ::rmdir(Path("e").c_str());
  });
  std::atomic<uint64_t> awaited = 0;
  const Meanwhile take([&] {
    for (const uint64_t key : Take()) {
      if (key == awaited) awaited = 0;
    }
  });
  for (int round = 0; round < 100; ++round) {
    const std::string name = "d/" + std::to_string(round);
    const uint64_t key = ++last_key_;
    auto prepared = watches_->Prepare(key, {Path(name)}, std::nullopt);
    ASSERT_TRUE(Succeeds(prepared));
    awaited = key;
    if (!*prepared || !watches_->Start(key)) continue;  // the queue of events was full
    MakeFile(name);
    ASSERT_TRUE(support::Eventually([&] { return awaited == 0; })) << round;
    ::unlink(Path(name).c_str());
  }
}

// Two watches share the kernel's watch of a directory. It is removed with one of them while the other asks for it.
TEST_P(MissingWatchesTest, TakesNoOtherWatchThatEndsForAChange) {
  MakeDirectory("d");
  std::atomic<uint64_t> next_key = 1'000'000;
  const auto come_and_go = [&] {
    const uint64_t key = next_key++;
    auto prepared = watches_->Prepare(key, {Path("d/none")}, std::nullopt);
    ASSERT_TRUE(Succeeds(prepared));
    EXPECT_TRUE(*prepared && watches_->Start(key));
    watches_->Remove(key);
  };
  const Meanwhile other(come_and_go);
  const Meanwhile take([&] { EXPECT_TRUE(Take().empty()); });
  for (int round = 0; round < 500; ++round) come_and_go();
}

// A missing file that appears at any moment is either found by the look or seen by the watch.
TEST_P(MissingWatchesTest, LosesNoChangeBetweenTheLookAndTheWatch) {
  for (int round = 0; round < 200; ++round) {
    const std::string directory = "d" + std::to_string(round);
    std::thread maker([&] {
      MakeDirectory(directory);
      MakeFile(directory + "/missing");
    });
    const uint64_t key = Watch({Path(directory + "/missing")});
    maker.join();
    if (key != 0) ASSERT_EQ(ChangedBefore(key), Keys{key});
  }
  EXPECT_EQ(WatchDescriptors(), 0u);
}

TEST_P(MissingWatchesTest, ThePlaceholderOfASandboxIsNothing) {
  const std::string directory = Path(".git"), file = Path("secret");
  const uint64_t key = Watch({directory, file});
  ASSERT_NE(key, 0u);
  for (int round = 0; round < 3; ++round) {
    MakeDirectory(".git", sys::kPlaceholderDirectoryMode);
    MakeFile("secret", "", sys::kPlaceholderFileMode);
    EXPECT_EQ(Changed(), Keys());
    EXPECT_NE(Watch({directory, directory + "/config"}), 0u) << "there is something to wait for";
    ASSERT_EQ(::rmdir(directory.c_str()), 0);
    ASSERT_EQ(::unlink(file.c_str()), 0);
    EXPECT_EQ(Changed(), Keys());
  }
  MakeDirectory(".git", sys::kPlaceholderDirectoryMode);
  EXPECT_EQ(Changed(), Keys());
  ASSERT_EQ(sys::AdoptPlaceholder(AT_FDCWD, directory, S_IFDIR | 0777), 0);
  EXPECT_TRUE(Changed().contains(key)) << "it is the user's";
}

}  // namespace
}  // namespace holdfast::files
