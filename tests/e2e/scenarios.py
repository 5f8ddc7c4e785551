"""The scenarios: what the scripted model has the client do, and what must come of it.

A step is a claim, the tool calls that try it, and checks of what came back (expect.py). In texts these are filled in:
@workspace, @outside (a folder beside it), @port (where the model listens: what a sandbox without network must not
reach) and @mcp (what the client calls the MCP server).
"""
import dataclasses

from expect import (absent, advised, asked, confined, denied, each_once, exits, fails, holds, keeps, lacks, matches,
                    noted, reached, resumed, says, shows_image, started, streamed)
from model import FREEFORM, Call
from versions import (BEARER_TOKEN, ENVIRONMENTS_FILE, INSTALLED_CAPABILITIES, MODEL, NEW_CONNECTION, RESUME,
                      SELECTED_ROOTS, SERVER_SANDBOX, Feature)

MANAGED = '"type": "managed"'  # a file request that is to run in a sandbox has this in its params
FULL_ACCESS, WORKSPACE_WRITE, READ_ONLY = "danger-full-access", "workspace-write", "read-only"


@dataclasses.dataclass(frozen=True)
class Kept:
    """Stands for the session number that an earlier step kept under this name."""
    name: str


@dataclasses.dataclass(frozen=True)
class Step:
    claim: str
    calls: tuple
    checks: tuple
    cuts: bool = False        # the connection is cut just before
    restarts: bool = False    # the rendezvous is killed and started again just before
    decision: str = "accept"  # the user's answer, should the client ask for approval
    needs: Feature = MODEL    # clients without it skip the step
    is_new_thread: bool = False  # not calls: a new thread begins, and the client tells its model about the workspace


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    steps: tuple
    sandbox: str = FULL_ACCESS
    link: str = "variable"  # how the client finds the server: variable, file (environments.toml), token, stdio or none
    folder: str = "."       # where in the workspace, which is a repository, the client works
    asks: bool = False      # approvals are asked for
    mcp: str = ""           # stdio, http: an MCP server where the commands run; shell: `holdfast mcp-server`
    capabilities: str = ""  # selected, installed: skills and plugins where the commands run
    is_remote: bool = False  # the server is an executor, which the client reaches through a rendezvous
    needs: Feature = MODEL

    @property
    def threads(self):
        return 1 + sum(step.is_new_thread for step in self.steps)


def step(claim, call, *checks, **options):
    return Step(claim, call if isinstance(call, tuple) else (call,), checks, **options)


def new_thread(claim, *checks):
    return Step(claim, (), checks, is_new_thread=True)


def run(cmd, wait_ms=10_000, **arguments):
    return Call("exec_command", {"cmd": cmd, "yield_time_ms": wait_ms} | arguments)


def enter(name, chars, wait_ms=10_000):
    return Call("write_stdin", {"session_id": Kept(name), "chars": chars, "yield_time_ms": wait_ms})


def poll(name):
    return enter(name, "")


def shell(command):
    """The tool of `holdfast mcp-server`."""
    return Call("shell", {"command": command, "workdir": "@workspace", "login": False}, namespace="@mcp")


def patch(*lines):
    return Call("apply_patch", "\n".join(["*** Begin Patch", *lines, "*** End Patch"]), FREEFORM)


def view(path):
    return Call("view_image", {"path": path})


PLAIN = step("a command runs in the workspace and exits 0", run("echo $((6*7)) is it; pwd"),
             says("42 is it", "@workspace\n"), exits(0))
# Holds for any link between client and server, also where there is no wire to look at.
ANCESTRY = step("the command is a descendant of the server",
                run("p=$$; while [ $p -gt 1 ]; do read -r name < /proc/$p/comm; echo \"at $name\"; "
                    "p=$(sed -n 's/^PPid:\\t//p' /proc/$p/status); done"),
                says("at holdfast\n"), exits(0))
ADD_FILE = step("apply_patch adds a file in directories that are missing",
                patch("*** Add File: a/b/c.txt", "+first", "+second"), holds("a/b/c.txt", "first\nsecond\n"))
