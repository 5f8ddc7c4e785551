"""The ways to a server. Each is a function that opens a connection, an object with `send`, `receive` and `close`."""

import asyncio
import ssl as tls
import socket
import urllib.parse
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from .errors import ConnectionRefused
from .web_socket import WebSocket

_SCHEMES = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}


class Transport(Protocol):
    async def send(self, text: str) -> None: ...
    async def receive(self) -> str | None: ...
    async def close(self) -> None: ...


Dial = Callable[[], Awaitable[Transport]]


class Lines:
    """A connection on which each message is a line."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self._reader, self._writer = reader, writer
        self._rest = b""

    async def send(self, text: str) -> None:
        self._writer.write(text.encode() + b"\n")
        await self._writer.drain()

    async def receive(self) -> str | None:
        parts = [self._rest]
        while b"\n" not in parts[-1]:
            try:
                part = await self._reader.read(1 << 16)
            except OSError:
                part = b""
            if not part:
                return None
            parts.append(part)
        line, _, self._rest = b"".join(parts).partition(b"\n")
        return line.decode(errors="replace")

    async def close(self) -> None:
        self._writer.close()


def dial_url(url: str, token: str | None, ssl: tls.SSLContext | None) -> Dial:
    """Dials ws://, wss://, unix:// or the https:// URL of an executor behind a rendezvous."""
    address = urllib.parse.urlsplit(url)
    if address.scheme == "unix":
        return lambda: _dial_unix(urllib.parse.unquote(address.path))
    if address.scheme not in _SCHEMES or not address.hostname:
        raise ValueError(f"{url!r} is not the URL of a server: it begins with ws://, wss://, https:// or unix://")
    return lambda: _dial_web_socket(address, token, ssl)


async def _dial_unix(path: str) -> Transport:
    return Lines(*await asyncio.open_unix_connection(path))


async def _dial_web_socket(address: urllib.parse.SplitResult, token: str | None, ssl: tls.SSLContext | None) -> Transport:
    encrypted = _SCHEMES[address.scheme] == "wss"
    port = address.port or (443 if encrypted else 80)
    context = (ssl or tls.create_default_context()) if encrypted else None
    try:
        reader, writer = await asyncio.open_connection(address.hostname, port, ssl=context)
    except tls.SSLCertVerificationError as problem:
        raise ConnectionRefused(f"{address.hostname}: {problem}") from problem
    _watch(writer.get_extra_info("socket"))
    connection = WebSocket(reader, writer)
    target = (address.path or "/") + (f"?{address.query}" if address.query else "")
    try:
        await connection.open(address.netloc.rpartition("@")[2], target, {"Authorization": f"Bearer {token}"} if token else {})
    except BaseException as problem:
        writer.close()
        if isinstance(problem, (asyncio.IncompleteReadError, asyncio.LimitOverrunError)):
            raise ConnectionError("the server ended the connection") from problem
        raise
    return connection


def _watch(connection: socket.socket) -> None:
    """Makes the kernel end the connection about 20 s after the peer has vanished."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", 10), ("TCP_KEEPINTVL", 3), ("TCP_KEEPCNT", 3), ("TCP_USER_TIMEOUT", 20_000)):
        if hasattr(socket, option):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


def dial_command(words: Sequence[str]) -> Dial:
    """Starts a program that is the server, on its standard streams, such as `holdfast exec-server --listen stdio`. When it ends, its
    sessions end too, so that it is dialled once."""
    used = False

    async def dial() -> Transport:
        nonlocal used
        if used:
            raise ConnectionRefused(f"{words[0]} has ended")
        used = True
        process = await asyncio.create_subprocess_exec(*words, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
        return _ChildLines(process)

    return dial


class _ChildLines(Lines):
    def __init__(self, process: asyncio.subprocess.Process):
        super().__init__(process.stdout, process.stdin)
        self._process = process

    async def close(self) -> None:
        await super().close()  # the end of its input ends the server
        await self._process.wait()
