"""A rendezvous and one executor: what stands between a client and a server that the client cannot reach directly."""
import asyncio
import hashlib
import re

import children

ID = "e2e-executor"
EXECUTOR_TOKEN = "a-token-that-the-executor-registers-with"
START_SECONDS = 20


class NoRendezvous(Exception):
    pass


def tokens_file(client_token):
    """The content of the file by which the rendezvous knows the tokens."""
    entry = '[[{}]]\ntoken_sha256 = "{}"\nids = ["{}"]\n'
    tokens = {"executor": EXECUTOR_TOKEN, "client": client_token}
    return "".join(entry.format(role, hashlib.sha256(token.encode()).hexdigest(), ID) for role, token in tokens.items())


class Rendezvous:
    def __init__(self, holdfast, folder, log, environment):
        self._holdfast, self._log, self._environment = holdfast, log, environment
        self._tokens = folder / "tokens.toml"
        self.process, self.port = None, 0

    async def start(self, client_token):
        self._tokens.touch(mode=0o600)
        self._tokens.write_text(tokens_file(client_token))
        await self._start_node()

    async def restart(self):
        """Kills the rendezvous, so that it cannot say goodbye, and starts another one on the same port."""
        self.process.kill()
        await self.process.wait()
        await self._start_node()

    async def stop(self):
        if self.process:
            await children.stop(self.process)

    async def start_executor(self, *arguments):
        """Returns the executor when clients can reach it."""
        variables = self._environment | {"CODEX_EXEC_SERVER_REMOTE_BEARER_TOKEN": EXECUTOR_TOKEN}
        registry = ("--remote", f"http://127.0.0.1:{self.port}", "--executor-id", ID)
        executor = await self._spawn("exec-server", *registry, *arguments, env=variables)
        try:
            async with asyncio.timeout(START_SECONDS):
                while "rendezvous.connected" not in self._log.read_text(errors="replace"):
                    await asyncio.sleep(0.05)
        except TimeoutError:
            await children.stop(executor)
            raise NoRendezvous("the executor does not connect to the rendezvous") from None
        return executor

    async def _start_node(self):
        arguments = ("rendezvous", "--listen", f"127.0.0.1:{self.port}", "--tokens", self._tokens)
        self.process = await self._spawn(*arguments, env=self._environment)
        try:
            line = (await asyncio.wait_for(self.process.stdout.readline(), START_SECONDS)).decode()
            self.port = int(re.fullmatch(r"http://127\.0\.0\.1:(\d+)\n", line)[1])
        except (asyncio.TimeoutError, TypeError):
            raise NoRendezvous("the rendezvous printed no URL") from None

    async def _spawn(self, *arguments, env):
        pipes = {"stdin": asyncio.subprocess.DEVNULL, "stdout": asyncio.subprocess.PIPE}
        with self._log.open("ab") as log:
            return await children.spawn(self._holdfast, *arguments, **pipes, stderr=log, env=env)
