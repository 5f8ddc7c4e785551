// Tests of `holdfast run` in pipes.
#include <csignal>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_fixture.h"
#include "support/eventually.h"
#include "support/http_server.h"
#include "support/test_certificate.h"

namespace holdfast::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

using RunTest = ServedCommandFixture;

TEST_F(RunTest, KeepsTheStreamsApart) {
  const support::Outcome outcome = Run("echo in | holdfast run sh -c 'cat; echo err >&2'");
  EXPECT_EQ(outcome.out, "in\n");
  EXPECT_EQ(outcome.err, "err\n");
  EXPECT_EQ(outcome.status, 0);
}

TEST_F(RunTest, HasTheExitStatusOfTheCommand) {
  EXPECT_EQ(Run("holdfast run sh -c 'exit 3'").status, 3);
  EXPECT_EQ(Run("holdfast run sh -c 'kill -9 $$'").status, 128 + SIGKILL);
  EXPECT_EQ(Run("holdfast run sh -c 'kill -TERM $$'").status, 128 + SIGTERM);
}

TEST_F(RunTest, TellsACommandThatDoesNotExistFromOneThatCannotBeExecuted) {
  EXPECT_THAT(Refusal("holdfast run no-such-command", 127), StartsWith("holdfast run: execute no-such-command: "));
  EXPECT_THAT(Refusal("holdfast run /no/such/command", 127), HasSubstr("No such file or directory"));
  EXPECT_THAT(Refusal("holdfast run /etc/passwd", 126), HasSubstr("Permission denied"));
  EXPECT_THAT(Refusal("holdfast run --cwd /no/such/directory true", 125), HasSubstr("/no/such/directory"));
}

TEST_F(RunTest, HasTheSameExitStatusesUnderASandboxAndUnderRules) {
  scratch_.Write("r.rules", "prefix_rule(pattern=[\"/usr/bin/id\"], decision=\"forbidden\")\n");
  for (const char* options : {"--sandbox read-only", "--rules r.rules", "--sandbox read-only --rules r.rules"}) {
    const auto status_of = [&](const char* command) {
      return Run(std::string("holdfast run ") + options + " " + command).status;
    };
    EXPECT_EQ(status_of("no-such-command"), 127) << options;
    EXPECT_EQ(status_of("/no/such/command"), 127) << options;
    EXPECT_EQ(status_of("/etc/passwd"), 126) << options;
    EXPECT_EQ(status_of("--cwd /no/such/directory true"), 125) << options;
  }
}

TEST_F(RunTest, EndsTheCommandAtTheTimeLimit) {
  EXPECT_THAT(Refusal("holdfast run --timeout 300ms sleep 1000", 124), HasSubstr("the time limit is reached"));
  EXPECT_EQ(Run("holdfast run --timeout 1h true").status, 0);
  EXPECT_THAT(Refusal("holdfast run --timeout soon true", 2), HasSubstr("--timeout: \"soon\" is not a time"));
}

TEST_F(RunTest, HasTheEnvironmentAndTheDirectoryOfTheCaller) {
  EXPECT_EQ(Output("export COLOUR=red; holdfast run sh -c 'echo $COLOUR; pwd'"), "red\n" + scratch_.path() + "\n");
  EXPECT_EQ(Output("export B=2; holdfast run -e A=1 -e B -e C=x=y sh -c 'echo $A$B$C'"), "12x=y\n");
  EXPECT_EQ(Output("mkdir sub; holdfast run --cwd sub pwd; holdfast run -C / pwd"), Path("sub") + "\n/\n");
}

TEST_F(RunTest, TellsTheCommandTheNameOfItsRun) {
  EXPECT_EQ(Output("holdfast run --name web sh -c 'echo $HOLDFAST_RUN'"), "web\n");
  EXPECT_EQ(Output("holdfast run --name out holdfast run --name in sh -c 'echo $HOLDFAST_RUN'"), "in\n");
  EXPECT_EQ(Output("holdfast run --name web --sandbox read-only sh -c 'echo $HOLDFAST_RUN'"), "web\n");
  EXPECT_EQ(Output("holdfast run -e HOLDFAST_RUN=mine sh -c 'echo $HOLDFAST_RUN'"), "mine\n");
  const auto remote = support::ServerProcess::Start();
  EXPECT_EQ(Output("holdfast run --server " + remote.url() + " --name far sh -c 'echo $HOLDFAST_RUN'"), "far\n");
}

