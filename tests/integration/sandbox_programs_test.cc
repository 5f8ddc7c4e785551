// Tests of common programs in a workspace that may be written, without a network. They work, or tell at once what they
// may not do.
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/required_program.h"
#include "support/sandbox_workspace.h"

namespace holdfast::support {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using Strings = std::vector<std::string>;

class SandboxProgramsTest : public testing::TestWithParam<SandboxCase> {
 protected:
  void SetUp() override {
    if (const std::string reason = workspace_.WhyNot(); !reason.empty()) GTEST_SKIP() << reason;
  }

  void ExpectWorksOutside(const std::string& script) const { ExpectWorked(workspace_.Outside("set -e\n" + script)); }
  void ExpectWorksInside(const std::string& script, const Strings& entries = {}) const {
    ExpectWorked(workspace_.Inside("set -e\n" + script, entries));
  }
  static void ExpectWorked(const Outcome& outcome) {
    EXPECT_EQ(outcome.status, 0) << outcome.out << "\n" << outcome.err;
  }

  void Write(const std::string& name, const std::string& text) const {
    ExpectWorksOutside(
        fmt::format("mkdir -p $(dirname {0})\ncat > {0} << 'END_OF_FILE'\n{1}\nEND_OF_FILE\n", name, text));
  }

  // Makes a repository with one commit of one file.
  void MakeRepository() const {
    ExpectWorksOutside(
        "git init -q -b main .; git config user.name me; git config user.email me@example.com;"
        "echo one > file; git add file; git commit -q -m first");
  }

  SandboxWorkspace workspace_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(, SandboxProgramsTest,
                         testing::ValuesIn(UsersWith({Means::kNative, Means::kSystemBubblewrap})), CaseName);

// These tests also run with the bundled bubblewrap.
class SandboxEveryMeansTest : public SandboxProgramsTest {};

INSTANTIATE_TEST_SUITE_P(
    , SandboxEveryMeansTest,
    testing::ValuesIn(UsersWith({Means::kNative, Means::kSystemBubblewrap, Means::kBundledBubblewrap})), CaseName);

TEST_P(SandboxProgramsTest, GitReadsAProtectedRepository) {
  if (!RequireProgram("git")) return;
  MakeRepository();
  ExpectWorksInside(R"sh(
    [ -z "$(git status --porcelain)" ]
    [ "$(git log --format=%s)" = first ]
    echo two >> file
    [ "$(git status --porcelain)" = " M file" ]
    git diff | grep -q '^+two'
    git grep -q one; git blame file | grep -q me; git fsck
    git clone -q . copy && cd copy && git config user.name me && git config user.email me@example.com
    git commit -q -a --allow-empty -m "in a repository of its own")sh");
}

TEST_P(SandboxProgramsTest, GitSaysThatAProtectedRepositoryCannotBeCommittedTo) {
  if (!RequireProgram("git")) return;
  MakeRepository();
  for (const std::string command :
       {"add file", "commit -a -m second", "checkout -b other", "config a.b c", "tag one"}) {
    const Outcome outcome = workspace_.Inside("echo two >> file; git " + command);
    EXPECT_NE(outcome.status, 0) << command;
    EXPECT_THAT(outcome.err, HasSubstr("Read-only file system")) << command;
  }
  ExpectWorksOutside(R"sh(
    git fsck --strict; [ "$(git log --format=%s)" = first ]; [ ! -e .git/index.lock ]
    git commit -q -a -m second)sh");
}

TEST_P(SandboxProgramsTest, GitDoesAllItsWorkWhereThePolicyNamesItsDirectory) {
  if (!RequireProgram("git")) return;
  MakeRepository();
  ExpectWorksInside(R"sh(
    echo two >> file; git commit -q -a -m second
    git checkout -q -b side; echo side > other; git add other; git commit -q -m side
    git checkout -q main; echo three >> file; git stash -q; git stash pop -q; git commit -q -a -m third
    git merge -q -m merged side; git rebase -q HEAD~1; git tag one
    git worktree add -q tree; cd tree; echo four >> file; git commit -q -a -m fourth; cd ..
    git worktree remove tree; git gc -q)sh",
                    {WorkspaceEntry(".git", "write")});
  ExpectWorksOutside("git fsck --strict; [ \"$(git log --format=%s tree | head -1)\" = fourth ]");
}

TEST_P(SandboxProgramsTest, GitWorksInAWorktreeOfARepositoryElsewhere) {
  if (!RequireProgram("git")) return;
  const std::string repository = workspace_.elsewhere() + "/repository";
  ExpectWorksOutside(fmt::format(R"sh(
    git init -q -b main {0}; cd {0}; git config user.name me; git config user.email me@example.com
    echo one > file; git add file; git commit -q -m first; git worktree add -q -f {1})sh",
                                 repository, workspace_.path()));
  ASSERT_TRUE(fs::is_regular_file(workspace_.path() + "/.git"));
  ExpectWorksInside("[ -z \"$(git status --porcelain)\" ]; [ \"$(git log --format=%s)\" = first ]; cat file");
  const std::string commit = "echo two >> file; git commit -q -a -m second";
  const Outcome refused = workspace_.Inside(commit);
  EXPECT_NE(refused.status, 0);
  EXPECT_THAT(refused.err, HasSubstr("Read-only file system"));
  const std::string own =
      fmt::format("{}/.git/worktrees/{}", repository, fs::path(workspace_.path()).filename().string());
  ExpectWorksInside(commit, {PathEntry(repository + "/.git", "write"), PathEntry(own, "write")});
  ExpectWorksOutside("git fsck --strict; [ \"$(git log --format=%s | head -1)\" = second ]");
}

