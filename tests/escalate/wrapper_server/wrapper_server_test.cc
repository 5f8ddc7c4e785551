#include "escalate/wrapper_server/wrapper_server.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "escalate/scripted_peer.h"
#include "escalate/wrapper_server/fake_outside.h"
#include "escalate/wrapper_server/fake_view.h"
#include "loop/event.h"
#include "support/loop_runner.h"
#include "support/proc.h"
#include "sys/descriptor_passing.h"
#include "sys/memory_file.h"

namespace holdfast::escalate {
namespace {

using exec_policy::Action;
using exec_policy::ProgramFile;
using support::RunUntil;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kRules = R"(
prefix_rule(pattern=["outside"], decision="allow", env=["A"])
prefix_rule(pattern=["asked"], decision="prompt", justification="it is risky", env=["B"])
prefix_rule(pattern=["never"], decision="forbidden", justification="never do this")
)";

// An approver whose answer the test gives.
class ScriptedApprover final : public Approver {
 public:
  loop::Task<Answer> Ask(Question question) override {
    questions.push_back(std::move(question));
    ++open;
    const Open counted(open);
    while (!answer) co_await answered.Next();
    co_return *answer;
  }

  void Give(Answer given) {
    answer = std::move(given);
    answered.Notify();
  }

  struct Open {
    explicit Open(int& value) : count(value) {}
    ~Open() { --count; }
    int& count;
  };
  std::vector<Question> questions;
  int open = 0;
  std::optional<Answer> answer;
  loop::Event answered;
};

std::shared_ptr<const exec_policy::Policy> ParsedRules() {
  const exec_policy::RulesText text{.name = "test.rules", .text = kRules};
  auto policy = exec_policy::Policy::Parse({&text, 1});
  EXPECT_TRUE(policy) << policy.error().message;
  return std::make_shared<const exec_policy::Policy>(*std::move(policy));
}

std::string RequestFor(const std::string& file, const std::string& workdir = "/work") {
  const std::string name = file.substr(file.rfind('/') + 1);
  return R"({"file":")" + file + R"(","argv":[")" + name + R"(","a b"],"workdir":")" + workdir +
         R"(","env":{"A":"1","B":"x=y"}})";
}

// Standard input is another file for as long as this object exists.
class ReplacedInput {
 public:
  explicit ReplacedInput(int fd) : before_(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)) {
    EXPECT_EQ(::dup2(fd, STDIN_FILENO), STDIN_FILENO);
  }
  ~ReplacedInput() { EXPECT_EQ(::dup2(before_.get(), STDIN_FILENO), STDIN_FILENO); }
  ReplacedInput(const ReplacedInput&) = delete;
  ReplacedInput& operator=(const ReplacedInput&) = delete;

 private:
  const OwnedFd before_;
};

bool AreSameFile(int one, int other) {
  struct stat here, there;
  return ::fstat(one, &here) == 0 && ::fstat(other, &there) == 0 && here.st_dev == there.st_dev &&
         here.st_ino == there.st_ino;
}

class WrapperServerTest : public testing::Test {
 protected:
  WrapperServerTest() {
    WrapperServerOptions options{.policy = ParsedRules(),
                                 .environment = {{"A", "0"}, {"HOME", "/"}},
                                 .look = [this](pid_t caller, const std::string& path) { return Look(caller, path); },
                                 .start = outside_.starter()};
    server_ = *WrapperServer::Create(loop_, workers_, approver_, std::move(options));
  }

  std::optional<ProgramView> Look(pid_t caller, const std::string& file) {
    looks_.emplace_back(caller, file);  // read by the test only when the answer has come
    if (file.contains("missing")) return std::nullopt;
    ProgramView view = ViewOf(file, "/usr");
    if (file.contains("link")) view.other_paths = {"/usr/bin/never"};
    if (file.contains("script")) view.interpreter = {"/bin/x"}, view.interpreter_paths = {"/usr/bin/never"};
    if (file.contains("writable")) view.file = ProgramFile::kWritable;
    if (file.contains("elsewhere")) view.directory.reset();
    return view;
  }

  ScriptedPeer Connect() { return ConnectAsWrapper(server_->client_socket()->get()); }

