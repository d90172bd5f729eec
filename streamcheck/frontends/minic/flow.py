"""The automaton under construction: the current place, pending obligations and choices, and the edges so far.

An expression that only reads makes no edge. It gives a term, obligations (side conditions without which the operation
is undefined) and choices (unknown values). The next edges from the place use them all at once: one edge to an error for
each obligation that may fail first, and the edges that go on, with all obligations in their guards. A side effect
inside an expression makes edges of its own; `hold` saves earlier values that it would change in variables.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from streamcheck.c.arithmetic import SideCondition
from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location
from streamcheck.core.names import FreshNames
from streamcheck.core.simplify import conjunction, implication, instantiate, negation
from streamcheck.core.term import FALSE, TRUE, Term, substitute, variable, variables
from streamcheck.core.types import BOOL, Type
from streamcheck.frontends.minic.endings import Endings
from streamcheck.problem.automaton import Automaton, Edge, Error, Limit
from streamcheck.problem.skips import collapse_skips, reachable

LARGEST = 200_000  # edges; inlining may double them with every call
FARTHEST = 200  # statements back in which constants are sought (heuristic)


class AutomatonTooLarge(SpecError):
    """The automaton has too many edges."""


@dataclass(frozen=True, slots=True)
class Check:
    """An obligation: under the premise, `holds`. If not, the run goes to `error`. `seen`: how many of the choices were
    made before it."""

    failure: str
    error: str
    premise: Term
    holds: Term
    where: Location
    seen: int


@dataclass(frozen=True, slots=True)
class UnknownValue:
    name: str  # without the suffix that makes it unique
    term: Term
    limits: Term  # a condition that it satisfies


@dataclass(slots=True)
class Branch:
    """One way on from a place."""

    target: str
    guard: Term = TRUE
    updates: tuple[tuple[Term, Term], ...] = ()
    text: str = "skip"


class Flow:
    def __init__(self, name: str, file: str) -> None:
        self.name = name
        self.file = file
        self.names = FreshNames()  # of variables and choices
        self.variables: list[Term] = []
        self.source_names: dict[str, Location | None] = {}  # C names of variables, and where they were declared
        self.places: list[str] = []
        self.function = ""  # the one being inlined
        self.largest = LARGEST
        self.owner: dict[Location, str] = {}
        self.edges: list[Edge] = []
        self.errors: dict[str, Error] = {}
        self.ends: dict[str, tuple[str, set[str]]] = {}  # limits of the model: why, and what follows
        self.unread: dict[str, set[str]] = {}  # by the end at a call that is not read, the functions it may get to
        self.loops: set[str] = set()
        self.endings = Endings(self)
        self.checks: list[Check] = []
        self.choices: list[UnknownValue] = []
        self.warnings: dict[str, None] = {}
        self.entry = self.place()
        self.at = self.entry
        self.before: dict[str, int] = {}  # by place that only one edge leads to, that edge
        self.moving: set[Term] = set()  # offsets of pointers: entries of blocks may still change them
        self.start: list[tuple[Term, Term]] = []  # the updates that the first edge will get
        self.live = {self.entry}  # places that a run may be at, as far as the edges so far show

    def warn(self, message: str, where: Location) -> None:
        self.warnings[f"{where.short}: {message}"] = None

    # Places and variables

    def place(self) -> str:
        name = str(len(self.places))
        self.places.append(name)
        return name

    def variable(self, wanted: str, type: Type) -> Term:
        made = variable(self.names.fresh(wanted), type)
        self.variables.append(made)
        return made

    def declare(self, name: str, parts: Sequence[Term], where: Location, *, inner: bool) -> None:
        """Records the name of a variable of the program or of the function that is read. The name is kept if no other
        variable has it and it is visible outside of inner blocks."""
        alone = not inner and name not in self.source_names and all(v.payload.split(".")[0] == name for v in parts)
        self.source_names[name] = where if alone else None

    def line(self, where: Location) -> str:
        return f"line {where.line}" + ("" if where.file == self.file else f" of {where.file.rsplit('/', 1)[-1]}")

    def error(self, kind: str, where: Location, *, implied: bool) -> str:
        """The error location of a claim, one for each line."""
        name = f"{kind}, {self.line(where)}"
        if name not in self.errors:
            self.places.append(name)
            self.errors[name] = Error(name, name, where, implied)
        return name

    # Obligations and choices of an expression

    def oblige(self, condition: SideCondition, premise: Term, holds: Term, where: Location) -> None:
        error = self.error(condition.claim, where, implied=True)
        self.checks.append(Check(condition.failure, error, premise, holds, where, len(self.choices)))

    def limit(self, what: str, reason: str, premise: Term, holds: Term, where: Location) -> None:
        """The end of what is modelled, for runs in which a condition does not hold."""
        error = self.error(f"no {what}", where, implied=True)
        self.ends.setdefault(error, (reason, set()))
        self.checks.append(Check(what, error, premise, holds, where, len(self.choices)))

    def is_current(self, value: Term, edges: int) -> bool:
        """A term from the time when there were so many edges has the same value now."""
        used = set(variables([value]))
        if any(v in used for e in self.edges[edges:] for v, _ in e.updates):
            return False
        return used <= {*self.variables, *(c.term for c in self.choices)}

    def choose(self, wanted: str, type: Type, where: Location, limits: Term | None = None) -> Term:
        """Any value of the type within the limits, which are a condition on the variable `?` of that type."""
        name = f"{wanted} {self.line(where)}"
        made = variable(self.names.fresh(name, "{} ({})"), type)
        known = TRUE if limits is None else substitute([limits], {variable("?", type): made})[limits]
        self.choices.append(UnknownValue(name, made, known))
        return made

    # Edges

    def leads_here(self, place: str, since: int) -> bool:
        """Edges since the one with this number lead from the place to the present one."""
        following: dict[str, list[str]] = {}
        for edge in self.edges[since:]:
            following.setdefault(edge.source, []).append(edge.target)
        waiting, seen = [place], {place}
        while waiting and self.at not in seen:
            new = set(following.get(waiting.pop(), ())) - seen
            seen |= new
            waiting += new
        return self.at in seen

    def edge(self, source: str, option: Branch, where: Location | None, choices: tuple[Term, ...] = ()) -> None:
        if len(self.edges) >= self.largest:
            raise AutomatonTooLarge(f"inlining makes more than {self.largest} statements", where)
        if where is not None:
            self.owner.setdefault(where, self.function)
        if source in self.live:
            self.live.add(option.target)
        if option.target in self.endings.places:
            self.endings.edges.append(len(self.edges))
        self.edges.append(Edge(source, option.target, option.guard, option.updates, choices, option.text, where))

    def branch(self, options: Sequence[Branch], where: Location | None) -> None:
        """Edges from here. They use up the pending obligations and choices."""
        checks, choices = self.checks, self.choices
        self.checks, self.choices = [], []
        met: Term = TRUE
        for i, check in enumerate(checks):
            if check.error in self.ends:  # what comes later is not known
                self.ends[check.error][1].update(c.error for c in checks[i + 1 :])
                self.ends[check.error][1].update(option.target for option in options)
            fails = conjunction(met, check.premise, negation(check.holds))
            if fails is not FALSE:
                option = Branch(check.error, fails, text=check.failure)
                self._edge(option, check.where, choices[: check.seen])
            met = conjunction(met, implication(check.premise, check.holds))
        for option in options:
            guard = conjunction(met, option.guard)
            if guard is not FALSE:
                self._edge(replace(option, guard=guard), where, choices)

    def _edge(self, option: Branch, where: Location | None, choices: Sequence[UnknownValue]) -> None:
        """An edge with these choices, which all edges that leave this place share."""
        guard = conjunction(*(c.limits for c in choices), option.guard)
        self.edge(self.at, replace(option, guard=guard), where, tuple(c.term for c in choices))

    def step(
        self,
        where: Location | None,
        text: str,
        *updates: tuple[Term, Term],
        guard: Term = TRUE,
        to: str | None = None,
    ) -> None:
        """One statement. The program is then at a new place, or at `to`."""
        target = self.place() if to is None else to
        self.branch([Branch(target, guard, updates, text)], where)
        if to is None and self.edges and self.edges[-1].target == target:
            self.before[target] = len(self.edges) - 1
        self.at = target

    def constant_of(self, value: Term) -> Term:
        """The constant that the value is in every run that gets here, if the last statements show that. Else the
        value."""
        new, place, passed = value, self.at, 0
        while not new.is_const and place in self.before and passed < FARTHEST:
            edge, passed = self.edges[self.before[place]], passed + 1
            wanted = set(variables([new]))
            if not wanted.isdisjoint(self.moving):
                break
            changes = edge.update if edge.source != self.entry else dict(self.start)
            if not wanted.isdisjoint(changes):
                new = instantiate([new], changes)[new]
            place = edge.source
        return new if new.is_const else value

    def jump(self, target: str, where: Location | None = None, text: str = "skip") -> None:
        """A jump. The code after it is reached only through a label."""
        self.branch([Branch(target, text=text)], where)
        self.at = self.place()

    def gate(self) -> int:
        """An edge that `close` may still turn to the end of what is modelled."""
        self.step(None, "skip")
        return len(self.edges) - 1

    def close(self, gate: int, what: str, reason: str, where: Location) -> None:
        """Makes the edge the end of what is modelled: what comes after it is not known."""
        error, edge = self.error(f"no {what}", where, implied=True), self.edges[gate]
        if edge.target != error:
            self.ends.setdefault(error, (reason, set()))[1].add(edge.target)
            self.edges[gate] = replace(edge, target=error, text=what, where=where)

    def leave_model(self, what: str, reason: str, where: Location, text: str, *, acts: bool) -> str:
        """The end of what is modelled, by its name. The code after it is read, but no run gets there. `acts`: what
        comes instead may do more than give a value."""
        error = self.error(f"no {what}", where, implied=True)
        self.jump(error, where, text)
        self.ends.setdefault(error, (reason, set()))[1].add(self.at)
        if acts:
            self.endings.outside.add(error)
        return error

    def doubt(self, what: str, reason: str, where: Location, claims: Collection[str], *, aside: bool) -> None:
        """Leaves claims open, by their names, if a run gets here. From the entry on, these are all. `aside`: by an edge
        of its own, else the model ends here."""
        error = self.error(f"no {what}", where, implied=True)
        self.ends.setdefault(error, (reason, set()))[1].update(claims)
        if aside:
            back, on = self.choose(what, BOOL, where), self.place()
            self.branch([Branch(error, back, text=what), Branch(on, negation(back))], where)
            self.at = on

    def settle(self, where: Location, text: str) -> None:
        """An edge for pending obligations and choices, if there are any."""
        if self.checks or self.choices:
            self.step(where, text)

    def hold(self, terms: Sequence[Term], numbers: Sequence[bool], where: Location, text: str) -> Held:
        """Keeps the values of terms over later effects, until `Held.release`. `numbers`: which are pointers."""
        saved: dict[Term, Term] = {}
        if self.choices:
            chosen = {c.term for c in self.choices}
            saved = {t: self.temporary(t.type, where) for t in terms if not chosen.isdisjoint(variables([t]))}
            self.step(where, text, *((v, t) for t, v in saved.items()))
        else:
            self.settle(where, text)
        held = Held(self, [saved.get(t, t) for t in terms], numbers, len(self.edges), where, text)
        self.step(where, "skip")
        return held

    def temporary(self, type: Type, where: Location) -> Term:
        return self.variable(f"value, {self.line(where)}", type)

    # The finished automaton

    def automaton(self) -> Automaton:
        automaton = Automaton(
            self.name,
            tuple(self.variables),
            tuple(self.places),
            self.entry,
            tuple(self.errors.values()),
            tuple(self.edges),
            loops=frozenset(self.loops),
            source_names={name: where for name, where in self.source_names.items() if where is not None},
        )
        automaton = replace(automaton, errors=tuple(map(self._with_limit(automaton), automaton.errors)))
        automaton = collapse_skips(reachable(automaton))
        aimed = {automaton.entry, *(e.target for e in automaton.edges)}
        errors = tuple(e for e in automaton.errors if not e.implied or e.location in aimed)
        dropped = automaton.bad - {e.location for e in errors}
        places = tuple(name for name in automaton.locations if name not in dropped)
        return self._with_names(replace(automaton, errors=errors, locations=places))

    def _with_limit(self, automaton: Automaton) -> Callable[[Error], Error]:
        def with_limit(error: Error) -> Error:
            if error.location not in self.ends:
                return error
            reason, _ = self.ends[error.location]
            reached, waiting = set[str](), {error.location}
            while waiting:  # an end that comes after this one hides what comes after it, too
                following = set[str]().union(*(self.ends[place][1] for place in waiting))
                new = automaton.reached_from(following & set(automaton.locations)) - reached
                reached |= new
                waiting = new & self.ends.keys()
            hidden = tuple(e.name for e in automaton.errors if e.location in reached)
            return replace(error, limit=Limit(reason, hidden))

        return with_limit

    def _with_names(self, automaton: Automaton) -> Automaton:
        """The automaton with locations named for the line whose code begins there."""
        wanted: dict[str, str] = {}
        lines: dict[str, Location] = {}
        for name in automaton.locations:
            first = next((e.where for e in automaton.edges_from[name] if e.where is not None), None)
            if name in automaton.bad:
                error = next(e for e in automaton.errors if e.location == name)
                wanted[name], first = name, error.where
            elif name == automaton.entry:
                wanted[name] = "start"
            else:
                wanted[name] = self._name_at(first)
            if first is not None:
                lines[name] = first
        names = _distinct_names(wanted)
        return replace(
            automaton,
            locations=tuple(names[name] for name in automaton.locations),
            entry=names[automaton.entry],
            edges=tuple(replace(e, source=names[e.source], target=names[e.target]) for e in automaton.edges),
            lines={names[name]: where for name, where in lines.items()},
            loops=frozenset(names[name] for name in automaton.loops),
        )

    def _name_at(self, where: Location | None) -> str:
        if where is None:
            return "end"
        file = "" if where.file == self.file else f"{where.file.rsplit('/', 1)[-1]}:"
        function = self.owner[where]
        return f"{file}{function + ':' if function else ''}{where.line}"


@dataclass(slots=True)
class Held:
    """Values kept over later edges. A value is saved in a variable only if those edges change it, or may still do so
    when all has been read. (A pointer is to change with its target.)"""

    flow: Flow
    terms: list[Term]
    numbers: Sequence[bool]
    since: int
    where: Location
    text: str

    def release(self) -> list[Term]:
        flow = self.flow
        changed = {v for e in flow.edges[self.since :] for v, _ in e.updates}
        saved: dict[Term, Term] = {}
        for t, is_number in zip(self.terms, self.numbers, strict=True):
            used = variables([t])
            if t not in saved and not (changed if is_number else changed | flow.moving).isdisjoint(used):
                saved[t] = flow.temporary(t.type, self.where)
        if saved:
            updates = tuple((v, t) for t, v in saved.items())
            flow.edges[self.since] = replace(flow.edges[self.since], updates=updates, text=self.text)
        return [saved.get(t, t) for t in self.terms]


def _distinct_names(wanted: dict[str, str]) -> dict[str, str]:
    """12, or 12a, 12b … if several have the same."""
    groups: dict[str, list[str]] = {}
    for name, base in wanted.items():
        groups.setdefault(base, []).append(name)
    return {
        name: base if len(names) == 1 else f"{base}{_letters(i)}"
        for base, names in groups.items()
        for i, name in enumerate(names)
    }


def _letters(number: int) -> str:
    text = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, 26)
        text = chr(ord("a") + digit) + text
    return text
