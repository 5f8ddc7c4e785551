"""A TCP proxy that cuts its connections: in the middle of messages, in both directions, with and without a goodbye."""

import asyncio
import contextlib
import random
import socket
import struct
import urllib.parse


class CuttingProxy:
    """Passes connections on to a server, and cuts each after a number of bytes from the server, which `budgets` chooses by chance.
    `blocked` refuses connections, and `cut` ends those that there are. `server` is the server's URL, and `url` the one in its place."""

    def __init__(self, server, budgets=None, seed=1):
        self.server, self.budgets = urllib.parse.urlsplit(server), budgets
        self.cuts, self.blocked, self.url = 0, False, ""
        self._chance = random.Random(seed)
        self._open = set()

    async def __aenter__(self):
        if self.server.scheme == "unix":
            path = self.server.path + ".proxy"
            self._listener = await asyncio.start_unix_server(self._serve, path)
            self.url = f"unix://{path}"
        else:
            self._listener = await asyncio.start_server(self._serve, "127.0.0.1", 0)
            address = f"127.0.0.1:{self._listener.sockets[0].getsockname()[1]}"
            self.url = self.server._replace(netloc=address).geturl()
        return self

    async def __aexit__(self, *_):
        self._listener.close()
        self.cut()

    def cut(self):
        for writers in list(self._open):
            self._cut(writers)

    def _cut(self, writers):
        if writers not in self._open:
            return
        self._open.discard(writers)
        self.cuts += 1
        abrupt = self._chance.random() < 0.5
        for writer in writers:
            if abrupt:  # the peer gets a reset instead of an end
                linger = struct.pack("ii", 1, 0)
                with contextlib.suppress(OSError):
                    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                writer.transport.abort()
            else:
                writer.close()

    async def _serve(self, reader, writer):
        if self.blocked:
            return writer.close()
        try:
            if self.server.scheme == "unix":
                from_server, to_server = await asyncio.open_unix_connection(self.server.path)
            else:
                from_server, to_server = await asyncio.open_connection(self.server.hostname, self.server.port)
        except OSError:
            return writer.close()
        writers = (writer, to_server)
        self._open.add(writers)
        budget = self._chance.randint(*self.budgets) if self.budgets else None
        passing = [asyncio.create_task(self._pass(reader, to_server, None)), asyncio.create_task(self._pass(from_server, writer, budget))]
        await asyncio.wait(passing, return_when=asyncio.FIRST_COMPLETED)
        self._cut(writers)
        await asyncio.wait(passing)

    async def _pass(self, source, sink, budget):
        with contextlib.suppress(OSError):
            while data := await source.read(4096):
                if budget is not None:
                    data, budget = data[:budget], budget - len(data)
                sink.write(data)
                await sink.drain()
                if budget is not None and budget <= 0:
                    return
