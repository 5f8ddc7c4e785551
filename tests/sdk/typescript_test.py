#!/usr/bin/env python3
"""Usage: typescript_test.py HOLDFAST

Tests the client in sdk/typescript with the built server, by the scenarios of scenarios.mjs. Those over WebSocket need a Node that has one:
22, or 20 with a flag; otherwise they are skipped, and those over a unix socket are run all the same."""

import asyncio
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HOLDFAST = str(pathlib.Path(sys.argv[1]).resolve())
SDK = ROOT / "sdk/typescript"
sys.path[:0] = [str(ROOT / "tests/sdk")]
import server as servers  # noqa: E402
from cutting_proxy import CuttingProxy  # noqa: E402

COMMANDS = 100
SECONDS = 240


@functools.cache
def node_with_web_socket():
    """Returns the words that start a Node with a WebSocket, or None."""
    for flags in ([], ["--experimental-websocket"]):
        if subprocess.run(["node", *flags, "-e", "new WebSocket('ws://127.0.0.1:1').onerror = () => {}"], capture_output=True).returncode == 0:
            return ["node", "--no-warnings", *flags]
    return None


class Scenarios(unittest.IsolatedAsyncioTestCase):
    """Runs scenarios with a server on a unix socket."""

    NODE = ["node"]
    FLAGS = ()

    def listen(self):
        return ["--listen", f"unix://{self.directory}/socket"]

    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory(prefix="holdfast-sdk-", dir="/var/tmp"))
        self.url = self.enterContext(servers.server(HOLDFAST, *self.listen(), *self.FLAGS))

    async def start(self, name, url, argument=""):
        words = [*self.NODE, str(ROOT / "tests/sdk/scenarios.mjs"), name, url, str(argument)]
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe, stderr=pipe)

    async def finish(self, process):
        out, error = await asyncio.wait_for(process.communicate(), SECONDS)
        self.assertEqual((process.returncode, error.decode()), (0, ""), out.decode())
        return out.decode().strip()

    async def play(self, name, url, argument=""):
        return await self.finish(await self.start(name, url, argument))

    async def proxied(self, **options):
        return await self.enterAsyncContext(CuttingProxy(self.url, **options))


