"""What happens to a process, and the order in which it happened."""

from collections.abc import Iterator
from dataclasses import dataclass

from .protocol import ProcessReadResult, Stream


@dataclass(frozen=True)
class Output:
    seq: int
    stream: Stream
    data: bytes


@dataclass(frozen=True)
class Exited:
    """The command has exited; output may follow. `exit_code` is 128 + N after signal N, and `cause` says why the server has ended it."""

    seq: int
    exit_code: int
    sandbox_denied: bool
    cause: str | None = None


@dataclass(frozen=True)
class Lost:
    """The server has dropped the events with these numbers before they could be read."""

    from_seq: int
    to_seq: int


@dataclass(frozen=True)
class Closed:
    """The last event: the command has exited, and every stream has ended."""

    seq: int


Event = Output | Exited | Lost | Closed


class EventOrder:
    """Puts the events of a process into the order of their numbers. It drops what was published before, and holds what comes early: after
    a reconnect the server sends what happens then, while the client still reads what it has missed."""

    def __init__(self) -> None:
        self.published = 0
        self._held: dict[int, Event] = {}
        self._exit_known = False

    def take(self, event: Event) -> None:
        seq = event.from_seq if isinstance(event, Lost) else event.seq
        if seq > self.published and seq not in self._held:
            self._held[seq] = event
            self._exit_known = self._exit_known or isinstance(event, Exited)

    def settle(self, read: ProcessReadResult, chunks: list[Output]) -> None:
        """Takes in an answer of process/read without maxBytes. Then every number before its nextSeq has an event.

        The server drops its oldest output first. So behind the oldest chunk at most one number is missing, that of the exit; if none is,
        the exit was among what was dropped, and counts as the last of it."""
        for chunk in chunks:
            self.take(chunk)
        end = read["nextSeq"]
        if read["closed"]:
            self.take(Closed(end - 1))
        gaps = list(self._gaps(end))
        if gaps and read["exited"] and not self._exit_known:
            first, last = gaps.pop()
            cause = read.get("end", {}).get("cause")
            self.take(Exited(last, read["exitCode"] or 0, read.get("sandboxDenied", False), cause))
            if first < last:
                gaps.append((first, last - 1))
        for first, last in gaps:
            self.take(Lost(first, last))

    def _gaps(self, end: int) -> Iterator[tuple[int, int]]:
        expected = self.published + 1
        for seq in sorted(self._held):
            if expected < min(seq, end):
                yield expected, min(seq, end) - 1
            event = self._held[seq]
            expected = (event.to_seq if isinstance(event, Lost) else seq) + 1
        if expected < end:
            yield expected, end - 1

    def ready(self) -> Iterator[Event]:
        """Publishes the events whose turn it is."""
        while (event := self._held.pop(self.published + 1, None)) is not None:
            self.published = event.to_seq if isinstance(event, Lost) else event.seq
            yield event
