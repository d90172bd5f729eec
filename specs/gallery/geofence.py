# A geofence of a drone: a polygon of three edges (right of each is inside), a ceiling, and a soft margin before both.
# Coordinates are integers in dm around the take-off point, so that nothing rounds; products fit 32 bits, as is proved.
# Proved: a margin is crossed before the fence, as a step moves at most 3 m; the flight ends after a second outside.
from streamcheck import *


@struct
class Position:
    x: Int32
    y: Int32
    up: Int32


steps = range(50)
pos = extern("pos", Position, [(20 * n, 5 * n, 300 + 30 * n) for n in steps], doc="from the take-off point", unit="dm")
CORNERS = [(-3000, -2000), (0, 4000), (3000, -2000)]
CEILING, MARGIN, MOVE = 1200, 60, 30
SECOND = 10  # steps of 100 ms


def edge(x0: int, y0: int, x1: int, y1: int) -> Stream:
    """Above 0 inside: how far the position is from an edge, times the length of the edge."""
    dx, dy = pos.x - x0, pos.y - y0
    return checked.sub(checked.mul(dx, y1 - y0), checked.mul(dy, x1 - x0))


pairs = list(zip(CORNERS, [*CORNERS[1:], CORNERS[0]], strict=True))
lengths = [round(((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5) for (x0, y0), (x1, y1) in pairs]
distances = [edge(*a, *b) for a, b in pairs]
inside = all_of([d >= 0 for d in distances]) & (pos.up <= CEILING)
soft = all_of([d >= MARGIN * n for d, n in zip(distances, lengths, strict=True)]) & (pos.up <= CEILING - MARGIN)
ended = signals.latch(signals.held_for(SECOND, ~inside))

moved = all_of([abs(p - pre(0, p)) <= MOVE for p in (pos.x, pos.y, pos.up)])

spec = Spec("geofence")
spec.assume("range", all_of([(p >= -100_000) & (p <= 100_000) for p in (pos.x, pos.y, pos.up)]))
spec.assume("moves_slowly", moved | first)
spec.assume("starts_inside", then(soft, True))
spec.trigger("warn", signals.rose(~soft), {"pos": pos})
spec.trigger("terminate", signals.rose(ended), {"pos": pos})
spec.observer("inside", inside)
spec.observer("ended", ended)
spec.prop("soft_is_inside", implies(soft, inside))
spec.prop("warned_before_out", implies(~inside, pre(False, ~soft) | first))
spec.prop("ends_after_a_second", implies(signals.held_for(SECOND, ~inside), ended))
spec.prop("ends_for_good", implies(pre(False, ended), ended))
spec.prop("not_ended_at_once", implies(signals.rose(ended), signals.held_for(SECOND, ~inside)))
