"""Stands between a client and the server: passes the bytes on, reads along, and can cut the connection."""
import asyncio
import dataclasses
import json
import time

TEXT, BINARY, CONTINUATION = 1, 2, 0
METHOD_NOT_FOUND = -32601
ANSWER_SECONDS = 2


@dataclasses.dataclass(frozen=True)
class Message:
    connection: int
    from_client: bool
    json: dict
    seconds: float

    @property
    def method(self):
        return self.json.get("method")

    @property
    def params(self):
        return self.json.get("params") or {}


class Frames:
    """Takes one direction of a WebSocket connection in pieces, gives the messages that are complete."""

    def __init__(self):
        self._bytes = bytearray()
        self._message = bytearray()
        self._is_upgraded = False

    def feed(self, data):
        self._bytes += data
        if not self._is_upgraded:
            head, end, rest = self._bytes.partition(b"\r\n\r\n")
            if not end:
                return
            self._is_upgraded, self._bytes = True, rest
        while (frame := self._frame()) is not None:
            is_last, opcode, payload = frame
            if opcode not in (TEXT, BINARY, CONTINUATION):
                continue
            self._message += payload
            if is_last:
                yield _parsed(self._message)
                self._message.clear()

    def _frame(self):
        if len(self._bytes) < 2:
            return None
        length, at = self._bytes[1] & 0x7F, 2
        if length >= 126:
            at = 4 if length == 126 else 10
            length = int.from_bytes(self._bytes[2:at], "big")
        is_masked = bool(self._bytes[1] & 0x80)
        end = at + 4 * is_masked + length
        if len(self._bytes) < end:
            return None
        payload = bytes(self._bytes[end - length : end])
        if is_masked:
            mask = (bytes(self._bytes[at : at + 4]) * (length // 4 + 1))[:length]
            payload = (int.from_bytes(payload, "big") ^ int.from_bytes(mask, "big")).to_bytes(length, "big")
        first = self._bytes[0]
        del self._bytes[:end]
        return bool(first & 0x80), first & 0x0F, payload


def _parsed(message):
    try:
        return json.loads(message)
    except ValueError:
        return {"invalid": bytes(message)}


class Tap:
    def __init__(self):
        self.messages = []
        self.connections = 0
        self._ends = {}
        self._writers = set()

    async def start(self, server_port, target):
        self._server_port = server_port
        self._listener = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.url = f"ws://127.0.0.1:{self._listener.sockets[0].getsockname()[1]}/{target}"

    def stop(self):
        self._listener.close()
        self.cut()

    def cut(self):
        for writer in self._writers:
            writer.transport.abort()

    async def _accept(self, reader, writer):
        self.connections += 1
        connection = self.connections
        try:
            server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self._server_port)
        except OSError:
            writer.transport.abort()  # as it is when nobody listens
            return
        pair = {writer, server_writer}
        self._writers |= pair
        await asyncio.gather(self._pump(reader, server_writer, connection, from_client=True),
                             self._pump(server_reader, writer, connection, from_client=False))
        self._writers -= pair
        self._ends[connection] = time.monotonic()

    async def _pump(self, reader, writer, connection, from_client):
        frames = Frames()
        try:
            while data := await reader.read(1 << 16):
                for message in frames.feed(data):
                    self.messages.append(Message(connection, from_client, message, time.monotonic()))
                writer.write(data)
                await writer.drain()
        except OSError:
            pass  # cut, or reset by the peer; the other direction ends with it
        finally:
            writer.close()

    def save(self, path):
        """One message a line: when, on which connection, from where, what."""
        with path.open("w") as file:
            for message in self.messages:
                source = "client" if message.from_client else "server"
                line = {"seconds": message.seconds, "connection": message.connection, "from": source}
                file.write(json.dumps(line | {"message": message.json}, default=repr) + "\n")

    def requests(self, method):
        return [message for message in self.messages if message.from_client and message.method == method]

    def notes(self, method, process_id=None):
        """Params of the server's notifications, of one process or of all there are."""
        notes = [message.params for message in self.messages if not message.from_client and message.method == method]
        return [params for params in notes if process_id in (None, params.get("processId"))]

    def starts(self, command):
        """Every process/start that runs this shell command."""
        return [start for start in self.requests("process/start") if start.params["argv"][-1] == command]

    def result(self, request):
        key = request.connection, request.json["id"]
        for message in self.messages:
            if not message.from_client and (message.connection, message.json.get("id")) == key:
                return message.json.get("result")
        return None

    # What holds for every conversation. Each gives the breaches that it finds.

    def answers(self):
        """A request is answered once, by a method that exists, unless the connection ends first."""
        unanswered = {}
        for message in self.messages:
            key = message.connection, message.json.get("id")
            if "invalid" in message.json:
                yield f"not JSON: {message.json}"
            if key[1] is None:
                continue
            if message.from_client:
                unanswered[key] = message
            elif unanswered.pop(key, None) is None:
                yield f"an answer to no open request: {message.json}"
            elif (message.json.get("error") or {}).get("code") == METHOD_NOT_FOUND:
                yield f"a method is not known: {message.json}"
        for (connection, _), request in unanswered.items():
            if self._ends.get(connection, time.monotonic()) - request.seconds > ANSWER_SECONDS:
                yield f"not answered: {request.json}"

    def numbers(self):
        """What a process does is numbered from 1, without a gap, and `closed` is the last."""
        seen = {}
        for message in self.messages:
            if not message.from_client and message.method in ("process/output", "process/exited", "process/closed"):
                seen.setdefault(message.params["processId"], []).append(message)
        for process_id, notes in seen.items():
            numbers = [note.params["seq"] for note in notes]
            methods = [note.method for note in notes]
            if "process/closed" in methods[:-1]:
                yield f"process {process_id} goes on after it has closed"
            if numbers != sorted(set(numbers)):
                yield f"process {process_id} is numbered {numbers}"
            if self.connections > 1:
                continue  # what happened while the connection was lost is read, not announced
            if numbers[-1] != len(numbers):
                yield f"process {process_id} is numbered {numbers}"
            if "process/exited" in methods and methods[-1] != "process/closed":
                yield f"process {process_id} has exited and never closes"
