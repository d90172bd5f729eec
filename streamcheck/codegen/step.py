"""The body of the step function.

In this order: inputs are sampled; all values that more than one trigger's call needs are computed; the next values are
committed; each trigger's guard is tested and its handler called. So a step often ends with a call, and keeps little
across one. State that a call still reads, and that has no place in a local variable, is committed after the calls:
handlers see the step that its inputs and the state before it determine.

A node with several uses is a local variable, and so is a node that the user named; others are written in place. A
value that only one handler's call needs is computed beside that call. A piece of state is overwritten after its last
read; a cycle (a takes b's value, b takes a's) is cut by a local variable.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from streamcheck.codegen import text
from streamcheck.codegen.block import Block, Commit, words_in
from streamcheck.codegen.call_writer import CallWriter, CFunction
from streamcheck.codegen.chains import ChainWriter, chains_of, small_shared_nodes
from streamcheck.codegen.expression import (
    PRIMARY,
    UNARY,
    CExpression,
    cast,
    element,
    fill_form,
    parse_form,
)
from streamcheck.codegen.inputs import InputSampler
from streamcheck.codegen.loop_writer import LoopWriter, arrays_to_gather
from streamcheck.codegen.lower import Lowered, Ring, reader_names, state_names
from streamcheck.codegen.names import LocalNames
from streamcheck.codegen.toggle_writer import by_cases, if_toggled
from streamcheck.codegen.usage import (
    constant_index,
    is_all_constant,
    is_suspect,
    plain_shift,
    repeats_operand,
    usage,
)
from streamcheck.core.c_names import member_name
from streamcheck.core.operators import OPERATORS, c_type, needed_functions
from streamcheck.core.operators.c_helpers import called_functions
from streamcheck.core.term import TRUE, Term, walk
from streamcheck.core.types import ArrayType, StructType, Type
from streamcheck.problem.places import Window
from streamcheck.problem.specification import Cell, Named, Trigger

WORD = re.compile(r"\w+")
LONGEST = 18  # words of an expression; a longer one is split by a local variable


class LoopConflict(Exception):
    """A loop or a toggle that changes state would have to do so after the calls, or be cut in two."""


class StepWriter:
    """Writes the step function of a lowered spec. `components`: the functions that it calls. Afterwards: `body`,
    `tables`, `functions`, `locals`."""

    def __init__(self, lowered: Lowered, names: LocalNames, components: Mapping[str, CFunction]) -> None:
        self.lowered = lowered
        self.names = names
        self.functions: dict[str, None] = {}
        self.tables: list[str] = []  # constant arrays and structs, at file scope
        self._tables: dict[str, str] = {}
        self.checks: dict[tuple[str, str], str] = {}  # that members of the inputs follow each other without padding
        self.locals: list[Type] = []  # the types of all local variables
        self.texts: dict[Term, CExpression] = {}
        self.written: set[Term] = set()
        self.named_locals: dict[str, str] = {}  # the streams that they hold
        self.readers = reader_names(lowered)  # what a value without a name of the user's is called after
        self.body = Block()
        self.state_names: dict[str, str] = {}
        self.indices: dict[str, str] = {}
        self.elements: dict[Term, tuple[Ring, int]] = {}
        self.batch_places: dict[Term, tuple[str, int]] = {}
        self.windows: dict[str, Window] = {}  # by the name of the ring
        self._name_state()
        self.calls = CallWriter(self, components)
        self.members = self.inputs_in_order()
        arrays = arrays_to_gather(lowered.loops(), self.members)
        self.best_of = {extreme.result: name for name, extreme in lowered.extremes.items()}
        self.loops = LoopWriter(self, 2 * len(lowered.triggers) + 2, arrays)
        self.inputs = InputSampler(self)
        self.uses, self.sites = usage(lowered)
        chains = chains_of(lowered.all_roots(), self.uses, self._named_nodes())
        self.chains = ChainWriter(self, chains)
        self.stored = self._nodes_to_store() - small_shared_nodes(chains.values(), self.uses)
        self._write()

    def inputs_in_order(self) -> list[Term]:
        """The members of the struct of inputs."""
        return [] if self.names.copilot else [i.var for i in self.lowered.externs]

    # State

    def _name_state(self) -> None:
        wishes = state_names(self.lowered)
        for cell in self.lowered.cells:
            self._place(cell.var, self.names.fresh_state(wishes[cell.name]))
        for ring in self.lowered.rings:
            name = self.names.fresh_state(wishes[ring.name])
            self.state_names[ring.name] = name
            self.indices[ring.name] = self.names.fresh_state(f"{name}_at")
            self.elements.update({c.var: (ring, i) for i, c in enumerate(ring.cells)})
        for extreme in self.lowered.extremes.values():
            name = self.state_names[extreme.ring.name]
            best = "largest" if extreme.operator == "max" else "smallest"
            wishes_of = (f"{name}_{best}", f"{name}_push", f"{name}_recent")
            chosen = [self.names.fresh_at_file(wish) for wish in wishes_of]
            index = self.indices[extreme.ring.name]
            self.windows[extreme.ring.name] = Window(index, chosen[2], extreme.operator, chosen[0], chosen[1])
        for batch in self.lowered.batches:
            name = self.names.fresh_state(wishes[batch.name])
            place = CExpression(self.state(name), PRIMARY, "", reads=frozenset([name]))
            for i, cell in enumerate(batch.cells):
                self.state_names[cell.name] = name
                self.batch_places[cell.var] = (name, i)
                at = CExpression(str(i), PRIMARY, "int32_t")
                self.texts[cell.var] = element(place, at, c_type(cell.var.type))

    def pieces(self) -> dict[str, str]:
        """Every piece of state, with the one that it is committed together with."""
        pieces = {name: name for name in self.state_names.values()}
        pieces |= {self.indices[r.name]: self.state_names[r.name] for r in self.lowered.rings}
        pieces |= {w.recent: self.state_names[name] for name, w in self.windows.items()}
        for loop in self.lowered.loops():
            together = [self.state_names[change.cells[0].name] for change in loop.changes]
            pieces |= dict.fromkeys(together, *together[:1])
        return pieces

    def _place(self, var: Term, name: str) -> None:
        self.state_names[var.payload] = name
        self.texts[var] = CExpression(self.state(name), PRIMARY, c_type(var.type), reads=frozenset([name]))

    def state(self, name: str) -> str:
        return name if self.names.copilot else f"{self.names.state}->{name}"

    def _ring_element(self, var: Term, block: Block) -> CExpression:
        ring, position = self.elements[var]
        name = self.state_names[ring.name]
        index = c_type(ring.index)
        array = CExpression(self.state(name), PRIMARY, "", reads=frozenset([name]))
        if position == 0:
            return element(array, self.ring_index(ring, 0), c_type(var.type))
        local = self.names.fresh(f"{name}_{position}_at")
        block.lines.append(f"const {index} {local} = {self.ring_index(ring, position).text};")
        self.locals.append(ring.index)
        return element(array, CExpression(local, PRIMARY, index), c_type(var.type))

    def ring_index(self, ring: Ring, position: int) -> CExpression:
        """The index of the element at a position."""
        at, count = self.indices[ring.name], len(ring.cells)
        now, index, back = self.state(at), c_type(ring.index), count - position
        if position == 0:
            return CExpression(now, PRIMARY, index, reads=frozenset([at]))
        if position == count - 1:
            chosen = f"({now} == 0u) ? {count - 1}u : ({now} - 1u)"
        else:
            chosen = f"({now} < {back}u) ? ({now} + {position}u) : ({now} - {back}u)"
        return CExpression(f"({index})({chosen})", UNARY, index, reads=frozenset([at]))

    # Locals

    def declare(self, type: Type, name: str, value: CExpression, block: Block) -> None:
        """A local variable that holds a value."""
        self.locals.append(type)
        if isinstance(type, ArrayType):
            block.lines.append(f"{text.declaration(type, name)};")
            block.lines.append(self.copy_statement(type, name, value.text))
        else:
            block.lines.append(f"const {text.declaration(type, name)} = {self.convert(value, type).text};")

    def declare_variable(self, type: Type, name: str, value: CExpression) -> None:
        """A local variable of the body that loops change."""
        self.locals.append(type)
        self.body.lines.append(f"{text.declaration(type, name)} = {self.convert(value, type).text};")

    def copy_statement(self, type: Type, to: str, source: str) -> str:
        if isinstance(type, ArrayType):
            return f"(void)memcpy({to}, {source}, sizeof({to}));"
        return f"{to} = {source};"

    def convert(self, value: CExpression, type: Type) -> CExpression:
        """The value as an initialiser, argument or right side of this type, with a cast if a compiler would warn of an
        implicit conversion."""
        wanted = c_type(type)
        if value.number is not None or value.type == wanted or text.is_composite(type):
            return value
        return cast(wanted, value)

    def _named_nodes(self) -> set[Term]:
        """The nodes that are local variables because the user named them."""
        return {node for node, wire in self.lowered.names.items() if wire.name not in self.state_names}

    def _nodes_to_store(self) -> set[Term]:
        stored, named = set(), self._named_nodes()
        for node in walk(self.lowered.all_roots()):
            if not node.args or (node.op == "not" and not node.args[0].args):
                continue
            if self.uses[node] > 1 or node in named:
                stored.add(node)
            for a, name in zip(node.args, "abc", strict=False):
                if a.args and not text.is_composite(a.type) and (repeats_operand(node, name) or is_suspect(node, a)):
                    stored.add(a)
        return stored

    # Expressions

    def expression(self, root: Term, block: Block, site: int) -> CExpression:
        """The text for a term. Its locals are declared in `block`, or in the body if other sites use them."""
        for node in self.chains.unwritten(root, self.written):
            if node not in self.texts:
                alone = self.sites.get(node) == 1 << site
                home = self.chains.home(node) or (block if alone else self.body)
                if node in self.chains.chains:
                    self.chains.write(node, home, block, site)
                else:
                    self._write_node(node, home)
        return self.texts[root]

    def _write_node(self, node: Term, block: Block) -> None:
        if node.is_const:
            self.texts[node] = text.literal(node.type, node.payload)
        elif node in self.best_of:
            self._store_best(node)
        elif node in self.calls.caller:
            self.calls.write(self.calls.caller[node])
        elif node in self.lowered.folds:
            self.loops.write_fold(self.lowered.folds[node])
        elif node in self.elements:
            self.texts[node] = self._ring_element(node, block)
        elif text.is_composite(node.type) and is_all_constant(node):
            self.texts[node] = self._table(node)
        elif node.op in ("array", "struct", "update", "with_field") or (
            node.op == "mux" and text.is_composite(node.type)
        ):
            self._build(node, block)
        else:
            self._operation(node, block)

    def _store_best(self, node: Term) -> None:
        window = self.windows[self.best_of[node]]
        given = "" if self.names.copilot else self.names.state
        value = CExpression(f"{window.best}({given})", PRIMARY, c_type(node.type))
        self.store(node, value, self.body)

    def _operation(self, node: Term, block: Block) -> None:
        value = self.application(node)
        if node in self.stored or len(WORD.findall(value.text)) > LONGEST:
            self.store(node, value, block)
        else:
            self.texts[node] = value

    def application(self, node: Term) -> CExpression:
        if node.op == "field" or (node.op == "index" and constant_index(node) is not None):
            return self.inputs.part(node)
        form = plain_shift(node) or OPERATORS[node.op].c_form(node.signature)
        for helper in called_functions(form):
            self._add_function(helper)
        operands = dict(zip("abc", (self.texts[a] for a in node.args), strict=False))
        return fill_form(parse_form(form), operands, c_type(node.type))

    def _add_function(self, helper: str) -> None:
        for other in needed_functions(helper):
            self._add_function(other)
        self.functions[helper] = None

    def store(self, node: Term, value: CExpression, block: Block) -> CExpression:
        """Keep the value of a node in a local variable."""
        name = self._begin_local(node, block)
        self.declare(node.type, name, value, block)
        self.texts[node] = CExpression(name, PRIMARY, c_type(node.type))
        return self.texts[node]

    def declare_local(self, node: Term, block: Block) -> str:
        """The name of a new local variable for a node, which statements of the block will set."""
        name = self._begin_local(node, block)
        self.locals.append(node.type)
        block.lines.append(f"{text.declaration(node.type, name)};")
        return name

    def _begin_local(self, node: Term, block: Block) -> str:
        named = self.lowered.names.get(node)
        name = self._name_local(node, named)
        self.note(named, block)
        return name

    def _name_local(self, node: Term, named: Named | None) -> str:
        if named is None:
            return self.names.fresh(f"{self.readers.get(node, 'value')}_part")
        name = self.names.fresh(named.name)
        self.named_locals[name] = named.name
        return name

    def note(self, named: Named | None, block: Block) -> None:
        """The spec's line, once for what it defines together."""
        if named is not None and named.where != block.noted:
            block.noted = named.where
            block.lines.append(text.comment(text.source(named.where)))

    # Arrays and structs

    def _table(self, node: Term) -> CExpression:
        parts = [_braces(a) for a in node.args]
        name = self.add_table(node.type, parts, f"{self.readers.get(node, 'value')}_table")
        return CExpression(name, PRIMARY, c_type(node.type))

    def add_table(self, type: Type, parts: list[str], wish: str = "table") -> str:
        """The name of a constant array or struct at file scope."""
        name = self.names.fresh_at_file(wish)
        lines = "\n".join(text.braced_lines(parts))
        self._tables[name] = f"static const {text.declaration(type, name)} SC_TABLE = {{\n{lines}\n}};"
        return name

    def _build(self, node: Term, block: Block) -> None:
        """Build an array or struct in a local variable."""
        name = self._begin_local(node, block)
        self.locals.append(node.type)
        if node.op in ("array", "struct") and not any(text.is_composite(a.type) for a in node.args):
            types = _part_types(node.type)
            parts = (self.convert(self.texts[a], t).text for a, t in zip(node.args, types, strict=True))
            block.lines.append(f"const {text.declaration(node.type, name)} = {{{', '.join(parts)}}};")
        else:
            block.lines.append(f"{text.declaration(node.type, name)};")
            block.lines.extend(self._assignments(name, node))
        self.texts[node] = CExpression(name, PRIMARY, c_type(node.type))

    def _assignments(self, place: str, node: Term) -> list[str]:
        """Statements that build the node's value in a place, part by part."""
        match node.op:
            case "update":
                index = self._clamped_index(node)
                return [*self._whole(place, node.args[0]), *self._whole(f"{place}[{index}]", node.args[2])]
            case "with_field":
                assert isinstance(node.type, StructType)
                part = f"{place}.{member_name(node.type.fields[node.payload][0])}"
                return [*self._whole(place, node.args[0]), *self._whole(part, node.args[1])]
            case "mux":
                condition, a, b = node.args
                yes, no = self._whole(place, a), self._whole(place, b)
                test = self.texts[condition].text
                return [f"if ({test}) {{", *text.indent(yes), "} else {", *text.indent(no), "}"]
            case "array":
                return [line for i, a in enumerate(node.args) for line in self._whole(f"{place}[{i}]", a)]
        assert isinstance(node.type, StructType)
        fields = zip(node.type.fields, node.args, strict=True)
        return [line for (name, _), a in fields for line in self._whole(f"{place}.{member_name(name)}", a)]

    def _whole(self, place: str, node: Term) -> list[str]:
        value = self.convert(self.texts[node], node.type)
        return [self.copy_statement(node.type, place, value.text)]

    def _clamped_index(self, node: Term) -> str:
        """The index that an update writes to: out of range, the nearest valid one, as when reading."""
        constant = constant_index(node)
        if constant is not None:
            return str(constant)
        form = OPERATORS["index"].c_form(replace(node.signature, args=node.signature.args[:2]))
        inner = parse_form(form)
        assert hasattr(inner, "index")
        return fill_form(inner.index, {"b": self.texts[node.args[1]]}, "").text

    # The step

    def _write(self) -> None:
        self.sample()
        self.calls.write_all()
        self.observe()
        last = 2 * len(self.lowered.triggers) + 1
        commits = self._commits(last)
        self._keep_what_calls_read(last)
        calls = [line for i, trigger in enumerate(self.lowered.triggers) for line in self.call(trigger, 2 * i)]
        toggle = self.lowered.toggle
        if toggle is not None:
            cell = next(c for c in self.lowered.cells if c.name == toggle.name)
            commits = [c for c in commits if c.state != self.state_names[toggle.name]]
            changed = self._cell_commit(cell, last)
            changed_lines = changed.lines if changed else ()
            calls = by_cases(self, toggle, cell, last) or if_toggled(self, toggle, [*changed_lines, *calls], last)
        late = self._read_after(commits, calls)
        if toggle is not None and late - {self.state_names[toggle.name]}:
            raise LoopConflict
        for commit in self._in_order([c for c in commits if c.state not in late]):
            self.body.lines.extend(commit)
        self.body.lines += calls
        for trigger in self.lowered.silent:
            self.body.lines.append(
                text.comment(f"{self.names.trigger(trigger.name)} is never called: its guard is always false")
            )
        if any(self.state_names[loop.changes[0].cells[0].name] in late for loop in self.lowered.changing):
            raise LoopConflict
        for commit in self._in_order([c for c in commits if c.state in late]):
            self.body.lines.extend(commit)
        self.body.lines = self.inputs.read_late(self.body.lines)
        written = "\n".join(self.body.lines)
        self.tables = [line for name, line in self._tables.items() if re.search(rf"\b{name}\b", written)]

    def sample(self) -> None:
        """Gives the inputs that are read their texts."""
        self.inputs.sample()

    def observe(self) -> None:
        """Shows the observers."""
        site = 2 * len(self.lowered.triggers)
        shown = f"{self.names.spec}_observed." if self.names.copilot else f"{self.names.state}->observed."
        self.show(shown, site)

    def show(self, shown: str, site: int) -> None:
        for observer in self.lowered.observers:
            value = self.expression(observer.term, self.body, site)
            place = f"{shown}{self.names.observer(observer.name)}"
            self.body.lines.append(
                self.copy_statement(observer.term.type, place, self.convert(value, observer.term.type).text)
            )

    def _keep_what_calls_read(self, site: int) -> None:
        """Local variables for the scalar state that guards and arguments read and that changes."""
        changing = {c.var: self.state_names[c.name] for c in self.lowered.cells if c.next is not c.var}
        changing |= {var: self.state_names[ring.name] for var, (ring, _) in self.elements.items()}
        changing |= {var: name for var, (name, _) in self.batch_places.items()}
        seen = {node for node in self.written if not self.texts[node].reads}
        kept: dict[Term, str] = {}
        toggled = [self.lowered.toggle.condition] if self.lowered.toggle else []
        for node in walk([*toggled, *(t for trigger in self.lowered.triggers for t in trigger.terms())], seen):
            if node in changing and not text.is_composite(node.type):
                kept[node] = self.names.fresh(f"{changing[node]}_now")
                self.declare(node.type, kept[node], self.expression(node, self.body, site), self.body)
        stale = {changing[node] for node in kept}
        for node in [n for n in self.written if self.texts[n].reads & stale]:
            del self.texts[node]  # it will be written again, with the local variable
            self.written.discard(node)
        for node, name in kept.items():
            self.texts[node] = CExpression(name, PRIMARY, c_type(node.type))

    def _read_after(self, commits: list[Commit], calls: list[str]) -> set[str]:
        """The state to commit after the calls, because they read it, or because such a commit does."""
        pieces = self.pieces()
        late: set[str] = set()
        waiting = {pieces[word] for word in words_in(calls) & set(pieces)}
        while waiting:
            late |= waiting
            read = {pieces[r] for c in commits if c.state in waiting for r in c.reads}
            waiting = read - late
        return late

    def call(self, trigger: Trigger, site: int) -> list[str]:
        note = text.comment(text.source(trigger.where))
        function, given = self.names.call(trigger.name)
        always = trigger.guard is TRUE
        guard = self.expression(trigger.guard, self.body, site).text
        block = Block()
        name = self.names.trigger(trigger.name)
        args = [self.argument(name, i, arg, block, site + 1) for i, (_, arg) in enumerate(trigger.args)]
        block.lines.append(f"{function}({', '.join([*given, *args])});")
        if always and len(block.lines) == 1:
            return [note, *block.lines]
        opening = "{" if always else f"if ({guard}) {{"
        return [note, opening, *text.indent(block.lines), "}"]

    def argument(self, function: str, i: int, arg: Term, block: Block, site: int) -> str:
        """The text of an argument: what is passed as a pointer has a place."""
        value = self.expression(arg, block, site)
        if not text.is_composite(arg.type):
            return self.convert(value, arg.type).text
        if text.may_be_written(arg.type, self.names.copilot):
            name = self.names.fresh(f"{function}_arg{i}")
            self.locals.append(arg.type)
            block.lines += [f"{text.declaration(arg.type, name)};", self.copy_statement(arg.type, name, value.text)]
            value = CExpression(name, PRIMARY, "")
        if isinstance(arg.type, ArrayType):
            return value.text
        return value.text[2:-1] if value.text.startswith("(*") else f"&{value.text}"

    # Next values

    def _commits(self, site: int) -> list[Commit]:
        commits = [self._cell_commit(cell, site) for cell in self.lowered.cells]
        commits += [self._ring_commit(ring, site) for ring in self.lowered.rings]
        commits += [self.loops.commit(loop) for loop in self.lowered.changing]
        return [c for c in commits if c is not None]

    def _cell_commit(self, cell: Cell, site: int) -> Commit | None:
        if cell.next is cell.var:
            return None
        name = self.state_names[cell.name]
        if cell.next.op == "update" and cell.next.args[0] is cell.var and cell.next not in self.stored:
            return self._element_commit(cell, site)
        value = self.expression(cell.next, self.body, site)
        return self.store_commit(self.state(name), name, cell.next, value)

    def _element_commit(self, cell: Cell, site: int) -> Commit:
        """The commit of an array of which one element changes: it is not copied."""
        _, index, element_after = cell.next.args
        name = self.state_names[cell.name]
        for part in (index, element_after):
            value = self.expression(part, self.body, site)
            if value.reads - {name}:
                self.store(part, value, self.body)
        at, value = self.texts[index], self.texts[element_after]
        place = f"{self.state(name)}[{self._clamped_index(cell.next)}]"
        pushed = self.store_commit(place, name, element_after, value)
        return Commit(name, pushed.lines, pushed.reads | at.reads)

    def store_commit(self, place: str, name: str, after: Term, value: CExpression) -> Commit:
        line = self.copy_statement(after.type, place, self.convert(value, text.kept_type(after.type)).text)
        return Commit(name, (line,), value.reads, value)

    def _ring_commit(self, ring: Ring, site: int) -> Commit:
        name, at = self.state_names[ring.name], self.indices[ring.name]
        value = self.expression(ring.newest, self.body, site)
        if ring.name in self.windows:
            given = "" if self.names.copilot else f"{self.names.state}, "
            line = f"{self.windows[ring.name].push}({given}{self.convert(value, ring.type).text});"
            return Commit(name, (line,), value.reads, value)
        index, last = self.state(at), len(ring.cells) - 1
        pushed = self.store_commit(f"{self.state(name)}[{index}]", name, ring.newest, value)
        if ring.newest is ring.cells[0].var:  # the oldest value becomes the newest: it is in its place already
            pushed = Commit(name, (), frozenset())
        moved = f"{index} = ({c_type(ring.index)})(({index} < {last}u) ? ({index} + 1u) : 0u);"
        reads = pushed.reads - {at} if name in pushed.reads else pushed.reads
        return Commit(name, (*pushed.lines, moved), reads, value)

    def _in_order(self, commits: list[Commit]) -> Iterable[tuple[str, ...]]:
        """The commits in an order in which every piece of state is read before it is replaced."""
        waiting = {c.state: c for c in commits}
        pieces = self.pieces()
        readers: dict[str, set[str]] = {c.state: set() for c in commits}
        frees: dict[str, dict[str, None]] = {c.state: {} for c in commits}  # a ring and its index are one
        for commit in commits:
            for piece in commit.reads:
                state = pieces[piece]
                if state in readers and state != commit.state:
                    readers[state].add(commit.state)
                    frees[commit.state][state] = None
        late: list[tuple[str, ...]] = []
        batches = {self.state_names[b.name] for b in self.lowered.batches}
        ready = [s for s in waiting if not readers[s]]
        while waiting:
            if not ready:
                state = min(waiting, key=lambda s: (s in batches, len(readers[s])))
                if state in batches:
                    raise LoopConflict
                yield from self._delay(waiting[state], late)
            else:
                state = ready.pop(0)
                yield waiting[state].lines
            del waiting[state]
            for other in frees[state]:
                readers[other].discard(state)
                if not readers[other] and other in waiting:
                    ready.append(other)
        yield from late

    def _delay(self, commit: Commit, late: list[tuple[str, ...]]) -> Iterable[tuple[str, ...]]:
        """The new value in a local variable, because its place is still to be read."""
        if commit.reads <= {commit.state}:  # it can be computed later
            late.append(commit.lines)
            return
        cell = next((c for c in self.lowered.cells if self.state_names[c.name] == commit.state), None)
        ring = next((r for r in self.lowered.rings if self.state_names[r.name] == commit.state), None)
        after = cell.next if cell is not None else ring.newest  # type: ignore[union-attr]
        name = self.names.fresh(f"next_{commit.state}")
        block = Block()
        assert commit.value is not None  # else it is the change of an element, which reads only its own array
        self.declare(after.type, name, commit.value, block)
        value = CExpression(name, PRIMARY, c_type(after.type))
        if cell is not None:
            late.append(self.store_commit(self.state(commit.state), commit.state, after, value).lines)
        else:
            self.texts[after] = value
            late.append(self._ring_commit(ring, 0).lines)  # type: ignore[arg-type]
        yield tuple(block.lines)


def _part_types(type: Type) -> list[Type]:
    if isinstance(type, StructType):
        return [t for _, t in type.fields]
    assert isinstance(type, ArrayType)
    return [type.element] * type.length


def _braces(node: Term) -> str:
    if node.op in ("array", "struct"):
        return f"{{{', '.join(_braces(a) for a in node.args)}}}"
    return text.literal(node.type, node.payload).text
