#!/usr/bin/env python3
"""Usage: python_test.py HOLDFAST

Tests the Python client in sdk/python with the built server."""

import asyncio
import gc
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HOLDFAST = str(pathlib.Path(sys.argv[1]).resolve())
SDK = ROOT / "sdk/python"
sys.path[:0] = [str(SDK), str(ROOT / "tests/sdk")]
import server as servers  # noqa: E402
from cutting_proxy import CuttingProxy  # noqa: E402
from holdfast import Client, Closed, ConnectionRefused, Disconnected, Exited, Lost, Output, RpcError, protocol  # noqa: E402
from holdfast.events import EventOrder  # noqa: E402

COMMANDS = 100


def read_result(seqs, next_seq, exited=False, closed=False):
    read = {"chunks": [], "nextSeq": next_seq, "exited": exited, "exitCode": 5 if exited else None, "closed": closed, "failure": None}
    return read, [Output(seq, "stdout", b"") for seq in seqs]


class EventOrderTest(unittest.TestCase):
    def setUp(self):
        self.order = EventOrder()

    def published(self):
        return [type(event).__name__[0] + str(getattr(event, "seq", None) or f"{event.from_seq}-{event.to_seq}") for event in self.order.ready()]

    def test_holds_what_comes_early_and_drops_what_comes_again(self):
        self.order.take(Output(2, "stdout", b""))
        self.assertEqual(self.published(), [])
        self.order.take(Output(1, "stdout", b""))
        self.order.take(Output(2, "stdout", b""))
        self.assertEqual(self.published(), ["O1", "O2"])
        self.order.take(Output(1, "stdout", b""))
        self.assertEqual(self.published(), [])

    def test_takes_the_missing_number_for_the_exit(self):
        self.order.settle(*read_result([1, 3], 5, exited=True, closed=True))
        self.assertEqual(self.published(), ["O1", "E2", "O3", "C4"])

    def test_reports_what_the_server_has_dropped(self):
        self.order.settle(*read_result([4, 5], 8, exited=True, closed=True))
        self.assertEqual(self.published(), ["L1-3", "O4", "O5", "E6", "C7"])

    def test_takes_an_exit_that_was_dropped_for_the_last_of_what_was(self):
        self.order.settle(*read_result([4, 5], 6, exited=True))
        self.assertEqual(self.published(), ["L1-2", "E3", "O4", "O5"])

    def test_goes_on_with_what_came_during_the_read(self):
        self.order.take(Output(1, "stdout", b""))
        self.assertEqual(self.published(), ["O1"])
        self.order.take(Exited(4, 0, False))
        self.order.settle(*read_result([2, 3], 4))
        self.assertEqual(self.published(), ["O2", "O3", "E4"])
        self.order.settle(*read_result([], 5, exited=True))
        self.assertEqual(self.published(), [])


class WithServer(unittest.IsolatedAsyncioTestCase):
    FLAGS = ()

    def setUp(self):
        self.url = self.enterContext(servers.server(HOLDFAST, *self.FLAGS))
        self.directory = self.enterContext(tempfile.TemporaryDirectory(dir="/var/tmp"))

    async def asyncSetUp(self):
        self.unhandled = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: self.unhandled.append(context))

    async def asyncTearDown(self):
        gc.collect()  # tasks and futures report here what nobody has looked at
        self.assertEqual(self.unhandled, [])

    async def connect(self, url=None, **options):
        return await self.enterAsyncContext(await Client.connect(url or self.url, **options))