TEST_P(SandboxProgramsTest, GitWorksWithADirectoryOfItsOwnElsewhere) {
  if (!RequireProgram("git")) return;
  const std::string directory = workspace_.elsewhere() + "/directory";
  ExpectWorksOutside(fmt::format("git init -q -b main --separate-git-dir {} .", directory));
  MakeRepository();
  ASSERT_TRUE(fs::is_regular_file(workspace_.path() + "/.git"));
  const std::string commit = "echo two >> file; git commit -q -a -m second";
  // The git directory is also protected where it lies in a writable root: the next git outside would run a hook in it.
  const Outcome refused = workspace_.Inside(commit, {PathEntry(workspace_.elsewhere(), "write")});
  EXPECT_NE(refused.status, 0);
  EXPECT_THAT(refused.err, HasSubstr("Read-only file system"));
  ExpectWorksInside(commit, {PathEntry(directory, "write")});
  ExpectWorksOutside("git fsck --strict; [ \"$(git log --format=%s | head -1)\" = second ]");
}

// A command leaves the hooks and the configuration of a repository in the workspace as they are, but adds a `commondir`
// file. The user's next `git status` would read the configuration from there, and run the program that it names.
TEST_P(SandboxEveryMeansTest, GitRunsNoProgramThatACommandNamesInANestedRepository) {
  if (!RequireProgram("git")) return;
  const std::string witness = workspace_.path() + "/witness";
  const std::string status = "cd sub; git status --porcelain; cd ..";
  ExpectWorksOutside("git init -q sub; cd sub; echo one > file; git add file; cd ..; cp -r sub/.git settings");
  ExpectWorksOutside(fmt::format("git config -f settings/config core.fsmonitor 'touch {}; false'", witness));

  const std::string attack = "echo ../../settings > sub/.git/commondir";
  const Outcome refused = workspace_.Inside(attack);
  EXPECT_NE(refused.status, 0);
  EXPECT_THAT(refused.err, HasSubstr("Read-only file system"));
  ExpectWorksOutside(status);
  EXPECT_FALSE(fs::exists(witness));

  ExpectWorksOutside(attack + "; " + status);
  EXPECT_TRUE(fs::exists(witness)) << "then it is no attack";
}

