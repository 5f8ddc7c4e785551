"""Plays one scenario with one client, and judges each step and what is left when the client has gone."""
import asyncio
import dataclasses
import os

import children
from bench import DETACHED_TTL_MS, Bench, NoServer
from drivers import app_server_turn, exec_turn
from expect import advised
from model import Call, Output

TURN_SECONDS = 180
GONE_SECONDS = DETACHED_TTL_MS / 1000 + 10
LOG_LINES = 30


class Report:
    def __init__(self):
        self.counts = {"PASS": 0, "FAIL": 0, "SKIP": 0}

    def line(self, verdict, where, claim, why=None):
        self.counts[verdict] += 1
        print(f"{verdict}  {where}: {claim}" + (f"\n      {why}" if why else ""), flush=True)

    def skip(self, where, claim, feature):
        self.line("SKIP", where, claim, f"only clients since 0.{feature.since} {feature.what}")

    def judge(self, where, claim, complaints):
        """The claim holds unless there are complaints."""
        self.line("FAIL" if complaints else "PASS", where, claim, "\n      ".join(complaints))


@dataclasses.dataclass(frozen=True)
class Seen:
    """What the checks of a step look at: one call, what came back, and the bench it happened on."""
    bench: Bench
    call: Call | None
    output: Output

    @property
    def text(self):
        return self.output.text

    @property
    def rest(self):
        return self.output.rest

    @property
    def command(self):
        return self.call.arguments["cmd"]

    def start(self):
        """The latest process/start of the command."""
        return self.bench.tap.starts(self.command)[-1]


def complaints_of(seen, checks):
    if seen.text is None:
        return ["the client gave no output"]
    # Whatever else a command proves, it went through the server. A patch in a shell command becomes file requests.
    is_command = seen.call and seen.call.tool == "exec_command" and not seen.command.startswith("apply_patch")
    if is_command and seen.bench.tap and not seen.bench.tap.starts(seen.command):
        return [f"no process/start was sent; the tool said {seen.text}"]
    return [complaint for complaint in (complaint_of(seen, check) for check in checks) if complaint]


def complaint_of(seen, check):
    try:
        return check(seen)
    except (LookupError, TypeError, AttributeError, OSError) as problem:
        return f"something else than the check looks for: {problem!r}"


async def seen_at_opening(bench):
    return Seen(bench, None, Output(str(await bench.model.opening()), rest=""))


async def seen_of(bench, step, calls):
    """Takes the step."""
    if step.is_new_thread:
        await bench.model.finish()
        return [await seen_at_opening(bench)]
    outputs = await bench.model.call(*calls)
    return [Seen(bench, call, output) for call, output in zip(calls, outputs)]


async def play(bench, report, where, pending):
    """Takes the steps one after the other from `pending`, which keeps those that were not reached."""
    report.judge(where, "what AGENTS.md says reaches the model",
                 complaints_of(await seen_at_opening(bench), [advised()]))
    while pending:
        step = pending[0]
        if not bench.client.can(step.needs):
            report.skip(where, step.claim, step.needs)
            pending.pop(0)
            continue
        bench.decision = step.decision
        if step.cuts:
            bench.tap.cut()
        if step.restarts:
            await bench.rendezvous.restart()
        try:
            calls = [bench.fill_call(call) for call in step.calls]
        except KeyError as name:
            report.line("FAIL", where, step.claim, f"no earlier step kept {name}")
            pending.pop(0)
            continue
        all_seen = await seen_of(bench, step, calls)
        bench.transcript += [seen.text or "" for seen in all_seen]
        complaints = [complaint for seen in all_seen for complaint in complaints_of(seen, step.checks)]
        pending.pop(0)
        report.judge(where, step.claim, complaints)
    await bench.model.finish()


async def take_turn(bench, report, where):
    pending = list(bench.scenario.steps)
    driver = app_server_turn if bench.scenario.asks or bench.scenario.threads > 1 else exec_turn
    script = asyncio.create_task(play(bench, report, where, pending))
    turn = asyncio.create_task(driver(bench))
    try:
        async with asyncio.timeout(TURN_SECONDS):
            await asyncio.wait((script, turn), return_when=asyncio.FIRST_COMPLETED)
            if script.done():
                script.result()  # a fault of the script itself is ours, and fatal
            problem = await turn
    except TimeoutError:
        problem = f"it did not end within {TURN_SECONDS} s"
    finally:
        for task in (script, turn):
            task.cancel()
        await asyncio.gather(script, turn, return_exceptions=True)
    for step in pending:
        report.line("FAIL", where, step.claim, "not reached: the client has ended")
    report.judge(where, "the client ends its turn", [problem] if problem else [])


async def check_after(bench, report, where):
    """What must hold once the client is gone, whatever it did."""
    if bench.tap:
        report.judge(where, "every request was answered", list(bench.tap.answers()))
        report.judge(where, "what processes did is numbered without a gap", list(bench.tap.numbers()))
        left = await children.gone(bench.server.pid, GONE_SECONDS)
        report.judge(where, "the server ends what the client left running", [f"still there: {left}"] if left else [])


async def run_scenario(folder, holdfast, client, scenario, report):
    where = f"{client.version} {scenario.name}"
    if not client.can(scenario.needs):
        report.skip(where, "all of it", scenario.needs)
        return
    failed_before = report.counts["FAIL"]
    bench = Bench(folder, holdfast, client, scenario)
    try:
        await bench.set_up()
        await take_turn(bench, report, where)
        await check_after(bench, report, where)
    except NoServer as problem:
        report.line("FAIL", where, "the server starts", problem)
    finally:
        await bench.tear_down()
        left = await children.gone(os.getpid(), GONE_SECONDS)
        await children.kill_orphans()
    report.judge(where, "nothing is left running", [f"still there: {left}"] if left else [])
    if bench.server:
        status = bench.server.returncode
        report.judge(where, "the server ends well when asked to", [f"exit {status}"] if status else [])
    if bench.rendezvous and bench.rendezvous.process:
        status = bench.rendezvous.process.returncode
        report.judge(where, "the rendezvous ends well when asked to", [f"exit {status}"] if status else [])
    if report.counts["FAIL"] > failed_before:
        lines = bench.log.read_text(errors="replace").splitlines()[-LOG_LINES:]
        print("\n".join(f"      | {line}" for line in lines), flush=True)