TEST_F(RunTest, PassesTheWordsOnAsTheyAre) {
  EXPECT_EQ(Output(R"(holdfast run printf '%s|' '' 'a b' '$x' '"' --json -t)"), "|a b|$x|\"|--json|-t|");
}

TEST_F(RunTest, PassesSignalsOn) {
  support::Program program(
      Bash("exec holdfast run sh -c 'trap \"echo got it; exit 7\" USR1; echo ready; "
           "while :; do sleep 0.01; done'"));
  program.AwaitOutput("ready\n");
  program.Signal(SIGUSR1);
  const support::Outcome outcome = program.Finish();
  EXPECT_EQ(outcome.out, "ready\ngot it\n");
  EXPECT_EQ(outcome.status, 7);
}

TEST_F(RunTest, StopsAndContinuesTogetherWithTheCommand) {
  support::Program program(Bash("exec holdfast run sh -c 'echo $$; while :; do sleep 0.01; done'"));
  program.AwaitOutput("\n");
  program.Signal(SIGTSTP);
  const auto has_state = [&](pid_t pid, char state) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string stat(std::istreambuf_iterator<char>(file), {});
    return stat.size() > stat.rfind(')') + 2 && stat[stat.rfind(')') + 2] == state;
  };
  EXPECT_TRUE(support::Eventually([&] { return has_state(program.pid(), 'T'); }));
  program.Signal(SIGCONT);
  EXPECT_TRUE(support::Eventually([&] { return !has_state(program.pid(), 'T'); }));
  program.Signal(SIGTERM);
  EXPECT_EQ(program.Finish().status, 128 + SIGTERM);  // a stopped command would not end
}

TEST_F(RunTest, CarriesBinaryDataUnchangedInBothDirections) {
  const std::string size = support::IsSanitized() ? "100000000" : "300000000";
  EXPECT_EQ(Output("head -c " + size + " /dev/urandom > data; holdfast run cat < data | cmp - data && echo same"),
            "same\n");
}

TEST_F(RunTest, EndsQuietlyWhenTheReaderHasEnough) {
  const support::Outcome outcome = Run("holdfast run yes | head -n 2; echo ${PIPESTATUS[0]}");
  EXPECT_EQ(outcome.out, "y\ny\n141\n");
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(Output("holdfast ps -q"), "");
}

TEST_F(RunTest, EndsAlsoWhenTheReaderLeavesWhileItsPipeIsFull) {
  EXPECT_EQ(Output("(holdfast run cat /dev/zero; echo $? > status) | (sleep 0.5; head -c 1) | wc -c; cat status"),
            "1\n141\n");
}

TEST_F(RunTest, EndsAtTheTimeLimitAlsoWhileNobodyReads) {
  EXPECT_EQ(Run("(holdfast run --timeout 300ms cat /dev/zero; echo $? > status) | (while [ ! -e status ]; do sleep "
                "0.01; done); "
                "cat status")
                .out,
            "124\n");
}

TEST_F(RunTest, ASlowReaderLosesNothing) {
  EXPECT_EQ(Output("holdfast run seq 1000000 | (sleep 0.5; tail -n 1)"), "1000000\n");
}

TEST_F(RunTest, TellsThatStandardOutputIsFull) {
  EXPECT_THAT(Refusal("holdfast run yes > /dev/full", 125),
              HasSubstr("write standard output: No space left on device"));
}

TEST_F(RunTest, LeavesNoRunBehind) {
  Output("holdfast run true");
  Run("holdfast run false; holdfast run no-such-command");
  EXPECT_EQ(Output("holdfast ps --quiet"), "");
}

TEST_F(RunTest, RunsInASandbox) {
  const support::Outcome denied = Run("holdfast run --sandbox read-only touch new");
  EXPECT_EQ(denied.status, 1);
  EXPECT_THAT(denied.err, HasSubstr("holdfast run: the sandbox has denied something to the command\n"));
  EXPECT_EQ(Output("holdfast run --sandbox workspace-write touch new; echo made"), "made\n");
  EXPECT_EQ(Content("new"), "");
  EXPECT_THAT(Refusal("holdfast run --sandbox nonsense true", 2), HasSubstr("--sandbox: \"nonsense\" is neither"));
}

TEST_F(RunTest, KeepsTheUrlOfAServerFromASandboxedCommand) {
  const std::string url = "HOLDFAST_SERVER=ws://127.0.0.1:1/secret ";
  const std::string run = url + "holdfast run --server unix://$PWD/server.sock ";
  EXPECT_EQ(Output(run + "sh -c 'echo $HOLDFAST_SERVER'"), "ws://127.0.0.1:1/secret\n");
  EXPECT_EQ(Output(run + "--sandbox read-only sh -c 'echo $HOLDFAST_SERVER'"), "\n");
  EXPECT_EQ(Output(run + "--sandbox read-only -e HOLDFAST_SERVER=x sh -c 'echo $HOLDFAST_SERVER'"), "x\n");
}

// Behind a port the command has the environment of the server.
TEST_F(RunTest, KeepsTheUrlOfAServerInTheEnvironmentOfAnotherFromASandboxedCommand) {
  const auto server = support::ServerProcess::Start({.env = {"HOLDFAST_SERVER=ws://127.0.0.1:1/other"}});
  const std::string run = "holdfast run --server " + server.url() + " ";
  EXPECT_EQ(Output(run + "sh -c 'echo $HOLDFAST_SERVER'"), "ws://127.0.0.1:1/other\n");
  EXPECT_EQ(Output(run + "--sandbox read-only sh -c 'echo $HOLDFAST_SERVER'"), "\n");
  EXPECT_EQ(Output(run + "--sandbox read-only -e HOLDFAST_SERVER=x sh -c 'echo $HOLDFAST_SERVER'"), "x\n");
}

TEST_F(RunTest, KeepsThePathOfATokenFromASandboxedCommand) {
  const std::string run = "HOLDFAST_TOKEN_FILE=/some/file holdfast run ";
  EXPECT_EQ(Output(run + "sh -c 'echo $HOLDFAST_TOKEN_FILE'"), "/some/file\n");
  EXPECT_EQ(Output(run + "--sandbox read-only sh -c 'echo $HOLDFAST_TOKEN_FILE'"), "\n");
}

// The token of the environment belongs to the server of the environment: another server does not get it.
TEST_F(RunTest, SendsTheTokenOfTheEnvironmentOnlyToTheServerOfTheEnvironment) {
  Output("(umask 077; echo 0123456789abcdef-token > token)");
  const auto server =
      support::ServerProcess::Start({"--ws-auth", "capability-token", "--ws-token-file", Path("token")});
  const std::string token = "HOLDFAST_TOKEN_FILE=token ";
  EXPECT_EQ(Output(token + "HOLDFAST_SERVER=" + server.url() + " holdfast run echo in"), "in\n");
  EXPECT_THAT(Refusal(token + "holdfast run --server " + server.url() + " true", 125), HasSubstr("401 Unauthorized"));
  EXPECT_EQ(Output("holdfast run --token-file token --server " + server.url() + " echo in"), "in\n");
}

// A newline ends a message on the unix socket.
TEST_F(RunTest, ReadsASandboxFromAFileWithSeveralLines) {
  Output(
      R"(printf '{\r\n  "sandboxPolicy": {\n    "type": "read-only"\n  },\n  "cwd": "file://%s"\n}\n' $PWD > box.json)");
  const support::Outcome denied = Run("holdfast run --timeout 20s --sandbox box.json touch new");
  EXPECT_EQ(denied.status, 1);
  EXPECT_THAT(denied.err, HasSubstr("holdfast run: the sandbox has denied something to the command\n"));
  EXPECT_EQ(Output("holdfast run --sandbox box.json echo read"), "read\n");
}

TEST_F(RunTest, RefusesASandboxThatIsNotJson) {
  EXPECT_THAT(Refusal("echo '{\"cwd\"' > broken; holdfast run --sandbox broken true", 2),
              HasSubstr("--sandbox: broken: "));
  EXPECT_THAT(Refusal("echo '[]' > list; holdfast run --sandbox list true", 2),
              HasSubstr("--sandbox: list: not a JSON object"));
  EXPECT_EQ(Output("holdfast ps -q"), "");
}

TEST_F(RunTest, RefusesANameThatIsTakenAndReusesOneThatIsFree) {
  EXPECT_EQ(Output("holdfast run -d --name web sleep 1000"), "web\n");
  EXPECT_THAT(Refusal("holdfast run --name web true", 125), HasSubstr("a run named web exists already"));
  Run("holdfast kill web; holdfast wait web");
  EXPECT_EQ(Output("holdfast run --name web echo again"), "again\n");
  EXPECT_THAT(Refusal("holdfast run --name 'a b' true", 2), HasSubstr("is not a name"));
}

TEST_F(RunTest, NamesWhatIsWrongWithTheServer) {
  EXPECT_THAT(Refusal("holdfast run --server ws://127.0.0.1:1 true", 125),
              StartsWith("holdfast run: cannot reach the server at 127.0.0.1:1: Connection refused; start one with "
                         "`holdfast exec-server`"));
  EXPECT_THAT(Refusal("HOLDFAST_SERVER=unix:///no/socket holdfast run true", 125), HasSubstr("unset HOLDFAST_SERVER"));
  EXPECT_THAT(Refusal("holdfast run --server gopher://x true", 125), HasSubstr("ws://HOST:PORT"));
  EXPECT_THAT(Refusal("holdfast run --nonsense true", 2), HasSubstr("--nonsense"));
}

TEST_F(RunTest, TellsThatTheServerDoesNotSpeakTheProtocol) {
  const support::HttpServer web([](const support::HttpArrival&, support::HttpPeer& peer) { peer.Answer(200, "hi"); });
  EXPECT_THAT(Refusal("holdfast run --server ws://" + web.Authority() + " true", 125),
              MatchesRegex("holdfast run: .*" + web.Authority() + ".*\n"));
  EXPECT_THAT(Refusal("holdfast ps --server wss://" + web.Authority(), 1),
              MatchesRegex("holdfast ps: .*" + web.Authority() + ".*\n"));
}

TEST_F(RunTest, TellsThatTheCertificateDoesNotMatch) {
  const support::TestCertificate certificate({.names = "DNS:other.example"}), unknown;
  const auto server = support::ServerProcess::Start(
      {"--tls-cert", certificate.certificate_file(), "--tls-key", certificate.key_file()});
  const std::string run = "holdfast run --server " + server.url() + " --ca-file ";
  EXPECT_THAT(Refusal(run + certificate.certificate_file() + " true", 125), HasSubstr("certificate"));
  EXPECT_THAT(Refusal(run + unknown.certificate_file() + " true", 125), HasSubstr("certificate"));
  EXPECT_THAT(Refusal("holdfast ps --server " + server.url(), 1), HasSubstr("certificate"));
}

TEST_F(RunTest, TellsThatTheServerWasKilled) {
  support::Program program(Bash("exec holdfast run sh -c 'echo ready; sleep 1000'"));
  program.AwaitOutput("ready\n");
  server().Kill();
  StartServer();  // it does not know the run
  const support::Outcome outcome = program.Finish();
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, MatchesRegex("holdfast run: [^\n]+\n"));
}

class PrivateRunTest : public CommandFixture {
 protected:
  PrivateRunTest() { url_.clear(); }
};

TEST_F(PrivateRunTest, StartsAServerOnDemandAndUsesItAgain) {
  EXPECT_EQ(Output("holdfast ps --quiet"), "");
  EXPECT_EQ(Output("ls holdfast 2>/dev/null || echo none"), "none\n");  // to look is no reason to start a server
  EXPECT_EQ(Output("holdfast run echo hello"), "hello\n");
  EXPECT_EQ(Output("holdfast run -d --name web sleep 1000; holdfast ps -q"), "web\nweb\n");
  const std::string server_pids = "pgrep -f 'exec-serve[r] --listen unix://" + scratch_.path() + "'";
  EXPECT_THAT(Output(server_pids), MatchesRegex("[0-9]+\n"));
  Output("kill $(" + server_pids + "); while " + server_pids + " > /dev/null; do sleep 0.01; done");
}

// The rules are read by the server, which runs on this machine, so their paths are those of the caller.
TEST_F(RunTest, JudgesProgramsByRules) {
  scratch_.Write("r.rules", "prefix_rule(pattern=[\"/usr/bin/id\"], decision=\"forbidden\")\n");
  const support::Outcome outcome = Run("holdfast run --rules r.rules sh -c '/usr/bin/id; exit $?'");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("Execution denied"));
  EXPECT_EQ(Run("holdfast run --rules r.rules --strict -- /usr/bin/true").status, 0);
  EXPECT_THAT(Refusal("holdfast run --strict true", 2), HasSubstr("--strict needs --rules"));
  EXPECT_THAT(Refusal("holdfast run --rules none.rules true", 125), HasSubstr("none.rules: No such file or directory"));
}

TEST_F(RunTest, DeniesWithoutATerminalToAskOn) {
  scratch_.Write("r.rules", "prefix_rule(pattern=[\"/usr/bin/id\"], decision=\"prompt\")\n");
  const support::Outcome outcome = Run("setsid holdfast run --rules r.rules sh -c '/usr/bin/id; exit $?'");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("holdfast run has no terminal to ask the user on"));
}

}  // namespace
}  // namespace holdfast::cli
