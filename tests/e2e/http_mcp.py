"""An MCP server over HTTP, with the tool of echo_mcp.py. A call is answered by a stream of events, in two pieces."""
import asyncio
import json

from echo_mcp import outcome

PIECE_SECONDS = 0.1


class HttpMcp:
    async def start(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/mcp"

    def stop(self):
        self._server.close()

    async def _serve(self, reader, writer):
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            fields = dict(line.lower().split(": ", 1) for line in head[1:] if line)
            body = await reader.readexactly(int(fields.get("content-length", 0)))
            if head[0].startswith("POST "):
                await _answer(json.loads(body), writer)
            else:
                writer.write(_head("405 Method Not Allowed"))
            await writer.drain()
        except (OSError, EOFError):
            pass  # the server went away, or has lost its client
        finally:
            writer.close()


async def _answer(request, writer):
    if "id" not in request:
        writer.write(_head("202 Accepted"))
        return
    answer = json.dumps(outcome(request)).encode()
    if request["method"] != "tools/call":
        writer.write(_head("200 OK", "Content-Type: application/json") + answer)
        return
    writer.write(_head("200 OK", "Content-Type: text/event-stream") + b"event: message\ndata: " + answer[:20])
    await writer.drain()
    await asyncio.sleep(PIECE_SECONDS)
    writer.write(answer[20:] + b"\n\n")


def _head(status, *fields):
    return "\r\n".join([f"HTTP/1.1 {status}", *fields, "Connection: close", "", ""]).encode()