class ClientTest(WithServer):
    async def test_runs_commands(self):
        client = await self.connect()
        done = await client.run(["sh", "-c", "cat; echo oops >&2; exit 3"], input=b"in")
        self.assertEqual((done.stdout, done.stderr, done.exit_code, done.lost), (b"in", b"oops\n", 3, False))
        self.assertEqual((await client.run(["pwd"], cwd=self.directory)).stdout, self.directory.encode() + b"\n")
        done = await client.run(["sleep", "1000"], limits={"wallMs": 1})
        self.assertEqual((done.exit_code, done.cause), (143, "wall"))
        self.assertEqual((await client.run(["true"], input=bytes(1 << 20))).exit_code, 0)

    async def test_gives_the_environment_that_is_asked_for(self):
        client = await self.connect()
        self.assertEqual((await client.run(["/usr/bin/env"], env={"A": "1"}, clean_env=True)).stdout, b"A=1\n")
        inherited = (await client.run(["env"], env={"A": "1"})).stdout.splitlines()
        self.assertIn(b"A=1", inherited)
        self.assertIn(f"HOME={os.environ['HOME']}".encode(), inherited)

    async def test_streams_events_and_writes_input(self):
        process = await (await self.connect()).start(["sh", "-c", "while read n; do echo got $n; done; exit 4"], stdin=True)
        events = aiter(process)
        for n in range(3):
            await process.write(b"%d\n" % n)
            self.assertEqual((await anext(events)).data, b"got %d\n" % n)
        await process.close_stdin()
        rest = [event async for event in events]
        self.assertEqual([type(event) for event in rest], [Exited, Closed])
        self.assertEqual((await process.wait()).exit_code, 4)

    async def test_steers_processes(self):
        client = await self.connect()
        terminal = await client.start(["sh", "-c", "read x; stty size; sleep 1000"], stdin=True, terminal=(30, 90))
        await terminal.resize(40, 100)
        await terminal.write(b"\n")
        text = b""
        async for event in terminal:
            text += event.data if isinstance(event, Output) else b""
            if b"40 100" in text:
                await terminal.terminate()
        self.assertEqual(terminal.exited.exit_code, 137)
        process = await client.start(["sleep", "1000"])
        await process.signal("SIGINT")
        self.assertEqual((await process.wait()).exit_code, 130)

    async def test_works_on_files(self):
        files = (await self.connect()).files
        path = f"{self.directory}/a/b"
        await files.make_directory(f"{self.directory}/a")
        for data in (b"small", random.Random(1).randbytes(9 << 20)):
            await files.write(path, data)
            self.assertEqual(await files.read(path), data)
        await files.write(path, b"whole", atomic=True)
        self.assertEqual((await files.metadata(path))["size"], 5)
        self.assertEqual(await files.list(f"{self.directory}/a"), [{"fileName": "b", "isDirectory": False, "isFile": True}])
        with self.assertRaises(RpcError):
            await files.remove(f"{self.directory}/a")
        await files.remove(f"{self.directory}/a", recursive=True)
        with self.assertRaises(RpcError) as raised:
            await files.read(path)
        self.assertEqual(raised.exception.code, protocol.NOT_FOUND)

    async def test_raises_what_the_server_answers(self):
        client = await self.connect()
        with self.assertRaises(RpcError) as raised:
            await client.start(["/no/such/program"])
        self.assertEqual((raised.exception.code, raised.exception.kind), (protocol.FAILED, "noSuchProgram"))
        self.assertEqual((await client.process_list())["processes"], [])
        with self.assertRaises(TimeoutError):
            process = await client.start(["sleep", "1000"])
            await client.call("process/wait", {"processId": process.process_id}, timeout=0.1)

    async def test_answers_questions_about_supervised_commands(self):
        rules = pathlib.Path(self.directory, "team.rules")
        rules.write_text('prefix_rule(pattern=["/usr/bin/id"], decision="prompt", justification="Ask.")\n')
        asked = []

        async def approver(question):
            asked.append(question["argv"])
            return {"decision": "deny" if len(asked) > 1 else question["proposed"]}

        client = await self.connect(approver=approver)
        policy = {"rules": [str(rules)]}
        self.assertEqual((await client.run(["/usr/bin/id", "-u"], exec_policy=policy)).exit_code, 0)
        self.assertEqual((await client.run(["/usr/bin/id", "-g"], exec_policy=policy)).exit_code, 1)
        self.assertEqual(asked, [["/usr/bin/id", "-u"], ["/usr/bin/id", "-g"]])
        denied = await (await self.connect()).run(["/usr/bin/id"], exec_policy=policy)
        self.assertEqual(denied.exit_code, 1)

    async def test_refuses_what_is_no_server(self):
        with self.assertRaises(ConnectionRefused):
            await Client.connect(self.url + "x")  # another secret
        with self.assertRaises(Disconnected):
            await Client.connect("ws://127.0.0.1:1/")
        with self.assertRaises(ValueError):
            await Client.connect("ftp://127.0.0.1/")


