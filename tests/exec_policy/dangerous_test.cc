#include "exec_policy/dangerous.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "exec_policy/shell_words.h"

namespace holdfast::exec_policy {
namespace {

bool LooksDangerous(std::string_view line) {
  const auto words = SplitWords(line);
  EXPECT_TRUE(words.has_value()) << line;
  return words && IsDangerous(*words);
}

void ExpectDangerous(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) EXPECT_TRUE(LooksDangerous(line)) << line;
}

void ExpectHarmless(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) EXPECT_FALSE(LooksDangerous(line)) << line;
}

TEST(IsDangerousTest, RmIsDangerousWithForceOrRecursionInEverySpelling) {
  ExpectDangerous({"rm -f a", "rm -rf a", "rm -fr a", "rm -r -f a", "rm -R a", "rm -vrf a", "rm --force a",
                   "rm --recursive a", "rm --rec a", "rm a -rf", "/bin/rm -rf a", "rm -r -- a"});
  ExpectHarmless({"rm a", "rm -v a", "rm -i a", "rm -- -rf", "rm --verbose a", "rm", "rmdir -r a"});
}

TEST(IsDangerousTest, GitIsDangerousWhereItLosesThings) {
  ExpectDangerous({"git reset --hard", "git rm a", "git branch -d a", "git branch -D a", "git branch -qD a",
                   "git branch --delete a", "git clean -f", "git clean -xdf", "git clean --force",
                   "/usr/bin/git reset"});
  ExpectHarmless({"git", "git status", "git branch a", "git branch -a", "git clean -n", "git branch -- -d",
                  "git log reset", "git commit -m reset", "gitk reset"});
}

TEST(IsDangerousTest, APushIsDangerousIfItOverwritesOrDeletes) {
  ExpectDangerous({"git push -f", "git push --force", "git push --force-with-lease", "git push --force-with-lease=main",
                   "git push --delete origin a", "git push -d origin a", "git push origin +main", "git push origin :a",
                   "git push --mirror", "git push --prune origin", "git push origin -- +main"});
  ExpectHarmless({"git push", "git push origin main", "git push -u origin main", "git push origin a:b",
                  "git push --follow-tags", "git push origin :"});
}

TEST(IsDangerousTest, GlobalOptionsOfGitAreSkipped) {
  ExpectDangerous({"git -C dir reset", "git -c a=b push -f", "git --git-dir x clean -f", "git --git-dir=x clean -f",
                   "git --no-pager -C a -c b=c rm d"});
  ExpectHarmless({"git -C reset status", "git -c push", "git --git-dir reset log", "git -C"});
}

TEST(IsDangerousTest, TheCommandBehindAnotherProgramCounts) {
  ExpectDangerous({"sudo rm -rf a",
                   "sudo -n rm -rf a",
                   "sudo -u root rm -rf a",
                   "sudo -uroot rm -f a",
                   "sudo --user root rm -f a",
                   "sudo -- rm -rf a",
                   "sudo A=b rm -rf a",
                   "env rm -rf a",
                   "env -i A=b rm -rf a",
                   "env -u A rm -rf a",
                   "nohup rm -rf a",
                   "nice -n 5 rm -rf a",
                   "timeout 5 rm -rf a",
                   "timeout -k 5 10 rm -rf a",
                   "xargs rm -f",
                   "xargs -n 1 rm -f",
                   "setsid env sudo git reset",
                   "exec rm -rf a",
                   "command rm -rf a",
                   "busybox rm -rf a"});
  ExpectHarmless({"sudo ls", "sudo", "sudo -u rm ls", "env A=b", "timeout 5", "nohup ls -f", "xargs -I rm echo"});
}

TEST(IsDangerousTest, TheCommandsOfAShellScriptCount) {
  ExpectDangerous({"bash -c 'rm -rf a'", "bash -lc 'cd x && rm -rf a'", "sh -c 'ls; git reset --hard'",
                   "bash -o pipefail -c 'a | xargs rm -f'", "bash --norc -c 'rm -f a'", "bash --rcfile x -c 'rm -f a'",
                   "zsh -ec 'if a; then rm -rf b; fi'", "bash -c \"sh -c 'rm -rf a'\"", "sudo sh -c 'rm -rf a'",
                   "bash -c 'A=1 rm -rf b 2>/dev/null'", "bash +e -c 'rm -f a'"});
  ExpectHarmless({"bash -c 'ls; echo rm -rf a'", "bash rm -rf a", "bash -c", "bash", "bash -c 'rm a' -rf",
                  "bash -l 'rm -rf a'", "bash -c \"echo 'unclosed\""});
}

// Returns a command of shells that run `script`, one in the other.
std::vector<std::string> Nested(int shells, std::string script) {
  for (int i = 1; i < shells; ++i) {
    std::string quoted;
    for (const char c : script) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    script = "sh -c '" + quoted + "'";
  }
  return {"sh", "-c", script};
}

TEST(IsDangerousTest, ScriptsThatAreNestedTooDeepAreDangerous) {
  EXPECT_TRUE(IsDangerous(Nested(8, "rm -rf a")));
  EXPECT_FALSE(IsDangerous(Nested(8, "ls")));
  EXPECT_TRUE(IsDangerous(Nested(9, "ls")));
}

TEST(IsDangerousTest, NoCommandIsHarmless) {
  EXPECT_FALSE(IsDangerous({}));
  EXPECT_FALSE(IsDangerous(std::vector<std::string>{""}));
}

}  // namespace
}  // namespace holdfast::exec_policy
