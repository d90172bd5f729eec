"""Random equations with components, some inside of others: the same for a seed."""

from __future__ import annotations

import random
from dataclasses import replace

from random_specs import HERE, random_equations, value

from streamcheck.core.term import TRUE, constant, substitute, variable, walk
from streamcheck.core.types import BOOL
from streamcheck.problem.specification import Cell, Component, ComponentInstance, Named, Trigger


def with_components(seed):
    """Equations that use three components, of which the third has the first two inside."""
    rng = random.Random(seed)
    first = component(rng, 3 * seed, "first", [])
    second = component(rng, 3 * seed + 1, "delay(2)", [first])
    third = component(rng, 3 * seed + 2, "third", [first, second])
    return level(rng, seed, f"random_{seed}", [first, second, third], 5)


def component(rng, seed, name, inside):
    return Component(name, replace(level(rng, seed, name, inside, 2), triggers=(), components=()))


def level(rng, seed, name, inside, count):
    """Equations with so many instances of the components inside. Its observers are the outputs, if it is a body."""
    base = random_equations(seed)
    pool = [*walk([*base.variables(), *base.roots()])]
    instances, cells = [], list(base.cells)
    for i in range(count if inside else 0):
        used = rng.choice(inside)
        made, more, outputs = instantiate(rng, used, f"{used.name.partition('(')[0]}_{i}", pool)
        instances += made
        cells += more
        pool += outputs
        if outputs and rng.random() < 0.7:  # back into the instances, a step later
            output = rng.choice(outputs)
            cells.append(Cell(f"back{i}", constant(output.type, value(rng, output.type)), output, HERE))
            pool.append(variable(f"back{i}", output.type))
    shown = [n.term for i in instances if "." not in i.name for n in i.outputs if rng.random() < 0.8]
    shown = [t for t in [*(o.term for o in base.observers), *shown] if not t.is_const]
    observers = tuple(Named(f"shown{i}", t, HERE) for i, t in enumerate(dict.fromkeys(shown)))
    guard = rng.choice([t for t in pool if t.type is BOOL and not t.is_const] or [TRUE])
    last = Trigger("last", guard, tuple((None, o.term) for o in observers), HERE)
    own = ComponentInstance(
        "", name, HERE, tuple(Named(i.name, i.var, HERE) for i in base.inputs), observers, TRUE, TRUE
    )
    return replace(
        base,
        name=name,
        cells=tuple(cells),
        triggers=(*base.triggers, last),
        observers=observers,
        instances=(own, *instances),
        components=tuple(inside),
    )


def instantiate(rng, used, name, pool):
    """The instance, those inside of it, its cells, and its outputs."""
    body = used.body
    images = {c.var: variable(f"{name}.{c.name}", c.initial.type) for c in body.cells}
    for given in body.inputs:
        fitting = [t for t in pool if t.type is given.type]
        fresh = constant(given.type, value(rng, given.type))
        images[given.var] = rng.choice(fitting[-6:]) if fitting and rng.random() < 0.9 else fresh
    found = substitute([*body.roots(), *(t for i in body.instances for t in i.terms())], images)
    cells = [replace(c, name=f"{name}.{c.name}", next=found[c.next]) for c in body.cells]

    def named(some):
        return tuple(replace(n, term=images.get(n.term) or found[n.term]) for n in some)

    made = []
    for i in body.instances:
        inner = f"{name}.{i.name}" if i.name else name
        made.append(replace(i, name=inner, inputs=named(i.inputs), outputs=named(i.outputs)))
    return made, cells, [n.term for n in made[0].outputs]