class OtherTransportsTest(unittest.IsolatedAsyncioTestCase):
    async def test_speaks_to_a_child(self):
        command = [HOLDFAST, "exec-server", "--listen", "stdio", "--log-level", "warn", "--sandbox-check=false"]
        async with await Client.connect(command=command) as client:
            self.assertEqual((await client.run(["cat"], input=b"x" * 300_000)).stdout, b"x" * 300_000)

    async def test_speaks_to_a_unix_socket(self):
        with tempfile.TemporaryDirectory(dir="/var/tmp") as directory, servers.server(HOLDFAST, "--listen", f"unix://{directory}/s") as url:
            async with await Client.connect(url) as client:
                self.assertEqual((await client.run(["echo", "hi"])).stdout, b"hi\n")

    async def test_sends_a_bearer_token(self):
        with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
            token = pathlib.Path(directory, "token")
            token.touch(0o600)
            token.write_text("secret-of-the-test")
            with servers.server(HOLDFAST, "--ws-auth", "capability-token", "--ws-token-file", str(token)) as url:
                async with await Client.connect(url, token="secret-of-the-test") as client:
                    self.assertEqual(await client.environment_status(), {"status": "ready"})
                with self.assertRaises(ConnectionRefused) as raised:
                    await Client.connect(url, token="another")
                self.assertIn("invalid websocket bearer token", str(raised.exception))


class WithProxy(WithServer):
    async def proxied(self, **options):
        return await self.enterAsyncContext(CuttingProxy(self.url, **options))