class UnixSocketTest(Scenarios):
    async def test_runs_commands(self):
        await self.play("commands", self.url, self.directory)

    async def test_works_on_files(self):
        await self.play("files", self.url, self.directory)

    async def test_answers_questions_about_supervised_commands(self):
        await self.play("approvals", self.url, self.directory)

    async def test_starts_a_server_itself(self):
        await self.play("child", HOLDFAST)

    async def test_a_conversation_of_many_commands_loses_nothing(self):
        proxy = await self.proxied(budgets=(3_000, 60_000))
        await self.play("conversation", proxy.url, COMMANDS)
        self.assertGreater(proxy.cuts, COMMANDS // 5, "the proxy has cut too seldom to prove anything")

    async def test_a_start_that_is_cut_runs_once(self):
        proxy = await self.proxied(budgets=(2_000, 3_000))
        await self.play("startsOnce", proxy.url, self.directory)
        self.assertGreater(proxy.cuts, 5)

    async def test_waits_for_a_server_that_is_away(self):
        self.assertEqual(await self.play_away(25_000, away_for=0.5), "back")

    async def test_gives_up_after_a_while(self):
        self.assertEqual(await self.play_away(300, away_for=SECONDS), "Disconnected")

    async def play_away(self, recover_for_ms, away_for):
        proxy = await self.proxied()
        process = await self.start("away", proxy.url, recover_for_ms)
        self.assertEqual(await process.stdout.readline(), b"started\n")
        proxy.blocked = True
        proxy.cut()
        back = asyncio.get_running_loop().call_later(away_for, setattr, proxy, "blocked", False)
        process.stdin.write(b"\n")
        out = await self.finish(process)
        back.cancel()
        return out


class OverWebSocket(Scenarios):
    def listen(self):
        return []

    def setUp(self):
        if node_with_web_socket() is None:
            self.skipTest("this Node has no WebSocket")
        self.NODE = node_with_web_socket()
        super().setUp()


class WebSocketTest(OverWebSocket, UnixSocketTest):
    """The same over WebSocket."""


class TokenTest(OverWebSocket):
    def listen(self):
        token = pathlib.Path(self.directory, "token")
        token.touch(0o600)
        token.write_text("secret-of-the-test")
        return ["--ws-auth", "capability-token", "--ws-token-file", str(token)]

    async def test_sends_a_bearer_token(self):
        await self.play("refused", self.url, "secret-of-the-test")


class LostOutputTest(Scenarios):
    FLAGS = ("--retained-output-bytes-per-process", "4096")

    async def test_output_that_the_server_has_dropped_is_reported(self):
        proxy = await self.proxied()
        process = await self.start("lostOutput", proxy.url, self.directory)
        self.assertEqual(await process.stdout.readline(), b"started\n")
        proxy.blocked = True
        proxy.cut()
        pathlib.Path(self.directory, "go").touch()
        while not pathlib.Path(self.directory, "done").exists():
            await asyncio.sleep(0.02)
        proxy.blocked = False
        process.stdin.write(b"\n")
        await self.finish(process)


class PackageTest(unittest.TestCase):
    def install(self, directory):
        """Makes a package that depends on the client, as npm does it for a folder."""
        packed = subprocess.run(["npm", "pack", "--silent", "--pack-destination", directory, str(SDK)], capture_output=True, text=True, check=True)
        words = ["npm", "install", "--silent", "--offline", "--no-audit", "--no-fund", "--prefix", directory]
        subprocess.run([*words, f"{directory}/{packed.stdout.split()[-1]}"], check=True, capture_output=True)

    def test_examples_of_the_readme_print_what_they_say(self):
        found = servers.examples(SDK / "README.md", "js")
        self.assertEqual(len(found), 3)
        with tempfile.TemporaryDirectory(prefix="holdfast-sdk-", dir="/var/tmp") as directory:
            modules = pathlib.Path(directory, "node_modules")
            modules.mkdir()
            (modules / "holdfast-client").symlink_to(SDK)
            files = pathlib.Path(directory, "files")
            files.mkdir()
            with servers.server(HOLDFAST, "--listen", f"unix://{directory}/socket") as url:
                for program, output in found:
                    script = pathlib.Path(directory, "example.mjs")
                    script.write_text(program)
                    environment = os.environ | {"HOLDFAST_SERVER": url, "EXAMPLES": str(files)}
                    done = subprocess.run(["node", str(script)], env=environment, capture_output=True, text=True, timeout=60)
                    self.assertEqual((done.stdout, done.stderr), (output, ""))

    def test_npm_installs_it_without_a_network(self):
        if shutil.which("npm") is None:
            self.skipTest("npm is not installed")
        with tempfile.TemporaryDirectory(prefix="holdfast-sdk-", dir="/var/tmp") as directory:
            self.install(directory)
            program = "import('holdfast-client').then((m) => console.log(Object.keys(m).sort().join(' ')))"
            done = subprocess.run(["node", "-e", program], cwd=directory, capture_output=True, text=True, check=True)
            self.assertEqual(done.stdout, "Client Disconnected ErrorCode Files HoldfastError InputClosed Process RpcError TimedOut connect\n")
            installed = pathlib.Path(directory, "node_modules/holdfast-client")
            self.assertTrue((installed / "index.d.ts").is_file())
            self.assertTrue((installed / "protocol.d.ts").is_file())

    def test_has_the_version_of_holdfast(self):
        package = json.loads((SDK / "package.json").read_text())
        self.assertEqual(package["version"], re.search(r'kVersion = "(.*)"', (ROOT / "src/base/version.h").read_text())[1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
