"""A WebSocket client (RFC 6455) on asyncio, without extensions and subprotocols."""

import asyncio
import base64
import hashlib
import os
import struct

from .errors import ConnectionRefused

_TEXT, _CLOSE, _PING, _PONG = 1, 8, 9, 10
_MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_FRAME = 1 << 20  # the server accepts frames of 16 MiB; shorter ones let answers to pings pass between them
_LONGEST_MESSAGE = 1 << 30


class WebSocket:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self._reader, self._writer = reader, writer
        self._sending = asyncio.Lock()

    async def open(self, host: str, target: str, headers: dict[str, str]) -> None:
        key = base64.b64encode(os.urandom(16))
        lines = [f"GET {target} HTTP/1.1", f"Host: {host}", "Connection: Upgrade", "Upgrade: websocket",
                 "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key.decode()}",
                 *(f"{name}: {value}" for name, value in headers.items())]
        self._writer.write("\r\n".join([*lines, "", ""]).encode())
        await self._writer.drain()
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        answer = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        status = head[0].split(" ", 2)[1:]
        if status[:1] != ["101"]:
            await self._refuse(status, answer)
        wanted = base64.b64encode(hashlib.sha1(key + _MAGIC).digest()).decode()
        if answer.get("sec-websocket-accept") != wanted:
            raise ConnectionRefused(f"{host} does not speak WebSocket")

    async def _refuse(self, status: list[str], answer: dict[str, str]) -> None:
        length = answer.get("content-length", "0")
        body = await self._reader.readexactly(min(int(length), 4096)) if length.isdigit() else b""
        text = f"the server answered {' '.join(status)}: {body.decode(errors='replace').strip()}"
        # A rendezvous answers these while an executor is not connected, and 429 while a limit is reached.
        passing = status[:1] in (["404"], ["429"], ["502"], ["503"])
        raise ConnectionError(text) if passing else ConnectionRefused(text)

    async def send(self, text: str) -> None:
        """Returns when the operating system has the message, or most of it."""
        data = text.encode()
        async with self._sending:
            for begin in range(0, max(len(data), 1), _FRAME):
                last = begin + _FRAME >= len(data)
                self._write_frame(_TEXT if begin == 0 else 0, data[begin : begin + _FRAME], last)
                await self._writer.drain()

    def _write_frame(self, opcode: int, payload: bytes, last: bool = True) -> None:
        size = len(payload)
        head = bytes([(0x80 if last else 0) | opcode])
        if size < 126:
            head += bytes([0x80 | size])
        elif size < 65536:
            head += b"\xfe" + struct.pack(">H", size)
        else:
            head += b"\xff" + struct.pack(">Q", size)
        mask = os.urandom(4)
        repeated = int.from_bytes((mask * (size // 4 + 1))[:size], "big")
        masked = (int.from_bytes(payload, "big") ^ repeated).to_bytes(size, "big")
        self._writer.write(head + mask + masked)

    async def receive(self) -> str | None:
        """Returns the next message, or None when the connection has ended."""
        message = b""
        try:
            while True:
                last, opcode, payload = await self._read_frame(_LONGEST_MESSAGE - len(message))
                if opcode == _PING:
                    self._write_frame(_PONG, payload)
                elif opcode == _CLOSE:
                    self._write_frame(_CLOSE, payload[:2])
                    return None
                elif opcode != _PONG:
                    message += payload
                    if last:
                        return message.decode()
        except (asyncio.IncompleteReadError, OSError, UnicodeDecodeError):
            return None

    async def _read_frame(self, longest: int) -> tuple[bool, int, bytes]:
        head = await self._reader.readexactly(2)
        size = head[1] & 0x7F
        if size == 126:
            size = struct.unpack(">H", await self._reader.readexactly(2))[0]
        elif size == 127:
            size = struct.unpack(">Q", await self._reader.readexactly(8))[0]
        if head[1] & 0x80 or size > longest:
            raise ConnectionError("the server sent a frame that it may not send")
        return bool(head[0] & 0x80), head[0] & 0x0F, await self._reader.readexactly(size)

    async def close(self) -> None:
        try:
            self._write_frame(_CLOSE, struct.pack(">H", 1000))
            await self._writer.drain()
        except OSError:
            pass
        self._writer.close()
