"""A command that runs on the server."""

import asyncio
import base64
import uuid
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from .connection import Connection
from .errors import Disconnected, HoldfastError
from .events import Closed, Event, EventOrder, Exited, Lost, Output
from .protocol import ExecPolicy, Limits, ProcessReadResult, ProcessStartParams, Sandbox

if TYPE_CHECKING:
    from .client import Client

_LONGEST_WRITE = 1 << 18


class StartOptions(TypedDict, total=False):
    """`env` is added to the environment of the server, of which variables that look like secrets are left out; with `clean_env` it is the
    whole environment. `terminal` has the rows and columns of a terminal. The other members are those of process/start."""

    cwd: str  # by default the directory of the server
    env: Mapping[str, str]
    clean_env: bool
    terminal: tuple[int, int]
    sandbox: Sandbox
    exec_policy: ExecPolicy
    limits: Limits
    process_id: str


@dataclass(frozen=True)
class Completed:
    """`stdout` has the output of a terminal too. `lost` tells whether the server has dropped output before it could be read."""

    exit_code: int
    stdout: bytes
    stderr: bytes
    sandbox_denied: bool
    cause: str | None
    lost: bool


def start_params(argv: Sequence[str], stdin: bool, options: StartOptions, directory: str) -> ProcessStartParams:
    params: ProcessStartParams = {
        "processId": options.get("process_id") or str(uuid.uuid4()),
        "argv": list(argv),
        "cwd": options.get("cwd") or directory,
        "env": dict(options.get("env") or {}),
        "tty": "terminal" in options,
        "pipeStdin": stdin,
    }
    if not options.get("clean_env"):
        params["envPolicy"] = {"inherit": "all", "ignoreDefaultExcludes": False, "exclude": [], "set": {}, "includeOnly": []}
    if "terminal" in options:
        rows, cols = options["terminal"]
        params["io"] = {"pty": {"rows": rows, "cols": cols}}
    if "sandbox" in options:
        params["sandbox"] = options["sandbox"]
    if "exec_policy" in options:
        params["execPolicy"] = options["exec_policy"]
    if "limits" in options:
        params["limits"] = options["limits"]
    return params


