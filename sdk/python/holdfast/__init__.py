"""A client of the holdfast exec-server: it runs commands and works on files on the server's machine.

    async with await Client.connect("ws://127.0.0.1:4500/SECRET") as client:
        done = await client.run(["make", "test"], cwd="/src")
"""

from .client import Approver, Client
from .errors import ConnectionRefused, Disconnected, HoldfastError, RpcError
from .events import Closed, Event, Exited, Lost, Output
from .files import Files
from .process import Completed, Process, StartOptions

__all__ = [
    "Approver", "Client", "Closed", "Completed", "ConnectionRefused", "Disconnected", "Event", "Exited", "Files", "HoldfastError",
    "Lost", "Output", "Process", "RpcError", "StartOptions",
]
