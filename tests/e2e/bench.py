"""One client and one scenario on a bench: a workspace, a home for the client, a server and what stands between them."""
import asyncio
import base64
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import subprocess

import children
import versions
from expect import ADVICE
from http_mcp import HttpMcp
from model import Model
from rendezvous import ID, NoRendezvous, Rendezvous
from scenarios import Kept
from tap import Tap

HERE = pathlib.Path(__file__).resolve().parent
START_SECONDS = 20
# Long enough to reconnect on a busy machine, short enough to wait for at the end of each scenario.
DETACHED_TTL_MS = 4000
NO_PROXY = "http://127.0.0.1:1"  # nobody listens there
TOKEN = "a-token-that-the-server-asks-for"
CAPABILITY_CONFIG = {
    "": ["plugins = false"],
    "selected": ["plugins = true", "executor_capability_discovery = true"],
    "installed": ["plugins = true", "executor_capability_discovery_v2 = true", '[plugins."whole@market"]',
                  "enabled = true"],
}
# One red dot.
PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/"
                       "iZk9HQAAAABJRU5ErkJggg==")


class NoServer(Exception):
    pass


class Bench:
    def __init__(self, folder, holdfast, client, scenario):
        self.client, self.scenario = client, scenario
        self.model, self.tap, self.server, self.rendezvous = Model(), None, None, None
        self._http_mcp = HttpMcp()
        self.sessions, self.approvals, self.transcript = {}, [], []
        self.decision = "accept"
        self._holdfast, self._user = holdfast, folder / "user"
        self.workspace, self.outside, self.home = folder / "workspace", folder / "outside", folder / "home"
        self.start_folder = self.workspace / scenario.folder
        self.capability_roots = []  # that the user selects
        self.log = folder / "log"

    def fill(self, value):
        """Puts the places of this bench into a text, or into what a call's arguments are made of."""
        if isinstance(value, dict):
            return {key: self.fill(part) for key, part in value.items()}
        if isinstance(value, Kept):
            return self.sessions[value.name]
        if not isinstance(value, str):
            return value
        namespace = "mcp__e2e" if self.client.can(versions.MCP_PLAIN_NAMESPACE) else "mcp__e2e__"
        places = {"@workspace": self.workspace, "@outside": self.outside, "@port": self.model.port, "@mcp": namespace}
        return re.sub("|".join(places), lambda match: str(places[match[0]]), value)

    def fill_call(self, call):
        return dataclasses.replace(call, arguments=self.fill(call.arguments), namespace=self.fill(call.namespace))

    def path(self, name):
        return self.workspace / self.fill(name)

    async def set_up(self):
        await self.model.start()
        await self._http_mcp.start()
        for folder in (self.workspace / "inner", self.outside, self.home, self._user):
            folder.mkdir(parents=True)
        for folder in (self.workspace, self.outside):
            (folder / "given.txt").write_text("given\n")
        for name in (".profile", ".zprofile"):
            (self._user / name).write_text("export E2E_PROFILE=read\n")
        (self.workspace / "dot.png").write_bytes(PNG)
        (self.workspace / "AGENTS.md").write_text(ADVICE + "\n")
        self._make_capabilities()
        # The client takes the nearest repository for the project: without one that would be whatever lies above.
        subprocess.run(["git", "init", "-q", self.workspace], env=self.environment(), timeout=START_SECONDS, check=True)
        if self.scenario.is_remote:
            await self._start_executor()
        elif self.scenario.link not in ("stdio", "none"):
            await self._start_server()
        (self.home / "config.toml").write_text(self._config())
        if self.scenario.link not in ("variable", "none"):
            (self.home / "environments.toml").write_text(self._environments())

    def _make_capabilities(self):
        """Where only the server looks: its home is also that of the client, whose own folder is another one."""
        def make(folder, skill, plugin=None):
            path = folder / "skills" / skill / "SKILL.md"
            path.parent.mkdir(parents=True)
            path.write_text(f"---\nname: {skill}\ndescription: Says {skill}.\n---\nThe body of {skill}.\n")
            if plugin:
                (folder / ".codex-plugin").mkdir()
                (folder / ".codex-plugin/plugin.json").write_text(json.dumps({"name": plugin, "version": "1.0.0"}))
            return folder

        if self.scenario.capabilities == "selected":
            self.capability_roots = [make(self.outside / "alone", "lonely"), make(self.outside / "whole", "part", "whole")]
        if self.scenario.capabilities == "installed":
            make(self._user / ".codex", "homely")
            make(self._user / ".codex/plugins/cache/market/whole/1.0.0", "part", "whole")

    async def tear_down(self):
        if self.tap:
            self.tap.stop()
            self.tap.save(self.log.with_name("wire.jsonl"))
        if self.server:
            await children.stop(self.server)
        if self.rendezvous:
            await self.rendezvous.stop()
        self._http_mcp.stop()
        self.model.stop()

    def environment(self, **more):
        kept = {key: os.environ[key] for key in ("PATH", "USER") if key in os.environ}
        return kept | {"HOME": str(self._user), "SHELL": "/bin/bash", "LANG": "C.UTF-8", "TERM": "xterm"} | more

    def client_environment(self):
        link = {"CODEX_EXEC_SERVER_URL": self.tap.url} if self.scenario.link == "variable" else {}
        if self.scenario.capabilities:
            link |= {"HTTPS_PROXY": NO_PROXY, "https_proxy": NO_PROXY}  # else it looks for plugins in the Internet
        return self.environment(CODEX_HOME=str(self.home), E2E_MODEL_KEY="none", RUST_LOG="warn", **link)

    async def _start_server(self):
        arguments = ("exec-server", "--listen", "ws://127.0.0.1:0", "--detached-ttl-ms", DETACHED_TTL_MS)
        if self.scenario.link == "token":
            digest = hashlib.sha256(TOKEN.encode()).hexdigest()
            arguments += ("--ws-auth", "capability-token", "--ws-token-sha256", digest)
        pipes = {"stdin": asyncio.subprocess.DEVNULL, "stdout": asyncio.subprocess.PIPE}
        with self.log.open("ab") as log:
            self.server = await children.spawn(self._holdfast, *arguments, **pipes, stderr=log, env=self.environment())
        try:
            line = (await asyncio.wait_for(self.server.stdout.readline(), START_SECONDS)).decode()
            port, secret = re.fullmatch(r"ws://127\.0\.0\.1:(\d+)/?(\w*)\n", line).groups()
        except (asyncio.TimeoutError, AttributeError):
            raise NoServer("the server printed no URL") from None
        self.tap = Tap()
        await self.tap.start(int(port), secret)

    async def _start_executor(self):
        self.rendezvous = Rendezvous(self._holdfast, self.log.parent, self.log, self.environment())
        try:
            await self.rendezvous.start(TOKEN)
            self.server = await self.rendezvous.start_executor()
        except NoRendezvous as problem:
            raise NoServer(problem) from None
        proof = f"?token={TOKEN}" if self.scenario.link == "variable" else ""
        self.tap = Tap()
        await self.tap.start(self.rendezvous.port, f"executors/{ID}{proof}")

    def _config(self):
        lines = [
            'model = "gpt-5.5"',
            'model_provider = "script"',
            'approval_policy = "never"',
            'web_search = "disabled"',
            "check_for_update_on_startup = false",
            "[analytics]",
            "enabled = false",
            "[features]",
            "unified_exec = true",
            *CAPABILITY_CONFIG[self.scenario.capabilities],
            "[model_providers.script]",
            'name = "script"',
            f'base_url = "http://127.0.0.1:{self.model.port}/v1"',
            'wire_api = "responses"',
            'env_key = "E2E_MODEL_KEY"',
            "supports_websockets = false",
            "request_max_retries = 0",
            "stream_max_retries = 0",
        ]
        if self.scenario.mcp:
            lines += self._mcp_config()
        return "\n".join(lines) + "\n"

    def _mcp_config(self):
        has_id = self.client.can(versions.MCP_ENVIRONMENT_ID)
        yield "[mcp_servers.e2e]"
        yield 'default_tools_approval_mode = "approve"'
        if self.scenario.mcp == "shell":
            yield f"command = {json.dumps(str(self._holdfast))}"
            yield 'args = ["mcp-server"]'
            return
        yield f'{"environment_id" if has_id else "experimental_environment"} = "remote"'
        if self.scenario.mcp == "http":
            yield f"url = {json.dumps(self._http_mcp.url)}"
            return
        yield 'command = "python3"'
        yield f"args = [{json.dumps(str(HERE / 'echo_mcp.py'))}]"
        if has_id:
            yield f"cwd = {json.dumps(str(self.workspace))}"

    def _environments(self):
        lines = ['default = "here"', "[[environments]]", 'id = "here"']
        if self.scenario.link == "stdio":
            lines += [f"program = {json.dumps(str(self._holdfast))}", 'args = ["exec-server", "--listen", "stdio"]']
        else:
            lines.append(f"url = {json.dumps(self.tap.url)}")
        if self.scenario.link == "token":
            lines.append(f"auth_bearer_token = {json.dumps(TOKEN)}")
        return "\n".join(lines) + "\n"