  // Runs the loop until the server has sent something or has hung up.
  std::string Receive(ScriptedPeer& peer) {
    EXPECT_TRUE(RunUntil(loop_, [&] {
      char byte;
      const ssize_t n = ::recv(peer.fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
      return n >= 0 || (errno != EAGAIN && errno != EINTR);
    }));
    return peer.Receive();
  }

  std::string AnswerTo(const std::string& request) {
    ScriptedPeer peer = Connect();
    peer.Send(request);
    return Receive(peer);
  }

  bool SessionsBecome(size_t count) {
    return RunUntil(loop_, [&] { return server_->sessions() == count; });
  }

  // Brings a command outside to run, with the standard streams.
  ScriptedPeer Escalated() {
    ScriptedPeer peer = Connect();
    peer.Send(RequestFor("/bin/outside"));
    EXPECT_EQ(Receive(peer), R"({"action":"Escalate"})");
    peer.Send(R"({"fds":[0,1,2]})", {null_.get(), null_.get(), null_.get()});
    EXPECT_TRUE(RunUntil(loop_, [&] { return !outside_.commands.empty(); }));
    return peer;
  }

  OwnedFd null_{::open("/dev/null", O_RDWR | O_CLOEXEC)};
  loop::EventLoop loop_;
  loop::WorkerPool workers_{loop_, {}};
  ScriptedApprover approver_;
  FakeOutside outside_;
  std::vector<std::pair<pid_t, std::string>> looks_;
  std::unique_ptr<WrapperServer> server_;
};

constexpr const char* kRun = R"({"action":"Run"})";

TEST_F(WrapperServerTest, RunsWhatNoRuleIsAbout) {
  EXPECT_EQ(AnswerTo(RequestFor("/bin/echo")), kRun);
  EXPECT_TRUE(SessionsBecome(0));
}

TEST_F(WrapperServerTest, DeniesByARuleAndSaysWhy) {
  EXPECT_EQ(AnswerTo(RequestFor("/bin/never")), R"({"action":{"Deny":{"reason":"never do this"}}})");
  EXPECT_TRUE(SessionsBecome(0));
}

TEST_F(WrapperServerTest, RunsInsideWhatTheCommandCouldHaveWrittenItself) {
  EXPECT_EQ(AnswerTo(RequestFor("/writable/outside")), kRun);
}

TEST_F(WrapperServerTest, AsksNobodyAboutAProgramThatCannotBeExecuted) {
  EXPECT_EQ(AnswerTo(RequestFor("/missing/asked")), kRun);
  EXPECT_TRUE(approver_.questions.empty());
}

// The base name of the link is allowed, which does not help.
TEST_F(WrapperServerTest, DeniesAForbiddenProgramByEachOfItsPaths) {
  EXPECT_THAT(AnswerTo(RequestFor("/work/link/outside")), HasSubstr("never do this"));
  EXPECT_THAT(AnswerTo(RequestFor("/work/script")), HasSubstr("never do this"));
}

TEST_F(WrapperServerTest, LooksAtTheProgramFromTheCallersView) {
  (void)AnswerTo(RequestFor("./bin/echo"));
  EXPECT_THAT(looks_, ElementsAre(std::pair(::getpid(), "./bin/echo")));
}

// The request says /work. A hostile process could name any directory there.
TEST_F(WrapperServerTest, TakesTheDirectoryOfTheCallerAndNotThatOfTheRequest) {
  ScriptedPeer peer = Escalated();
  EXPECT_EQ(std::filesystem::canonical(fmt::format("/proc/self/fd/{}", outside_.commands[0]->order.directory->get())),
            "/usr");
}

TEST_F(WrapperServerTest, RunsInsideWhatIsCalledInADirectoryThatIsAnotherOneOutside) {
  EXPECT_EQ(AnswerTo(RequestFor("/elsewhere/outside")), kRun);
}

TEST_F(WrapperServerTest, LetsNobodyOutOfADirectoryThatIsAnotherOneOutside) {
  ScriptedPeer peer = Connect();
  peer.Send(RequestFor("/elsewhere/asked"));
  ASSERT_TRUE(RunUntil(loop_, [&] { return approver_.open == 1; }));
  EXPECT_EQ(approver_.questions[0].when_approved, Action::kRun);
  approver_.Give({.action = Action::kEscalate});
  EXPECT_THAT(Receive(peer), HasSubstr("Outside of the sandbox the working directory is another one"));
}

TEST_F(WrapperServerTest, AsksAndRunsOutsideWhenItIsApproved) {
  ScriptedPeer peer = Connect();
  peer.Send(RequestFor("asked"));
  ASSERT_TRUE(RunUntil(loop_, [&] { return approver_.open == 1; }));
  const Question& question = approver_.questions[0];
  EXPECT_EQ(question.file, "/usr/asked");
  EXPECT_THAT(question.argv, ElementsAre("asked", "a b"));
  EXPECT_EQ(question.cwd, "/usr");
  EXPECT_THAT(question.variables, ElementsAre(std::pair("B", "x=y")));
  EXPECT_EQ(question.reason, "it is risky");
  EXPECT_EQ(question.when_approved, Action::kEscalate);
  approver_.Give({.action = Action::kEscalate});
  EXPECT_THAT(Receive(peer), HasSubstr("Escalate"));
}

// A thread of the caller could exchange its streams while the person thinks, and a hostile caller passes what it wants.
TEST_F(WrapperServerTest, AnApprovedProgramGetsTheStreamsOfTheMomentOfTheQuestion) {
  const auto asked = *sys::MakeMemoryFile("asked", ""), exchanged = *sys::MakeMemoryFile("exchanged", "");
  const ReplacedInput input(asked.get());
  ScriptedPeer peer = Connect();
  peer.Send(RequestFor("/bin/asked"));
  ASSERT_TRUE(RunUntil(loop_, [&] { return approver_.open == 1; }));
  ASSERT_EQ(::dup2(exchanged.get(), STDIN_FILENO), STDIN_FILENO);
  approver_.Give({.action = Action::kEscalate});
  EXPECT_THAT(Receive(peer), HasSubstr("Escalate"));
  peer.Send(R"({"fds":[0,5]})", {exchanged.get(), exchanged.get()});
  ASSERT_TRUE(RunUntil(loop_, [&] { return !outside_.commands.empty(); }));
  const std::vector<PassedFd>& fds = outside_.commands[0]->order.fds;
  ASSERT_EQ(fds.size(), 2u);
  EXPECT_EQ(fds[0].number, 0);
  EXPECT_TRUE(AreSameFile(fds[0].fd.get(), asked.get()));
  EXPECT_EQ(fds[1].number, 5);
  EXPECT_TRUE(AreSameFile(fds[1].fd.get(), exchanged.get()));
}

TEST_F(WrapperServerTest, DeniesWhatWasDeclined) {
  ScriptedPeer peer = Connect();
  peer.Send(RequestFor("/bin/asked"));
  ASSERT_TRUE(RunUntil(loop_, [&] { return approver_.open == 1; }));
  approver_.Give({.action = Action::kDeny, .reason = "User declined execution"});
  EXPECT_EQ(Receive(peer), R"({"action":{"Deny":{"reason":"User declined execution"}}})");
}

TEST_F(WrapperServerTest, WithdrawsTheQuestionOfAWrapperThatIsGone) {
  ScriptedPeer peer = Connect();
  peer.Send(RequestFor("/bin/asked"));
  ASSERT_TRUE(RunUntil(loop_, [&] { return approver_.open == 1; }));
  peer.Close();
  EXPECT_TRUE(RunUntil(loop_, [&] { return approver_.open == 0; }));
  EXPECT_TRUE(SessionsBecome(0));
}

TEST_F(WrapperServerTest, WithdrawsAllQuestionsAtItsEnd) {
  ScriptedPeer peer = Connect();
  peer.Send(RequestFor("/bin/asked"));
  ASSERT_TRUE(RunUntil(loop_, [&] { return approver_.open == 1; }));
  server_.reset();
  EXPECT_EQ(approver_.open, 0);
  EXPECT_EQ(peer.Receive(), "END");
}

TEST_F(WrapperServerTest, HasSeveralQuestionsOpenAtOnce) {
  ScriptedPeer first = Connect(), second = Connect();
  first.Send(RequestFor("/bin/asked"));
  second.Send(RequestFor("/bin/asked"));
  EXPECT_TRUE(RunUntil(loop_, [&] { return approver_.open == 2; }));
}

TEST_F(WrapperServerTest, RunsExactlyTheCommandThatWasJudged) {
  ScriptedPeer peer = Escalated();
  const OutsideOrder& order = outside_.commands[0]->order;
  EXPECT_EQ(order.path, "/bin/outside");
  EXPECT_THAT(order.argv, ElementsAre("outside", "a b"));
  EXPECT_THAT(order.environment, ElementsAre("A=1", "HOME=/", "PWD=/usr"));
  EXPECT_EQ(order.state.umask, 022u);
  ASSERT_EQ(order.fds.size(), 3u);
  EXPECT_EQ(order.fds[2].number, 2);
}

TEST_F(WrapperServerTest, AnswersWithTheExitCode) {
  ScriptedPeer peer = Escalated();
  outside_.commands[0]->observer.OnEnded({.exit_code = 42});
  EXPECT_EQ(Receive(peer), R"({"exit_code":42})");
  EXPECT_TRUE(SessionsBecome(0));
  EXPECT_TRUE(outside_.commands.empty());
}

TEST_F(WrapperServerTest, AnswersADeathBySignalAsAShellDoes) {
  ScriptedPeer peer = Escalated();
  outside_.commands[0]->observer.OnEnded({.signal = SIGSEGV});
  EXPECT_EQ(Receive(peer), R"({"exit_code":139})");
}

TEST_F(WrapperServerTest, AnswersThatACommandCannotBeStarted) {
  outside_.refuses = true;
  ScriptedPeer peer = Connect();
  peer.Send(RequestFor("/bin/outside"));
  (void)Receive(peer);
  peer.Send(R"({"fds":[]})");
  EXPECT_EQ(Receive(peer), R"({"exit_code":126})");
  EXPECT_TRUE(SessionsBecome(0));
}

TEST_F(WrapperServerTest, DoesNotPassAStopOn) {
  ScriptedPeer peer = Escalated();
  outside_.commands[0]->observer.OnStopped(SIGTSTP, 0);
  outside_.commands[0]->observer.OnEnded({});
  EXPECT_EQ(Receive(peer), R"({"exit_code":0})");
}

TEST_F(WrapperServerTest, KillsTheCommandWhenTheWrapperIsGone) {
  ScriptedPeer peer = Escalated();
  peer.Close();
  EXPECT_TRUE(RunUntil(loop_, [&] { return outside_.commands.empty(); }));
  EXPECT_TRUE(SessionsBecome(0));
}

TEST_F(WrapperServerTest, KillsTheCommandsAtItsEnd) {
  ScriptedPeer peer = Escalated();
  server_.reset();
  EXPECT_TRUE(outside_.commands.empty());
  EXPECT_EQ(peer.Receive(), "END");
}

TEST_F(WrapperServerTest, RefusesARequestThatItCannotRead) {
  EXPECT_THAT(AnswerTo("nonsense"), HasSubstr(R"({"Deny":{"reason":"the request is refused: not JSON)"));
  EXPECT_EQ(AnswerTo(R"({"file":"/x","argv":[],"workdir":"/"})"),
            R"({"action":{"Deny":{"reason":"the request is refused: env: is missing"}}})");
  ScriptedPeer peer = Connect();
  peer.SendRaw("\xff\xff\xff\xff");
  EXPECT_THAT(Receive(peer), HasSubstr("is too long"));
  EXPECT_TRUE(SessionsBecome(0));
}

TEST_F(WrapperServerTest, TakesRequestsInPiecesAndOfManyMegabytes) {
  ScriptedPeer peer = Connect();
  const std::string request =
      R"({"file":"/bin/never","argv":["never",")" + std::string(5 << 20, 'x') + R"("],"workdir":"/","env":{}})";
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(request.size() >> shift & 0xff);
  bytes += request;
  for (std::string_view rest = bytes; !rest.empty();) {
    const ssize_t n = ::send(peer.fd(), rest.data(), std::min<size_t>(rest.size(), 100'003), MSG_DONTWAIT);
    if (n > 0) rest.remove_prefix(static_cast<size_t>(n));
    support::RunReady(loop_);
  }
  EXPECT_THAT(Receive(peer), HasSubstr("never do this"));
}

TEST_F(WrapperServerTest, EndsASessionThatBreaksTheProtocol) {
  const auto ends = [&](const std::string& hand_over, const std::vector<int>& fds) {
    ScriptedPeer peer = Connect();
    peer.Send(RequestFor("/bin/outside"));
    EXPECT_THAT(Receive(peer), HasSubstr("Escalate"));
    peer.Send(hand_over, fds);
    return Receive(peer) == "END" && outside_.commands.empty();
  };
  EXPECT_TRUE(ends(R"({"fds":[0,1,2]})", {null_.get()}));
  EXPECT_TRUE(ends(R"({"fds":[0]})", {null_.get(), null_.get()}));
  EXPECT_TRUE(ends(R"({"fds":[0]})", {}));
  EXPECT_TRUE(ends(R"({"fds":[1,1]})", {null_.get(), null_.get()}));
  EXPECT_TRUE(ends("nonsense", {}));
  EXPECT_TRUE(SessionsBecome(0));
}

TEST_F(WrapperServerTest, EndsASessionThatTalksOutOfTurn) {
  ScriptedPeer peer = Connect();
  peer.Send(RequestFor("/bin/asked"));
  ASSERT_TRUE(RunUntil(loop_, [&] { return approver_.open == 1; }));
  peer.Send(R"({"fds":[]})");
  EXPECT_EQ(Receive(peer), "END");
  EXPECT_EQ(approver_.open, 0);
}

TEST_F(WrapperServerTest, RefusesDescriptorsThatComeWithARequest) {
  ScriptedPeer peer = Connect();
  peer.Send(RequestFor("/bin/echo"), {null_.get()});
  EXPECT_THAT(Receive(peer), HasSubstr("descriptors came with a message that has none"));
}

TEST_F(WrapperServerTest, KeepsNoDescriptorsOfARequestThatIsNotComplete) {
  ScriptedPeer peer = Connect();
  peer.SendRaw("\x10", std::vector<int>(200, null_.get()));
  EXPECT_THAT(Receive(peer), HasSubstr("descriptors came with a message that has none"));
  EXPECT_TRUE(SessionsBecome(0));
}

TEST_F(WrapperServerTest, HoldsALimitedNumberOfDescriptors) {
  const auto begin = [&] {
    ScriptedPeer peer = Connect();
    peer.Send(RequestFor("/bin/outside"));
    EXPECT_THAT(Receive(peer), HasSubstr("Escalate"));
    peer.SendRaw("\x10", std::vector<int>(250, null_.get()));  // the rest of the frame never comes
    support::RunReady(loop_);
    return peer;
  };
  std::vector<ScriptedPeer> peers;
  for (int i = 0; i < 4; ++i) peers.push_back(begin());
  ASSERT_EQ(server_->sessions(), 4u);
  ScriptedPeer late = begin();
  EXPECT_EQ(Receive(late), R"({"exit_code":126})");
  peers.clear();
  EXPECT_TRUE(SessionsBecome(0));
  ScriptedPeer again = Escalated();
  EXPECT_EQ(outside_.commands.size(), 1u);
}

TEST_F(WrapperServerTest, IgnoresDatagramsThatPassNoStream) {
  const int client = server_->client_socket()->get();
  const auto before = support::CountFds(::getpid());
  const int null = null_.get();
  const std::vector<int> two = {null, null};
  ASSERT_TRUE(sys::SendDescriptors(client, {&null, 1}));
  ASSERT_TRUE(sys::SendDescriptors(client, two));
  ASSERT_TRUE(sys::SendDescriptors(client, {&client, 1}));
  ASSERT_EQ(::send(client, "", 0, 0), 0);
  ASSERT_EQ(::send(client, "xyz", 3, 0), 3);
  EXPECT_EQ(AnswerTo(RequestFor("/bin/echo")), kRun);
  EXPECT_TRUE(SessionsBecome(0));
  EXPECT_LE(support::CountFds(::getpid()), before + 8);  // the workers may have opened some, but none of these is kept
}

TEST_F(WrapperServerTest, ReachesNothingElseByTheSocketOfTheShell) {
  sockaddr_un abstract = {.sun_family = AF_UNIX, .sun_path = {0}};
  std::memcpy(abstract.sun_path + 1, "holdfast-wrapper-test", 21);
  const OwnedFd other(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto* address = reinterpret_cast<const sockaddr*>(&abstract);
  ASSERT_EQ(::bind(other.get(), address, sizeof abstract), 0);
  (void)::sendto(server_->client_socket()->get(), "x", 1, MSG_DONTWAIT, address, sizeof abstract);
  char byte;
  EXPECT_LT(::recv(other.get(), &byte, 1, MSG_DONTWAIT), 0);
}

TEST_F(WrapperServerTest, StopsListeningWhenAClientShutsTheSocketDown) {
  ScriptedPeer peer = Escalated();
  ASSERT_EQ(::shutdown(server_->client_socket()->get(), SHUT_RDWR), 0);
  support::RunReady(loop_);  // would never end
  outside_.commands[0]->observer.OnEnded({.exit_code = 3});
  EXPECT_EQ(Receive(peer), R"({"exit_code":3})");
}

TEST_F(WrapperServerTest, LetsFurtherWrappersWaitWhenThereAreVeryMany) {
  std::vector<ScriptedPeer> peers;
  for (int i = 0; i < 256; ++i) {
    peers.push_back(Connect());
    support::RunReady(loop_);
  }
  ASSERT_TRUE(SessionsBecome(256));
  ScriptedPeer late = Connect();
  late.Send(RequestFor("/bin/echo"));
  support::RunReady(loop_);
  EXPECT_EQ(server_->sessions(), 256u);
  peers.pop_back();
  EXPECT_EQ(Receive(late), kRun);
}

TEST(WrapperVariablesTest, NameTheWrapperForBothShells) {
  EXPECT_EQ(WrapperVariables("/bin/w"), (std::vector<std::pair<std::string, std::string>>{
                                            {"BASH_EXEC_WRAPPER", "/bin/w"}, {"EXEC_WRAPPER", "/bin/w"}}));
}

}  // namespace
}  // namespace holdfast::escalate