# A client that does not reach its server may write the file by itself.
ADD_FILE_THERE = dataclasses.replace(
    ADD_FILE, checks=ADD_FILE.checks + (reached("fs/writeFile", "@workspace/a/b/c.txt"),))
IMAGE = step("view_image shows a file of the workspace", view("@workspace/dot.png"), shows_image())
# Clients of 0.169 ask for no sandbox here, because these sandboxes may read everything.
IMAGE_THERE = dataclasses.replace(IMAGE, checks=IMAGE.checks + (reached("fs/readFile", "dot.png"),))
NO_NETWORK = step("the network is out of reach", run("bash -c ': <>/dev/tcp/127.0.0.1/@port'; echo status $?"),
                  matches("status [1-9]"), confined())
ASK_NAME = step("a terminal is a terminal and waits for input",
                run("[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo terminal; printf 'name? '; read -r name; "
                    "echo \"hello $name\"", 1500, tty=True),
                says("terminal", "name? "), keeps("dialogue"))
GIVE_NAME = step("what is typed arrives, and the exit is seen",
                 enter("dialogue", "E2E\n"), says("hello E2E"), exits(0))

BOTH_STREAMS = step("standard error and the exit code come through",
                    run("echo to-out; echo to-err >&2; exit 7"), says("to-out", "to-err"), exits(7))
NUMBERED = b"".join(b"%07d of many\n" % number for number in range(1, 50_001))
MUCH_OUTPUT = step("close to a megabyte of output arrives whole",
                   run("seq -f '%07.0f of many' 1 50000", 30_000, max_output_tokens=2000),
                   says("0000001 of many", "0050000 of many"), exits(0), streamed(NUMBERED))
TICKS = [f"tick {number}." for number in range(1, 13)]
PATCH_BY_SHELL = "apply_patch <<'EOP'\n*** Begin Patch\n*** Add File: shell.txt\n+by shell\n*** End Patch\nEOP"
# The client itself runs a patch that is the whole command, but it does not look into a script. No login shell here:
# its profile may set PATH anew.
ADD_SCRIPT = step("a script is added that calls tools",
                  patch("*** Add File: tools.sh", "+set -e", "+rg --no-config given given.txt", "+apply_patch <<'EOP'",
                        "+*** Begin Patch", "+*** Add File: script.txt", "++by script", "+*** End Patch", "+EOP"),
                  matches("tools.sh"))
RUN_SCRIPT = step("a script finds rg and apply_patch",
                  run("sh tools.sh", login=False), says("given"), exits(0), holds("script.txt", "by script\n"))