// A command can use the repository that it makes, and the next command can read it. Writing to it again needs a rule.
TEST_P(SandboxProgramsTest, GitCommitsToANestedRepositoryWhereTheCommandMakesItOrThePolicyNamesIt) {
  if (!RequireProgram("git")) return;
  const std::string commit =
      "echo more >> file; git add file; git -c user.name=me -c user.email=me@example.com commit -q ";
  ExpectWorksInside("git init -q -b main sub; cd sub; " + commit + "-m first");
  ExpectWorksInside("cd sub; [ \"$(git log --format=%s)\" = first ]; [ -z \"$(git status --porcelain)\" ]");
  const Outcome refused = workspace_.Inside("cd sub; " + commit + "-m second");
  EXPECT_NE(refused.status, 0);
  EXPECT_THAT(refused.err, HasSubstr("Read-only file system"));
  ExpectWorksInside("cd sub; " + commit + "-m second", {WorkspaceEntry("sub/.git", "write")});
}

constexpr const char* kSmallProject = R"cmake(
  cmake_minimum_required(VERSION 3.25)
  project(small CXX)
  set(CMAKE_CXX_STANDARD 23)
  enable_testing()
  add_library(twice STATIC twice.cc)
  add_executable(twice_test twice_test.cc)
  target_link_libraries(twice_test twice)
  add_test(NAME twice COMMAND twice_test))cmake";

TEST_P(SandboxEveryMeansTest, CmakeAndNinjaBuildAndTestAProject) {
  for (const std::string program : {"cmake", "ninja", "clang++-19"}) {
    if (!RequireProgram(program)) return;
  }
  Write("CMakeLists.txt", kSmallProject);
  Write("twice.cc", "#include <expected>\nstd::expected<int, int> Twice(int x) { return 2 * x; }");
  Write("twice_test.cc",
        "#include <expected>\nstd::expected<int, int> Twice(int x);\nint main() { return Twice(21) == 42 ? 0 : 1; }");
  ExpectWorksInside(R"sh(
    cmake -G Ninja -B build -DCMAKE_CXX_COMPILER=clang++-19
    ninja -C build
    ctest --test-dir build --output-on-failure | grep "100% tests passed")sh");
}

TEST_P(SandboxProgramsTest, ThisProjectIsConfiguredAndBuilt) {
  for (const std::string program : {"cmake", "ninja", "clang++-19"}) {
    if (!RequireProgram(program)) return;
  }
  if (workspace_.Outside("test -r " HOLDFAST_SOURCE_DIR "/CMakePresets.json").status != 0) {
    GTEST_SKIP() << HOLDFAST_SOURCE_DIR << " is out of this user's reach";
  }
  // The build has one program and one file that includes the whole standard library. It does without ccache, whose
  // directory is in the home directory.
  ExpectWorksInside(fmt::format(R"sh(
    cd {}
    cmake --preset release -B {}/build -DCMAKE_CXX_COMPILER_LAUNCHER= -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON \
        -DHOLDFAST_BENCHMARKS=OFF
    ninja -C {}/build holdfast-keeper CMakeFiles/holdfast_base.dir/src/base/result.cc.o)sh",
                                HOLDFAST_SOURCE_DIR, workspace_.path(), workspace_.path()));
  EXPECT_GT(fs::file_size(workspace_.path() + "/build/freestanding/holdfast-keeper"), 0u);
}

TEST_P(SandboxProgramsTest, MakeRunsItsJobsAtOnce) {
  if (!RequireProgram("make") || !RequireProgram("clang-19")) return;
  Write("Makefile",
        ".PHONY: all\nall: a.o b.o c.o d.o\n%.c:\n\techo 'int f_$*;' > $@\n%.o: %.c\n\tclang-19 -c $< -o $@");
  ExpectWorksInside("make -j4; make -q a.o; ls a.o b.o c.o d.o");
}

