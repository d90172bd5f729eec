"""A worker as the supervisor sees it. `run.workers` is what its process does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamcheck.run.crew import AtWork
    from streamcheck.run.strategy import Lane
    from streamcheck.transform.views import View


@dataclass(slots=True, eq=False, repr=False)
class Worker:
    number: int
    lane: Lane
    model: View
    child: AtWork
    began: float
    used_before: float  # processor time of its process when it began: it may have waited with its solvers loaded
    unsettled: set[str]  # the properties that it works on
    last_record: float = 0.0  # its processor time when it last sent anything
    depths: dict[str, int] = field(default_factory=dict)
    posted: int = 0  # facts
    idle: bool = False  # every engine waits for facts
    paused: bool = False
    price: int = field(init=False)  # of its lane

    def __post_init__(self) -> None:
        self.price = self.lane.price

    def take_over(self, lane: Lane) -> None:
        self.lane, self.price = lane, lane.price

    @property
    def work(self) -> float:
        """The processor time that it has used since it began."""
        return self.child.processor_time() - self.used_before

    @property
    def due(self) -> float:
        """Its turn: the processor time of its lane and its own. The least comes first."""
        return self.lane.after + self.price * self.child.processor_time()