CORE = Scenario("core", (
    PLAIN,
    ANCESTRY,
    BOTH_STREAMS,
    step("a command that a signal ends reports it", run("kill -KILL $$"), exits(137)),
    step("a command runs where it is told to",
         run("pwd", workdir="@workspace/inner"), says("@workspace/inner\n"), exits(0)),
    step("a missing directory is an error, and only of that command",
         run("pwd", workdir="/no/such/place"), lacks("exited with code 0"), fails()),
    step("standard input is empty without a terminal",
         run("cat; echo end of input"), says("end of input"), exits(0)),
    step("text beyond ASCII is whole",
         run("printf '\\303\\244 \\342\\202\\254 \\360\\237\\247\\252\\n'"),
         says("\u00e4 \u20ac \U0001f9ea"), exits(0)),
    step("a shell reads the user's profile", run("echo \"profile $E2E_PROFILE\""), says("profile read"), exits(0)),
    step("but not if it is told not to",
         run("echo \"profile: $E2E_PROFILE.\"", login=False), says("profile: ."), exits(0)),
    step("the environment is there", run("env"),
         matches(r"(?m)^CODEX_THREAD_ID=[0-9a-f-]{36}$"), matches(r"(?m)^PATH=/"), matches(r"(?m)^HOME=/")),
    step("words of denial are no denial without a sandbox",
         run("echo Permission denied >&2; exit 1"), exits(1), denied(False)),
    ASK_NAME,
    GIVE_NAME,
    step("a terminal has a size",
         run("stty size", tty=True), matches(r"\b[1-9]\d* [1-9]\d*\b"), started(tty=True), exits(0)),
    step("a slow command yields what it has",
         run("echo early; sleep 1.5; echo late; exit 3", 500), says("early"), lacks("late"), keeps("slow")),
    step("polling it brings the rest", poll("slow"), says("late"), lacks("early"), exits(3)),
    step("then it is unknown", poll("slow"), matches("(?i)unknown process")),
    step("a loop runs in a terminal",
         run("trap 'echo caught; exit 5' INT; echo armed; while :; do sleep 0.1; done", 1000, tty=True),
         says("armed"), keeps("loop")),
    step("Ctrl-C interrupts it", enter("loop", "\x03"), says("caught"), exits(5)),
    step("a reader runs in a terminal", run("cat > typed.txt; echo read it all", 1000, tty=True), keeps("reader")),
    step("Ctrl-D ends its input",
         enter("reader", "a line\n\x04"), says("read it all"), exits(0), holds("typed.txt", "a line\n")),
    step("a command without a terminal takes no input", run("sleep 2; echo undisturbed", 300), keeps("deaf")),
    step("typing into it is refused", enter("deaf", "x\n", 300), matches("(?i)stdin")),
    step("and does not disturb it", poll("deaf"), says("undisturbed"), exits(0)),
    MUCH_OUTPUT,
    step("commands of one answer all run",
         tuple(run(f"sleep 0.{n}; echo side {n}") for n in (4, 3, 2, 1)), matches(r"side \d"), exits(0)),
    ADD_FILE,
    step("apply_patch changes and moves it",
         patch("*** Update File: a/b/c.txt", "*** Move to: d.txt", "@@", " first", "-second", "+2nd"),
         holds("d.txt", "first\n2nd\n"), absent("a/b/c.txt"), reached("fs/remove", "a/b/c.txt")),
    step("apply_patch says so when the file is missing",
         patch("*** Update File: nowhere.txt", "@@", "-x", "+y"), fails(), absent("nowhere.txt")),
    step("apply_patch deletes",
         patch("*** Delete File: d.txt"), absent("d.txt"), reached("fs/remove", "@workspace/d.txt")),
    step("apply_patch in a shell command is a patch too",
         run(PATCH_BY_SHELL), holds("shell.txt", "by shell\n"), reached("fs/writeFile", "@workspace/shell.txt")),
    ADD_SCRIPT,
    RUN_SCRIPT,
    IMAGE,
    step("view_image says so when the file is missing", view("@workspace/nowhere.png"), fails()),
    step("a command is left running, and what it started",
         run("setsid sleep 600 & exec sleep 600", 300), keeps("left")),
))

WORKSPACE = Scenario("workspace", (
    PLAIN,
    step("the workspace can be written",
         run("echo in > in.txt && cat in.txt"), exits(0), holds("in.txt", "in\n"), confined()),
    step("what lies beside it cannot",
         run("echo no > @outside/no.txt; echo status $?"),
         matches("status [1-9]"), absent("@outside/no.txt"), confined()),
    step("but can be read", run("cat @outside/given.txt"), says("given"), exits(0), confined()),
    step("what git runs is protected",
         run("echo no > .git/hooks/no; echo status $?"), matches("status [1-9]"), absent(".git/hooks/no"), confined()),
    NO_NETWORK,
    step("exit codes come through", run("exit 23"), exits(23), confined()),
    step("a terminal works",
         run("[ -t 0 ] && [ -t 1 ] && read -r word && echo \"word $word\"", 1500, tty=True),
         keeps("inside"), confined()),
    step("and takes what is typed", enter("inside", "E2E\n"), says("word E2E"), exits(0)),
    ADD_FILE,
    step("apply_patch changes a file, in the sandbox",
         patch("*** Update File: in.txt", "@@", "-in", "+in again"),
         holds("in.txt", "in again\n"), reached("fs/writeFile", "in.txt", MANAGED)),
    step("apply_patch writes nothing beside the workspace",
         patch("*** Add File: @outside/no.txt", "+no"), fails(), absent("@outside/no.txt")),
    ADD_SCRIPT,
    dataclasses.replace(RUN_SCRIPT, checks=RUN_SCRIPT.checks + (confined(),)),
    IMAGE_THERE,
), WORKSPACE_WRITE)

