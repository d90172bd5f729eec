"""The lifetimes of local variables (6.2.4), and the pointers that outlive them.

A block's variables are new objects whenever the block is entered. A pointer to one of them is used too late

    after the block, as the program is read      the variable is dead: a claim that fails wherever a run gets there
    in the block, when it is entered once more   at each entry the pointer gets any value, as one that points nowhere

Entries are edges that `finish` completes: a block may be entered before the text makes a pointer to its variables.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from streamcheck.c.declarations import PointerVariable
from streamcheck.c.lvalues import Object
from streamcheck.core.term import Term, variable
from streamcheck.frontends.minic.flow import Flow
from streamcheck.frontends.minic.storage import Storage


@dataclass(slots=True, eq=False)
class Lifetime:
    """`own`: its variables. `inner`: its variables and pointers, and those of the blocks and calls within it."""

    own: list[Object] = field(default_factory=list)
    inner: set[Object] = field(default_factory=set)


class Lifetimes:
    def __init__(self, flow: Flow, storage: Storage) -> None:
        self.flow = flow
        self.storage = storage
        self.blocks: list[Lifetime] = []
        self.entries: list[tuple[int, Lifetime]] = []  # edges, and the block that each enters
        self.straight: set[int] = set()  # those of them that no run takes twice
        self.automatic: set[Object] = set()  # all that have been declared
        self.dead: set[Object] = set()
        self.pointers: dict[Object, list[PointerVariable]] = {}  # to an object

    def open(self) -> Lifetime:
        """A new block. Entries to it follow."""
        self.blocks.append(Lifetime())
        return self.blocks[-1]

    def enter(self, *, once: bool = False) -> None:
        self.reenter(self.open(), once=once)

    def reenter(self, block: Lifetime, *, once: bool = False) -> None:
        """The present place enters the block, perhaps by a jump into it. `once`: no run does so twice."""
        self.entries.append((self.flow.gate(), block))
        if once:
            self.straight.add(self.entries[-1][0])

    def leave(self) -> None:
        block = self.blocks.pop()
        self.dead.update(block.own)
        if self.blocks:
            self.blocks[-1].inner |= block.inner

    def open_objects(self) -> set[Object]:
        """The variables of the blocks around this place."""
        return {made for block in self.blocks for made in block.own}

    def expect(self, made: Object) -> None:
        """A variable of the present block that is declared further on."""
        self.blocks[-1].own.append(made)
        self.blocks[-1].inner.add(made)

    def declare(self, made: Object) -> None:
        """A variable of the present block."""
        self.automatic.add(made)
        self.dead.discard(made)
        self.blocks[-1].own.append(made)
        self.blocks[-1].inner.add(made)

    def bind(self, pointer: PointerVariable, target: Object) -> None:
        known = self.pointers.setdefault(target, [])
        if pointer not in known:
            known.append(pointer)

    def finish(self) -> None:
        """Gives the entries of blocks their updates."""
        for number, block in self.entries:
            edge = self.flow.edges[number]
            updates: dict[Term, Term] = {}
            for target in dict.fromkeys(block.own):
                for pointer in self.pointers.get(target, ()):
                    if pointer.offset is not None and pointer.offset.object not in block.inner:
                        root = self.storage.read(pointer.offset)
                        updates[root] = variable(self.flow.names.fresh(pointer.name, "{} ({})"), root.type)
            if updates:
                made = replace(
                    edge,
                    updates=(*edge.updates, *updates.items()),
                    choices=(*edge.choices, *updates.values()),
                    text=", ".join(f"{root.payload} = any value" for root in updates),
                )
                self.flow.edges[number] = made
