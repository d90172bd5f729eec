"""User code in a process of its own: it may print, call exit, loop for ever or end its process with any status."""

from __future__ import annotations

import signal
import time
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location, is_ours
from streamcheck.core.worded import WordedError, brief, place_of
from streamcheck.run.child import ASKED, Channel, Child, Ended, Forged, TooLate
from streamcheck.run.confine import MEMORY, confine, require_confinement
from streamcheck.run.limits import OutOfTime
from streamcheck.run.logs import hand_out
from streamcheck.run.memory import memory_limit, tells_no_room
from streamcheck.run.stop import Stopped

PATIENCE = 0.2  # seconds that a child has to answer where it is
INTERNAL = "internal error in streamcheck (not in your spec)\n"
Send = Callable[[Any], None]


class Sandbox:
    """A child that runs `work(send)`; `receive` what it sends. Use as a context manager."""

    def __init__(
        self,
        work: Callable[[Send], None],
        *,
        seconds: float | None,
        doing: str,
        memory: int | None = None,
        confined_to: str | None = None,
    ) -> None:
        """`confined_to`: the file whose code it runs, if it shall be able to do no more than read."""
        self.doing = doing
        self.seconds = seconds
        self.deadline = None if seconds is None else time.monotonic() + seconds
        if confined_to is not None:
            require_confinement()
            memory = memory or MEMORY
        self._child = Child(lambda channel: _answer(work, channel, memory, doing, confined_to))

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._child.end()

    def receive(self) -> Any:
        """The next record. SpecError if the child ended without one or took too long."""
        left = None if self.deadline is None else max(0.0, self.deadline - time.monotonic())
        try:
            record = self._child.channel.receive(left)
        except TooLate:
            raise OutOfTime(f"{self.doing}: timed out after {self.seconds:.3g} s", self._line_at_work()) from None
        except Stopped as stopped:
            where = self._line_at_work()
            if where is None:
                raise
            shown = f"\n    {where.text}" if where.text else ""
            raise Stopped(f"{stopped.word} while {self.doing}, at {where}{shown}", stopped.status) from None
        except Ended:
            raise SpecError(
                f"{self.doing}: the process ended before it was done (the spec may have ended it)"
            ) from None
        except Forged:
            raise self._forgery() from None
        finally:
            for row in self._child.channel.logged:
                hand_out(row)
            self._child.channel.logged.clear()
        match record:
            case {"error": str(text), "brief": str(brief), "at": [] | [str(), int()] as at}:
                raise WordedError(text, brief, Location(*at) if at else None)
            case {"error": str(message)}:
                raise SpecError(message)
            case {"value": value}:
                return value
        raise self._forgery()

    def _forgery(self) -> SpecError:
        return SpecError(f"{self.doing}: the spec wrote to a channel that is not its own")

    def _line_at_work(self) -> Location | None:
        """The user's line that the child is at. None if it is at none, or inside a call that takes long."""
        channel, until = self._child.channel, time.monotonic() + PATIENCE
        self._child.ask()
        try:
            while True:
                match channel.receive(max(0.0, until - time.monotonic())):
                    case {"at": [str(file), int(line)]}:
                        return Location(file, line)
        except (TooLate, Ended, Forged):
            return None


def _answer(
    work: Callable[[Send], None], channel: Channel, memory: int | None, doing: str, confined_to: str | None
) -> None:
    def tell_line(_signal: int, frame: FrameType | None) -> None:
        found: FrameType | None = None
        while frame is not None and frame.f_code not in (Channel.send.__code__, _answer.__code__):
            found = found or (None if is_ours(frame) else frame)
            frame = frame.f_back
        if frame is None or frame.f_code is _answer.__code__:  # else a record inside another would be none
            channel.send({"at": [found.f_code.co_filename, found.f_lineno] if found else []})

    signal.signal(ASKED, tell_line)
    try:
        if confined_to is not None:
            confine(confined_to, memory or MEMORY)
        with memory_limit(memory, doing):
            work(lambda value: channel.send({"value": value}))
    except SpecError as error:
        place = place_of(error)
        at = [] if place is None else [place.file, place.line]
        channel.send({"error": str(error), "brief": brief(error), "at": at})
    except BaseException as error:
        why = f"{doing}: out of memory" if tells_no_room(error) else INTERNAL + traceback.format_exc()
        channel.send({"error": why})