class Process:
    """Client.start makes one. Its events are read by `async for event in process`, once each and in order, whatever happens to the
    connection; events that nobody reads are kept in memory."""

    def __init__(self, client: "Client", process_id: str):
        self.process_id = process_id
        self.exited: Exited | None = None
        self.is_certain = False  # the server has the process, as far as the client knows
        self._client = client
        self._order = EventOrder()
        self._events: deque[Event] = deque()
        self._failure: HoldfastError | None = None
        self._closed = False
        self._changed = asyncio.Event()
        self._writing = asyncio.Lock()
        self._writes = 0
        self._write_prefix = uuid.uuid4().hex

    def __aiter__(self) -> AsyncIterator[Event]:
        return self._read()

    async def _read(self) -> AsyncIterator[Event]:
        while True:
            while self._events:
                event = self._events.popleft()
                yield event
                if isinstance(event, Closed):
                    return
            if self._closed:
                return
            if self._failure is not None:
                raise self._failure
            await self._wait_for_change()

    async def wait(self) -> Exited:
        """Waits until the command has exited. Its events can be read all the same."""
        while self.exited is None:
            if self._failure is not None:
                raise self._failure
            await self._wait_for_change()
        return self.exited

    async def communicate(self, input: bytes = b"") -> Completed:
        """Writes the input, closes it, and collects the output until the end."""
        feeding = asyncio.create_task(self._feed(input))
        output: dict[str, list[bytes]] = {"stdout": [], "stderr": [], "pty": []}
        lost = False
        try:
            async for event in self:
                if isinstance(event, Output):
                    output[event.stream].append(event.data)
                lost = lost or isinstance(event, Lost)
        finally:
            feeding.cancel()
        exited = self.exited
        if exited is None:
            raise HoldfastError(f"{self.process_id} has ended without an exit")
        stdout, stderr = b"".join(output["stdout"] + output["pty"]), b"".join(output["stderr"])
        return Completed(exited.exit_code, stdout, stderr, exited.sandbox_denied, exited.cause, lost)

    async def _feed(self, input: bytes) -> None:
        try:
            if input:
                await self.write(input)
                await self.close_stdin()
        except BrokenPipeError:
            pass  # the command does not read all of its input
        except HoldfastError as problem:
            self.fail(problem)

    async def write(self, data: bytes) -> None:
        """Writes to the command's standard input, each byte once and in order. Raises BrokenPipeError if the input is closed."""
        async with self._writing:
            for begin in range(0, len(data), _LONGEST_WRITE):
                await self._write(data[begin : begin + _LONGEST_WRITE])

    async def _write(self, data: bytes) -> None:
        self._writes += 1
        params = {
            "processId": self.process_id,
            "chunk": base64.b64encode(data).decode(),
            "writeId": f"{self._write_prefix}-{self._writes}",
        }
        lost = 0
        while True:
            connection = await self._client._connected(lost)
            lost = connection.number
            try:
                status = (await connection.request("process/write", params))["status"]
                break
            except Disconnected:
                continue  # the server knows the writeId, and writes the bytes once
        if status != "accepted":
            raise BrokenPipeError(f"{self.process_id}: {status}")

    async def close_stdin(self) -> None:
        """Closes the standard input behind what was written. A terminal gets its end-of-file character."""
        async with self._writing:
            await self._client.process_close_stdin({"processId": self.process_id})

    async def resize(self, rows: int, cols: int) -> None:
        await self._client.process_resize({"processId": self.process_id, "rows": rows, "cols": cols})

    async def signal(self, name: str) -> None:
        """Sends a signal, such as "SIGTERM", to the command's process group."""
        await self._client.process_signal({"processId": self.process_id, "signal": name})

    async def terminate(self, grace_ms: int | None = None) -> None:
        """Ends the command and every descendant: at once, or by SIGTERM and after that time."""
        mode: Any = {} if grace_ms is None else {"mode": {"graceful": {"timeoutMs": grace_ms}}}
        timeout = 30 + (grace_ms or 0) / 1000
        await self._client.call("process/terminate", {"processId": self.process_id} | mode, timeout=timeout)

    # For the client

    def take(self, method: str, params: Any) -> None:
        """Takes in a notification."""
        if method == "process/output":
            self._order.take(Output(params["seq"], params["stream"], base64.b64decode(params["chunk"])))
        elif method == "process/exited":
            cause = params.get("end", {}).get("cause")
            self._order.take(Exited(params["seq"], params["exitCode"], params.get("sandboxDenied", False), cause))
        elif method == "process/closed":
            self._order.take(Closed(params["seq"]))
        elif method == "process/outputLost":
            self._order.take(Lost(params["fromSeq"], params["toSeq"]))
        self._publish()

    async def catch_up(self, connection: Connection) -> None:
        """Reads what the server has sent while there was no connection."""
        params = {"processId": self.process_id, "afterSeq": self._order.published, "waitMs": 0}
        read: ProcessReadResult = await connection.request("process/read", params)
        chunks = [Output(chunk["seq"], chunk["stream"], base64.b64decode(chunk["chunk"])) for chunk in read["chunks"]]
        self._order.settle(read, chunks)
        self._publish()

    def fail(self, reason: HoldfastError) -> None:
        if not self._closed:
            self._failure = self._failure or reason
        self._tell()

    def _publish(self) -> None:
        for event in self._order.ready():
            self._events.append(event)
            if isinstance(event, Exited):
                self.exited = event
            if isinstance(event, Closed):
                self._closed = True
                self._client.forget(self)
        self._tell()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _wait_for_change(self) -> None:
        await self._changed.wait()
