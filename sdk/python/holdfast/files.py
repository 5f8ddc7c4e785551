"""The files of the server's machine. A path is an absolute path or a file: URI."""

import base64
import uuid
from typing import TYPE_CHECKING

from .errors import Disconnected, RpcError
from .protocol import NOT_FOUND, FsDirectoryEntry, FsGetMetadataResult

if TYPE_CHECKING:
    from .client import Client

_LONGEST_WHOLE = 8 << 20  # of a file that is written by one message
_BLOCK = 1 << 19


class Files:
    def __init__(self, client: "Client"):
        self._client = client

    async def read(self, path: str) -> bytes:
        answer = await self._client.fs_read_file({"path": path})
        return base64.b64decode(answer["dataBase64"])

    async def write(self, path: str, data: bytes, *, atomic: bool = False) -> None:
        """Writes a whole file. With `atomic` a reader sees the old content or the new one; such a file has at most 8 MiB."""
        if len(data) > _LONGEST_WHOLE and not atomic:
            return await self._write_blocks(path, data)
        await self._client.fs_write_file({"path": path, "dataBase64": base64.b64encode(data).decode(), "atomic": atomic})

    async def _write_blocks(self, path: str, data: bytes) -> None:
        handle = uuid.uuid4().hex
        await self._client.fs_open({"handleId": handle, "path": path, "mode": "replace"})
        try:
            for offset in range(0, len(data), _BLOCK):
                chunk = base64.b64encode(data[offset : offset + _BLOCK]).decode()
                await self._client.fs_write_block({"handleId": handle, "offset": offset, "chunk": chunk})
        except RpcError as error:
            if error.code != NOT_FOUND:
                raise
            raise Disconnected(f"the connection was lost while {path} was written") from error  # open files end with it
        await self._client.fs_close({"handleId": handle})

    async def list(self, path: str) -> list[FsDirectoryEntry]:
        return (await self._client.fs_read_directory({"path": path}))["entries"]

    async def remove(self, path: str, *, recursive: bool = False, missing_ok: bool = False) -> None:
        await self._client.fs_remove({"path": path, "recursive": recursive, "force": missing_ok})

    async def metadata(self, path: str) -> FsGetMetadataResult:
        return await self._client.fs_get_metadata({"path": path})

    async def make_directory(self, path: str, *, parents: bool = False) -> None:
        await self._client.fs_create_directory({"path": path, "recursive": parents})