TEST_P(SandboxProgramsTest, NpmInstallsFromATarballWithoutANetwork) {
  if (!RequireProgram("node") || !WantProgram("npm")) return;
  Write("package/package.json", R"({"name":"answer","version":"1.0.0","bin":{"answer":"index.js"}})");
  Write("package/index.js", "#!/usr/bin/env node\nmodule.exports = 42;\nconsole.log('answer');");
  Write("app/package.json", R"({"name":"app","version":"1.0.0","dependencies":{"answer":"file:../answer.tgz"},)"
                            R"("scripts":{"postinstall":"echo > installed","test":"answer"}})");
  // The cache of npm is in the home directory unless a variable names another place.
  ExpectWorksInside(R"sh(
    export npm_config_cache=$TMPDIR/npm npm_config_offline=true npm_config_audit=false npm_config_fund=false
    export npm_config_update_notifier=false
    tar czf answer.tgz package
    cd app
    npm install
    [ -e installed ]; [ "$(node -p 'require("answer")' | tail -1)" = 42 ]
    npm test | grep -q '^answer$'
    rm -rf node_modules; npm ci; [ -d node_modules/answer ])sh");
}

TEST_P(SandboxProgramsTest, NodeTestsStartProcessesAndThreads) {
  if (!RequireProgram("node")) return;
  Write("child.js", "process.on('message', (m) => { process.send(m + 1); process.disconnect(); });");
  Write("all.test.js", R"js(
    const test = require('node:test'), assert = require('node:assert'), processes = require('node:child_process');
    const { Worker } = require('node:worker_threads');
    test('a program', () => assert.equal(processes.execFileSync('echo', ['hi']).toString(), 'hi\n'));
    test('a pipe', (t, done) => {
      const cat = processes.spawn('cat');
      cat.stdout.on('data', (data) => { assert.equal(data.toString(), 'through'); done(); });
      cat.stdin.end('through');
    });
    test('a fork with messages', (t, done) => {
      const child = processes.fork('./child.js');
      child.on('message', (m) => { assert.equal(m, 42); done(); });
      child.send(41);
    });
    test('a thread', (t, done) => {
      new Worker('require("worker_threads").parentPort.postMessage(1)', { eval: true }).on('message', () => done());
    });)js");
  ExpectWorksInside("node --test all.test.js");
}

TEST_P(SandboxProgramsTest, PythonMakesAVirtualEnvironmentWithPip) {
  if (!RequireProgram("python3")) return;
  ExpectWorksInside(R"sh(
    python3 -m venv --without-pip env; echo made
    env/bin/python -m ensurepip
    env/bin/python -m pip --version | grep "$PWD/env")sh");
}

