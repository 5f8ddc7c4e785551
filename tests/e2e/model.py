"""A model that does what it is told: the Responses API over HTTP and server-sent events, played from a script.

The client asks the model, the model answers with tool calls, the client runs them and asks again with what came out.
Here the script is in charge: `Model.call` answers the question that waits, and returns the outputs that the next one
brings.
"""
import asyncio
import dataclasses
import json

FUNCTION, FREEFORM = "function_call", "custom_tool_call"


@dataclasses.dataclass(frozen=True)
class Call:
    tool: str
    arguments: dict | str
    kind: str = FUNCTION
    namespace: str | None = None

    def item(self, call_id):
        item = {"type": self.kind, "id": "item-" + call_id, "call_id": call_id, "name": self.tool}
        if self.kind == FREEFORM:
            return item | {"input": self.arguments, "status": "completed"}
        if self.namespace:
            item["namespace"] = self.namespace
        return item | {"arguments": json.dumps(self.arguments)}


@dataclasses.dataclass(frozen=True)
class Output:
    text: str | None  # what the model reads, if the client gave an output at all
    rest: str         # JSON of everything that the client has added to the conversation since the call


@dataclasses.dataclass
class Question:
    body: dict
    answer: asyncio.Future


class Model:
    def __init__(self):
        self._questions = asyncio.Queue()
        self._open = None
        self._calls = 0
        self._answers = 0

    async def start(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    def stop(self):
        self._server.close()

    async def opening(self):
        """The first question: instructions, tools, what the client has gathered about the workspace."""
        self._open = self._open or await self._questions.get()
        return self._open.body

    async def call(self, *calls):
        """Has the client run these calls, all in one answer, and returns their outputs in the same order."""
        await self.opening()
        ids = []
        for _ in calls:
            self._calls += 1
            ids.append(f"call-{self._calls}")
        self._open.answer.set_result([call.item(call_id) for call, call_id in zip(calls, ids)])
        self._open = await self._questions.get()
        return [_output(self._open.body["input"], call_id) for call_id in ids]

    async def finish(self):
        """Ends the turn."""
        await self.opening()
        content = [{"type": "output_text", "text": "done"}]
        self._open.answer.set_result([{"type": "message", "role": "assistant", "id": "item-end", "content": content}])
        self._open = None

    async def _serve(self, reader, writer):
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            fields = dict(line.lower().split(": ", 1) for line in head[1:] if line)
            body = await reader.readexactly(int(fields.get("content-length", 0)))
            verb, path, _ = head[0].split(" ", 2)
            if verb == "POST" and path.split("?")[0].endswith("/responses"):
                question = Question(json.loads(body), asyncio.get_running_loop().create_future())
                self._questions.put_nowait(question)
                writer.write(self._stream(await question.answer))
            else:
                writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            await writer.drain()
        except (OSError, EOFError):
            pass  # the client went away; whoever started it sees that by its exit
        finally:
            writer.close()

    def _stream(self, items):
        self._answers += 1
        response = {"id": f"response-{self._answers}"}
        events = [{"type": "response.created", "response": response}]
        for index, item in enumerate(items):
            for event in ("response.output_item.added", "response.output_item.done"):
                events.append({"type": event, "output_index": index, "item": item})
        usage = {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1, "output_tokens_details": None}
        events.append({"type": "response.completed", "response": response | {"usage": usage | {"total_tokens": 2}}})
        text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        return b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + text.encode()


def _output(conversation, call_id):
    since = []
    text = None
    for item in conversation:
        if item.get("call_id") == call_id and item["type"].endswith("_output"):
            text = _text(item["output"])
        if since or item.get("call_id") == call_id:
            since.append(item)
    return Output(text, json.dumps(since))


def _text(output):
    if isinstance(output, str):
        return output
    if isinstance(output, dict):
        return _text(output.get("content", ""))
    return "\n".join(part.get("text", "") for part in output)