READONLY = Scenario("readonly", (
    PLAIN,
    step("the workspace can be read, not written",
         run("cat given.txt; echo no > no.txt; echo status $?"),
         says("given"), matches("status [1-9]"), absent("no.txt"), confined()),
    NO_NETWORK,
    step("apply_patch writes nothing", patch("*** Add File: no.txt", "+no"), fails(), absent("no.txt")),
    IMAGE_THERE,
), READ_ONLY)

# A client asks only if the command has ended within 150 ms of its start: no login shell here, its profile may be slow.
DENIED = Scenario("denied", (
    step("a denied write is reported, approved and run again without a sandbox",
         run("echo yes > yes.txt && cat yes.txt", login=False),
         says("yes"), asked(1), holds("yes.txt", "yes\n"), denied(True, False)),
    step("a plain failure asks nothing",
         run("ls /no/such/place; exit 3", login=False), exits(3), asked(1), denied(False)),
    step("a denied write that is not approved is not run again",
         run("echo no > no.txt", login=False),
         lacks("exited with code 0"), asked(2), absent("no.txt"), denied(True), decision="decline"),
), READ_ONLY, asks=True, needs=SERVER_SANDBOX)

COUNT = step("a command counts",
             run("for n in 1 2 3 4 5 6 7 8 9 10 11 12; do echo tick $n.; sleep 0.3; done; exit 4", 700),
             says("tick 1."), keeps("count"), needs=RESUME)
GO_ON = step("the connection is cut: the session goes on, no line is lost",
             poll("count"), exits(4), resumed(), each_once(*TICKS), cuts=True, needs=RESUME)
GO_ON_RESTARTED = dataclasses.replace(
    GO_ON, claim="the rendezvous is killed and started again: the session goes on, no line is lost", cuts=False,
    restarts=True)
NEXT_COMMAND = step("the connection is cut: the next command runs",
                    run("echo back again"), says("back again"), exits(0), cuts=True, needs=NEW_CONNECTION)

RECONNECT = Scenario("reconnect", (
    PLAIN,
    COUNT,
    GO_ON,
    NEXT_COMMAND,
    ASK_NAME,
    step("the connection is cut: what is typed next arrives",
         enter("dialogue", "E2E\n"), says("hello E2E"), exits(0), resumed(), cuts=True, needs=RESUME),
), needs=NEW_CONNECTION)

MCP = Scenario("mcp", (
    PLAIN,
    step("an MCP server runs where the commands run, and its tool answers",
         Call("echo", {"text": "over there"}, namespace="@mcp"), says("echo of over there at holdfast")),
), mcp="stdio")

MCPHTTP = Scenario("mcphttp", (
    PLAIN,
    step("an MCP server is reached by HTTP from where the commands run, and its tool answers",
         Call("echo", {"text": "over HTTP"}, namespace="@mcp"),
         says("echo of over HTTP"), reached("http/request", "/mcp"), noted("http/request/bodyDelta")),
), mcp="http")

# The client starts `holdfast mcp-server` itself, and says with each call which sandbox the call is to have.
SHELL_READS = step("the tool reads what lies beside the workspace",
                   shell("cat @outside/given.txt"), matches('"exit_code": *0'), says("given"))
SHELL_WRITES = step("it writes the workspace", shell("echo in > in.txt"), matches('"exit_code": *0'), holds("in.txt", "in\n"))
SHELL_KEEPS_OUTSIDE = step("it writes nothing beside the workspace",
                           shell("echo no > @outside/no.txt"), matches('"exit_code": *[1-9]'), absent("@outside/no.txt"))
SHELL_OFFLINE = step("it has no network", shell("bash -c ': <>/dev/tcp/127.0.0.1/@port'"), matches('"exit_code": *[1-9]'))

MCPREADONLY = Scenario("mcpreadonly", (
    SHELL_READS,
    step("it writes nothing in the workspace",
         shell("echo no > no.txt"), matches('"exit_code": *[1-9]'), absent("no.txt")),
    SHELL_KEEPS_OUTSIDE,
    SHELL_OFFLINE,
), READ_ONLY, link="none", mcp="shell")