class CutTest(WithProxy):
    async def converse(self, client, n):
        """Runs a command of one of four kinds, and returns what is wrong with its output."""
        if n % 4 == 0:
            done = await client.run(["seq", str(n), str(n + 2000)])
            wanted = ("".join(f"{i}\n" for i in range(n, n + 2001)).encode(), b"", 0)
        elif n % 4 == 1:
            data = random.Random(n).randbytes(20_000).hex().encode()
            done, wanted = await client.run(["cat"], input=data), (data, b"", 0)
        elif n % 4 == 2:
            done = await client.run(["sh", "-c", f"echo out; echo err >&2; exit {n}"])
            wanted = (b"out\n", b"err\n", n)
        else:
            process = await client.start(["sh", "-c", "while read x; do echo $x; done"], stdin=True)
            for i in range(10):
                await process.write(b"line %d\n" % i)
            await process.close_stdin()
            done, wanted = await process.communicate(), (b"".join(b"line %d\n" % i for i in range(10)), b"", 0)
        got = (done.stdout, done.stderr, done.exit_code)
        return [] if got == wanted and not done.lost else [f"command {n}: {got!r:.200} instead of {wanted!r:.200}"]

    async def test_a_conversation_of_many_commands_loses_nothing(self):
        proxy = await self.proxied(budgets=(3_000, 60_000))
        client = await self.connect(proxy.url, call_timeout=120)
        faults, waiting = [], iter(range(COMMANDS))

        async def work():
            for n in waiting:
                faults.extend(await self.converse(client, n))

        await asyncio.gather(*(work() for _ in range(4)))
        self.assertEqual(faults, [])
        self.assertGreater(proxy.cuts, COMMANDS // 5, "the proxy has cut too seldom to prove anything")
        states = {process["state"] for process in (await client.process_list())["processes"]}
        self.assertEqual(states, {"closed"})

    async def test_a_start_that_is_cut_runs_once(self):
        proxy = await self.proxied(budgets=(2_000, 3_000))
        client = await self.connect(proxy.url, call_timeout=120)
        for n in range(20):
            self.assertEqual((await client.run(["sh", "-c", f"echo {n} >> {self.directory}/log; echo {'x' * 500}"])).exit_code, 0)
        self.assertEqual(pathlib.Path(self.directory, "log").read_text(), "".join(f"{n}\n" for n in range(20)))
        self.assertGreater(proxy.cuts, 5)

    async def test_a_call_that_may_have_been_done_is_reported(self):
        proxy = await self.proxied()
        client = await self.connect(proxy.url)
        process = await client.start(["sleep", "1000"])
        wait = asyncio.create_task(client.process_wait({"processId": process.process_id, "timeoutMs": 1000}))
        signals = asyncio.create_task(self.signal_for_ever(process))
        while not signals.done():  # a cut may also come between two signals
            await asyncio.sleep(0.05)
            proxy.cut()
        with self.assertRaises(Disconnected):
            await signals
        self.assertTrue((await wait)["timedOut"])  # it only looks, and is called again

    async def signal_for_ever(self, process):
        while True:
            await process.signal("SIGCONT")

    async def test_waits_for_a_server_that_is_away(self):
        proxy = await self.proxied()
        client = await self.connect(proxy.url)
        process = await client.start(["sh", "-c", "read x; echo $x"], stdin=True)
        proxy.blocked = True
        proxy.cut()
        asyncio.get_running_loop().call_later(0.5, setattr, proxy, "blocked", False)
        begun = time.monotonic()
        self.assertEqual((await process.communicate(b"back\n")).stdout, b"back\n")
        self.assertGreater(time.monotonic() - begun, 0.4)

    async def test_gives_up_after_a_while(self):
        proxy = await self.proxied()
        client = await self.connect(proxy.url, recover_for=0.3)
        process = await client.start(["sleep", "1000"])
        proxy.blocked = True
        proxy.cut()
        with self.assertRaises(Disconnected):
            await process.communicate()
        with self.assertRaises(Disconnected):
            await client.environment_status()


class LostOutputTest(WithProxy):
    FLAGS = ("--retained-output-bytes-per-process", "4096")

    async def test_output_that_the_server_has_dropped_is_reported(self):
        proxy = await self.proxied()
        client = await self.connect(proxy.url)
        script = "echo first; until [ -e go ]; do sleep 0.05; done; seq 100000; touch done"
        process = await client.start(["sh", "-c", script], cwd=self.directory)
        events = aiter(process)
        self.assertEqual((await anext(events)).data, b"first\n")
        proxy.blocked = True
        proxy.cut()
        pathlib.Path(self.directory, "go").touch()
        while not pathlib.Path(self.directory, "done").exists():
            await asyncio.sleep(0.02)
        proxy.blocked = False
        rest = [event async for event in events]
        self.assertIsInstance(rest[0], Lost)
        self.assertTrue(b"".join(event.data for event in rest if isinstance(event, Output)).endswith(b"99999\n100000\n"))
        self.assertEqual([type(event) for event in rest[-2:]], [Exited, Closed])


class PackageTest(unittest.TestCase):
    def test_examples_of_the_readme_print_what_they_say(self):
        found = servers.examples(SDK / "README.md", "python")
        self.assertEqual(len(found), 3)
        with servers.server(HOLDFAST) as url, tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
            environment = os.environ | {"HOLDFAST_SERVER": url, "EXAMPLES": directory, "PYTHONPATH": str(SDK)}
            for program, output in found:
                done = subprocess.run([sys.executable, "-W", "error", "-c", program], env=environment, capture_output=True, text=True)
                self.assertEqual((done.stdout, done.stderr), (output, ""))

    def test_pip_installs_it_without_a_network(self):
        with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
            try:
                subprocess.run([sys.executable, "-m", "venv", directory], check=True, capture_output=True)
            except subprocess.CalledProcessError as problem:
                self.skipTest(f"python3-venv is not installed: {problem}")
            python = f"{directory}/bin/python"
            subprocess.run([python, "-m", "pip", "install", "--no-index", "--quiet", str(SDK)], check=True, capture_output=True)
            program = "import holdfast, importlib.metadata as m; print(m.version('holdfast'), holdfast.__file__)"
            done = subprocess.run([python, "-c", program], check=True, capture_output=True, text=True, cwd=directory)
            version, place = done.stdout.split()
            self.assertTrue(place.startswith(directory))
            self.assertEqual(version, re.search(r'kVersion = "(.*)"', (ROOT / "src/base/version.h").read_text())[1])

    def test_types_are_those_of_the_protocol(self):
        self.assertEqual(subprocess.run([ROOT / "tools/generate_sdk", "--check"]).returncode, 0)
        names = {method["name"] for method in json.loads((ROOT / "docs/openrpc.json").read_text())["methods"]}
        self.assertLessEqual(protocol.OBSERVER_METHODS, names)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
