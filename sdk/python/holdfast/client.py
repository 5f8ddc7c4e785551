"""A client of holdfast. It keeps one session, over as many connections as it takes: when a connection breaks, the client makes another
one, resumes the session and reads what it has missed."""

import asyncio
import ssl as tls
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Unpack

from .connection import Connection
from .errors import ConnectionRefused, Disconnected, HoldfastError, RpcError
from .files import Files
from .process import Completed, Process, StartOptions, start_params
from .protocol import (
    INVALID_REQUEST, OBSERVER_METHODS, SESSION_ATTACHED, EnvironmentInfo, ExecApproveParams, ExecApproveResult, Methods,
)
from .transport import Dial, dial_command, dial_url

# A second execution of these changes nothing, so they are sent again when the connection was lost before the answer.
_REPEATABLE = (OBSERVER_METHODS - {"initialize", "session/takeOver"}) | {"process/closeStdin", "process/resize", "process/terminate"}
_PAUSE_S = 0.1  # between the starts of two attempts to connect
_REMEMBERED_S = 10  # a server remembers a process for longer than this after its end

Approver = Callable[[ExecApproveParams], Awaitable[ExecApproveResult]]


class Client(Methods):
    """Client.connect makes one. Every method of the protocol is a method of this class, such as `process_list`, or goes through `call`."""

    def __init__(self, dial: Dial, name: str, recover_for: float, call_timeout: float, approver: Approver | None):
        self._dial, self._name, self._recover_for = dial, name, recover_for
        self._call_timeout, self._approver = call_timeout, approver
        self._connection: Connection | None = None
        self._connections = 0
        self._ended: HoldfastError | None = None
        self._changed = asyncio.Condition()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._processes: dict[str, Process] = {}
        self.session_id: str | None = None
        self.environment: EnvironmentInfo
        self.files = Files(self)

    @classmethod
    async def connect(
        cls,
        url: str | None = None,
        *,
        command: Sequence[str] | None = None,
        token: str | None = None,
        ssl: tls.SSLContext | None = None,
        name: str = "holdfast-python",
        recover_for: float = 25,
        call_timeout: float = 30,
        approver: Approver | None = None,
    ) -> "Client":
        """Connects to the server at a URL, or starts one as a program that speaks the protocol on its standard streams. `token` is the
        bearer token, if the server asks for one. `approver` answers the server's questions about supervised programs; without it they
        are denied. Times are in seconds: `recover_for` is how long the client tries to reach the server again."""
        if (url is None) == (command is None):
            raise ValueError("give either a url or a command")
        dial = dial_command(command) if command is not None else dial_url(str(url), token, ssl)
        self = cls(dial, name, recover_for, call_timeout, approver)
        try:
            connection = await self._open()
        except (OSError, TimeoutError) as problem:
            raise Disconnected(f"the server cannot be reached: {problem}") from problem
        await self._set_up(connection)
        return self

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends the connection. The server ends the processes of the session when the session has had no connection for a while."""
        connection = self._connection
        await self._end(Disconnected("the client was closed"))
        for task in self._tasks:
            task.cancel()
        if connection is not None:
            await connection.close()

    # Calls

    async def call(self, method: str, params: Any = None, *, timeout: float | None = None) -> Any:
        """Calls any method. A method that only looks is called again after a lost connection; others raise Disconnected."""
        async with asyncio.timeout(self._call_timeout if timeout is None else timeout):
            lost = 0
            while True:
                connection = await self._connected(lost)
                try:
                    return await connection.request(method, params)
                except Disconnected:
                    if method not in _REPEATABLE:
                        raise
                    lost = connection.number

    async def run(self, argv: Sequence[str], *, input: bytes = b"", **options: Unpack[StartOptions]) -> Completed:
        """Runs a command to its end, and returns its output and its exit code."""
        process = await self.start(argv, stdin=bool(input), **options)
        return await process.communicate(input)

    async def start(self, argv: Sequence[str], *, stdin: bool = False, **options: Unpack[StartOptions]) -> Process:
        """Starts a command. With `stdin` its standard input is a pipe, or the terminal, and otherwise it is empty."""
        params = start_params(argv, stdin, options, self.environment["cwd"])
        process = self._processes[params["processId"]] = Process(self, params["processId"])
        sent_at: float | None = None
        try:
            async with asyncio.timeout(None if "execPolicy" in params else self._call_timeout):
                lost = 0
                while True:
                    connection = await self._connected(lost)
                    lost = connection.number
                    try:
                        if sent_at is not None and await self._has_started(process, connection, sent_at):
                            break
                        sent_at = sent_at or time.monotonic()
                        await connection.request("process/start", params)
                        break
                    except Disconnected:
                        continue  # the server may have started it; the next connection tells
        except BaseException as problem:
            self.forget(process)
            if sent_at is not None and not isinstance(problem, RpcError):
                self._spawn(self._kill(process.process_id))  # it may run, and nobody has its handle
            raise
        process.is_certain = True
        return process

    async def _has_started(self, process: Process, connection: Connection, sent_at: float) -> bool:
        """Asks for a process whose start was sent over a connection that broke."""
        try:
            await process.catch_up(connection)
            return True
        except RpcError as error:
            if error.code != INVALID_REQUEST:
                raise
        if time.monotonic() - sent_at > _REMEMBERED_S:
            raise HoldfastError(f"the connection was lost while {process.process_id} was started")
        return False

    async def _kill(self, process_id: str) -> None:
        try:
            await self.process_terminate({"processId": process_id})
        except (HoldfastError, TimeoutError):
            pass

    # Connections

    async def _connected(self, lost: int) -> Connection:
        """Waits for a connection with a higher number than the one that was lost."""
        async with self._changed:
            while self._ended is None:
                if self._connection is not None and self._connection.number > lost and not self._connection.ended:
                    return self._connection
                await self._changed.wait()
            raise self._ended

    async def _open(self) -> Connection:
        """Dials, and opens the session or resumes it."""
        async with asyncio.timeout(self._call_timeout):
            transport = await self._dial()
            self._connections += 1
            connection = Connection(transport, self._connections, self._on_notification, self._on_question, self._on_end)
            try:
                greeting = {"clientName": self._name}
                if self.session_id is not None:
                    greeting["resumeSessionId"] = self.session_id
                answer = await connection.request("initialize", greeting)
                await connection.notify("initialized")
                if self.session_id is None:
                    self.session_id, self.environment = answer["sessionId"], answer["environmentInfo"]
                for process in [process for process in self._processes.values() if process.is_certain]:
                    await self._catch_up(process, connection)
                return connection
            except BaseException:
                await connection.close()
                raise

    async def _catch_up(self, process: Process, connection: Connection) -> None:
        try:
            await process.catch_up(connection)
        except RpcError as error:
            process.fail(error)
            self.forget(process)

    async def _set_up(self, connection: Connection) -> None:
        async with self._changed:
            self._connection = connection
            self._changed.notify_all()
        if connection.ended:
            self._on_end(connection)

    async def _recover(self) -> None:
        give_up = time.monotonic() + self._recover_for
        reason: BaseException = Disconnected("the connection has ended")
        while (begun := time.monotonic()) < give_up:
            try:
                return await self._set_up(await self._open())
            except (ConnectionRefused, RpcError) as problem:
                reason = problem
                # The server believes for a moment that the connection which broke still lives. Any other refusal is final.
                if not isinstance(problem, RpcError) or problem.code != SESSION_ATTACHED:
                    break
            except (Disconnected, OSError, TimeoutError) as problem:
                reason = problem
            await asyncio.sleep(max(0.0, begun + _PAUSE_S - time.monotonic()))
        await self._end(Disconnected(f"the session is lost: {reason}"))

    async def _end(self, reason: HoldfastError) -> None:
        async with self._changed:
            self._ended = self._ended or reason
            self._connection = None
            self._changed.notify_all()
        for process in list(self._processes.values()):
            process.fail(self._ended)
        self._processes.clear()

    def _on_end(self, connection: Connection) -> None:
        if connection is self._connection and self._ended is None:
            self._connection = None
            self._spawn(self._recover())

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # What the server sends

    def _on_notification(self, method: str, params: Any) -> None:
        if method == "session/ended":
            self._spawn(self._end(Disconnected("the session was ended")))
        elif method.startswith("process/") and (process := self._processes.get(params["processId"])):
            process.take(method, params)

    async def _on_question(self, method: str, params: Any) -> Any:
        if method != "exec/approve":
            raise NotImplementedError
        return await self._approver(params) if self._approver else {"decision": "deny", "reason": "the client does not ask its user"}

    def forget(self, process: Process) -> None:
        """The process has ended for this client."""
        self._processes.pop(process.process_id, None)