MCPWORKSPACE = Scenario("mcpworkspace", (
    SHELL_READS,
    SHELL_WRITES,
    step("what git runs is protected", shell("echo no > .git/hooks/no"), matches('"exit_code": *[1-9]'),
         absent(".git/hooks/no")),
    SHELL_KEEPS_OUTSIDE,
    SHELL_OFFLINE,
), WORKSPACE_WRITE, link="none", mcp="shell")

MCPFULL = Scenario("mcpfull", (
    SHELL_READS,
    SHELL_WRITES,
    step("it writes beside the workspace", shell("echo out > @outside/out.txt"), matches('"exit_code": *0'),
         holds("@outside/out.txt", "out\n")),
    step("it has the network", shell("bash -c ': <>/dev/tcp/127.0.0.1/@port'"), matches('"exit_code": *0')),
), FULL_ACCESS, link="none", mcp="shell")

ENVTOML = Scenario("envtoml", (PLAIN, ANCESTRY, ADD_FILE_THERE), link="file", needs=ENVIRONMENTS_FILE)

# The server admits only a client that sends the token, which only environments.toml can tell it.
TOKEN = Scenario("token", (PLAIN, ADD_FILE_THERE), link="token", needs=BEARER_TOKEN)

# The client has the token of the rendezvous in the query of its URL. The command is a descendant of the executor.
RENDEZVOUS = Scenario("rendezvous", (
    PLAIN, ANCESTRY, BOTH_STREAMS, MUCH_OUTPUT, ASK_NAME, GIVE_NAME, ADD_FILE_THERE, IMAGE, COUNT, GO_ON,
    NEXT_COMMAND,
), is_remote=True)

# The client has the token in environments.toml, and sends it in a header.
RVTOKEN = Scenario("rvtoken", (PLAIN, ANCESTRY, ADD_FILE_THERE, COUNT, GO_ON), link="token", is_remote=True,
                   needs=BEARER_TOKEN)

RVRESTART = Scenario("rvrestart", (PLAIN, COUNT, GO_ON_RESTARTED, ADD_FILE_THERE), is_remote=True, needs=RESUME)

STDIO = Scenario("stdio", (PLAIN, ANCESTRY, ASK_NAME, GIVE_NAME, ADD_FILE, IMAGE), link="stdio",
                 needs=ENVIRONMENTS_FILE)

# A sandbox keeps `.git` and the like from being made in the folder. What stands in for them meanwhile must not make the
# folder look like a repository.
NESTED = Scenario("nested", (
    step("apply_patch adds a file below the top of the repository, in the sandbox",
         patch("*** Add File: new.txt", "+new"),
         holds("inner/new.txt", "new\n"), reached("fs/writeFile", "inner/new.txt", MANAGED)),
    new_thread("a thread that begins right after the patch reads AGENTS.md of the repository", advised()),
    step("a command runs there, in a sandbox", run("cat new.txt"), says("new"), exits(0), confined()),
    new_thread("a thread that begins right after the command reads it too", advised()),
), WORKSPACE_WRITE, folder="inner")

SELECTED = Scenario("selected", (
    new_thread("a skill and a plugin in directories that the user selects reach the model",
               says("- lonely: Says lonely.", "- whole:part: Says part."),
               reached("capabilityRoots/discoverV1", "@outside/alone", "@outside/whole")),
), capabilities="selected", needs=SELECTED_ROOTS)

# The client asks for a sandbox, in which the server looks for them.
INSTALLED = Scenario("installed", (
    new_thread("a skill and a plugin that are installed where the commands run reach the model",
               says("- homely: Says homely.", "- whole:part: Says part."),
               reached("capabilities/discoverV2", MANAGED), reached("environmentConfig/read", "mcp_servers")),
), READ_ONLY, capabilities="installed", needs=INSTALLED_CAPABILITIES)

ALL = (CORE, WORKSPACE, READONLY, NESTED, SELECTED, INSTALLED, DENIED, RECONNECT, MCP, MCPHTTP, MCPREADONLY, MCPWORKSPACE,
       MCPFULL, ENVTOML, TOKEN, RENDEZVOUS, RVTOKEN,
       RVRESTART, STDIO)
SCENARIOS = {scenario.name: scenario for scenario in ALL}
