"""One connection to a server: requests and their answers, notifications, and the questions of the server."""

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable
from typing import Any

from .errors import Disconnected, RpcError
from .protocol import UNKNOWN_METHOD
from .transport import Transport

_ids = itertools.count(1)


class Connection:
    """`number` tells the connections of a session apart; each has a higher one than those before it."""

    def __init__(
        self,
        transport: Transport,
        number: int,
        on_notification: Callable[[str, Any], None],
        on_question: Callable[[str, Any], Awaitable[Any]],
        on_end: Callable[["Connection"], None],
    ):
        self.number = number
        self.ended = False
        self._transport = transport
        self._on_notification, self._on_question, self._on_end = on_notification, on_question, on_end
        self._pending: dict[int, asyncio.Future[Any]] = {}
        self._questions: set[asyncio.Task[None]] = set()
        self._reader = asyncio.create_task(self._read())

    async def request(self, method: str, params: Any) -> Any:
        if self.ended:
            raise Disconnected("the connection has ended")
        number = next(_ids)
        answer = self._pending[number] = asyncio.get_running_loop().create_future()
        try:
            await self._send({"id": number, "method": method, "params": {} if params is None else params})
            return await answer
        finally:
            self._pending.pop(number, None)
            if answer.done() and not answer.cancelled():
                answer.exception()  # it counts as seen, also where sending has failed first

    async def notify(self, method: str) -> None:
        await self._send({"method": method})

    async def close(self) -> None:
        self._finish()
        self._reader.cancel()
        await self._transport.close()

    async def _send(self, message: dict[str, Any]) -> None:
        try:
            await self._transport.send(json.dumps(message, separators=(",", ":")))
        except (OSError, RuntimeError) as problem:
            self._finish()
            raise Disconnected(f"the connection has ended: {problem}") from problem

    async def _read(self) -> None:
        try:
            while (text := await self._transport.receive()) is not None:
                self._take(json.loads(text))
        except (ValueError, LookupError, TypeError):
            pass  # the peer does not speak the protocol, and is left
        finally:
            self._finish()
        await self._transport.close()

    def _take(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            self._take_answer(message)
        elif "id" not in message:
            self._on_notification(message["method"], message.get("params"))
        else:
            question = asyncio.create_task(self._answer(message))
            self._questions.add(question)
            question.add_done_callback(self._questions.discard)

    def _take_answer(self, message: dict[str, Any]) -> None:
        answer = self._pending.get(message["id"])
        if answer is None or answer.done():
            return
        if "error" not in message:
            return answer.set_result(message["result"])
        error = message["error"]
        answer.set_exception(RpcError(error["code"], error["message"], (error.get("data") or {}).get("kind")))

    async def _answer(self, message: dict[str, Any]) -> None:
        try:
            answer = {"id": message["id"], "result": await self._on_question(message["method"], message.get("params"))}
        except NotImplementedError:
            error = {"code": UNKNOWN_METHOD, "message": f"this client has no method {message['method']}"}
            answer = {"id": message["id"], "error": error}
        try:
            await self._send(answer)
        except Disconnected:
            pass  # the server asks again over the next connection

    def _finish(self) -> None:
        if self.ended:
            return
        self.ended = True
        for answer in self._pending.values():
            if not answer.done():
                answer.set_exception(Disconnected("the connection has ended; the server may or may not have done it"))
        for question in self._questions:
            question.cancel()
        self._on_end(self)
