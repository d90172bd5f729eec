"""The place where engines work: processes of this machine, or a crew on other machines.

The director sees both as processes with a channel. Those of this machine are `run.child.Child`; a `Crew` hires others,
which answer in the same records. What they find is judged like everything else: a proof goes to the checker, a
violation is replayed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streamcheck.engines.options import Options
    from streamcheck.engines.protocol import Fact, Task
    from streamcheck.run.logs import LogRow
    from streamcheck.run.strategy import Lane


class RecordLine(Protocol):
    """Records to and from a process at work."""

    logged: list[LogRow]

    @property
    def read(self) -> int:
        """The descriptor that can be read if there are records."""

    @property
    def write(self) -> int: ...

    @property
    def unsent(self) -> bool: ...

    def available(self) -> list[Any]: ...

    def post_encoded(self, data: bytes) -> None: ...

    def flush(self) -> None: ...


class AtWork(Protocol):
    """A process, or what stands for one, that runs the engines of a lane."""

    @property
    def channel(self) -> RecordLine: ...

    @property
    def pid(self) -> int: ...

    @property
    def alive(self) -> bool: ...

    def processor_time(self) -> float: ...

    def pause(self) -> bool: ...

    def resume(self) -> None: ...

    def kill(self) -> None: ...

    def end(self, *, silent: bool = False) -> str: ...


class Crew(Protocol):
    """Workers elsewhere."""

    @property
    def read(self) -> int:
        """The descriptor that can be read when an answer has come."""

    @property
    def grace(self) -> float:
        """Seconds that vacuity tests have once every property is decided: they may wait for a place."""

    def hire(self, lane: Lane, task: Task, options: Mapping[str, Options], known: Sequence[Fact]) -> AtWork: ...

    def pump(self) -> None:
        """Hand the answers that have come to those who wait for them."""