TEST_P(SandboxEveryMeansTest, PytestRunsTestsWithProcessesOfTheirOwn) {
  if (!RequireProgram("pytest-3")) return;
  Write("test_all.py", R"py(
import asyncio, multiprocessing, os, pty, sqlite3, threading

def test_queue():
    queue = multiprocessing.Queue()
    process = multiprocessing.Process(target=queue.put, args=(3,))
    process.start()
    assert queue.get(timeout=30) == 3
    process.join()

def test_pool():
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(abs, [-1, -2]) == [1, 2]

def test_shared_memory():
    value = multiprocessing.Value("i", 7)
    with value.get_lock():
        assert value.value == 7

def test_asyncio():
    async def run():
        process = await asyncio.create_subprocess_shell("cat", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
        return (await process.communicate(b"through"))[0]
    assert asyncio.run(run()) == b"through"

def test_threads():
    threads = [threading.Thread(target=os.getpid) for _ in range(20)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()

def test_terminal():
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp("tty", ["tty"])
    assert b"/dev/pts/" in os.read(terminal, 100)
    assert os.waitpid(pid, 0)[1] == 0

def test_database(tmp_path):
    database = sqlite3.connect(tmp_path / "file.db")
    database.execute("pragma journal_mode = wal")
    database.execute("create table t (x)")
    database.execute("insert into t values (1)")
    database.commit()
    assert database.execute("select x from t").fetchall() == [(1,)]
)py");
  ExpectWorksInside("pytest-3 -q test_all.py");
}

TEST_P(SandboxProgramsTest, GdbSaysThatItCannotTrace) {
  if (!RequireProgram("gdb")) return;
  ExpectWorksOutside("gdb -nx -batch -ex run -ex 'print 6 * 7' /bin/true | grep 'exited normally'");
  const Outcome outcome = workspace_.Inside("gdb -nx -batch -ex run /bin/true");
  EXPECT_NE(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr("ptrace: Operation not permitted"));
}

TEST_P(SandboxProgramsTest, StraceSaysThatItCannotTrace) {
  if (!RequireProgram("strace")) return;
  ExpectWorksOutside("strace -o /dev/null true");
  for (const std::string command : {"strace true", "sleep 1000 & strace -p $!"}) {
    const Outcome outcome = workspace_.Inside(command);
    EXPECT_NE(outcome.status, 0) << command;
    EXPECT_THAT(outcome.err, HasSubstr("Operation not permitted")) << command;
  }
}

TEST_P(SandboxProgramsTest, CurlSaysAtOnceThatThereIsNobody) {
  if (!RequireProgram("curl")) return;
  for (const std::string address : {"http://127.0.0.1:9/", "http://[::1]:9/", "http://192.0.2.1/"}) {
    const Outcome outcome = workspace_.Inside("curl -sS --max-time 60 " + address);
    EXPECT_EQ(outcome.status, 7) << address << outcome.err;  // could not connect; 28 would be a time-out
    EXPECT_THAT(outcome.err, HasSubstr("connect")) << address;
  }
  EXPECT_EQ(workspace_.Inside("curl -sS --max-time 60 http://example.invalid/").status, 6);  // could not resolve
}

TEST_P(SandboxEveryMeansTest, ShellScriptsHaveTheirPipesAndTemporaryFiles) {
  ExpectWorksInside(R"sh(
    diff <(printf 'a\nb\n') <(sort << END
b
a
END
    )
    [ "$(seq 200000 | sort -R -S 1M | sort -n -S 1M | tail -1)" = 200000 ]
    seq 20 | xargs -P 4 -n 1 sh -c 'echo $1 > made.$1' _; [ $(find . -name 'made.*' | wc -l) = 20 ]
    find . -name 'made.*' -print0 | xargs -0 -P 4 rm; [ $(find . -name 'made.*' | wc -l) = 0 ]
    mkdir tree; head -c 100000 /dev/urandom > tree/file; ln tree/file tree/link; ln -s file tree/soft
    tar czf tree.tgz tree; gzip -t tree.tgz; mkdir again; tar xzf tree.tgz -C again; diff -r tree again/tree
    file=$(mktemp); echo x > $file; rm $file; rm -r $(mktemp -d)
    flock lock echo locked; mkfifo pipe; (echo through > pipe &); [ "$(cat pipe)" = through ]
    perl -e 'my $pid = fork; exit 3 unless $pid; waitpid $pid, 0; exit(($? >> 8) == 3 ? 0 : 1)'
    truncate -s 1M sparse; cp -a sparse copy; mv copy moved; chmod 600 moved; touch -d yesterday moved
    [ "$(echo through > /dev/stdout)" = through ]; id; ps; df .; nproc; (ulimit -n 100; true))sh");
}

TEST_P(SandboxProgramsTest, SlashTmpCanBeWrittenWhereThePolicySaysSo) {
  const std::string make = "file=$(mktemp -p /tmp); echo x > $file; rm $file";
  EXPECT_NE(workspace_.Inside("set -e; " + make).status, 0);
  ExpectWorksInside(make, {PlaceEntry("slash_tmp", "write")});
}

}  // namespace
}  // namespace holdfast::support
