"""Words and symbols of other tools' languages, as both the readers and the writers of these languages need them."""

from __future__ import annotations

LUSTRE_WORD_TYPES = {f"{'' if signed else 'u'}int{w}": (w, signed) for w in (8, 16, 32, 64) for signed in (True, False)}
LUSTRE_RESERVED = frozenset(
    "node function returns var let tel const if then else and or xor not true false pre fby div mod when condact"
    " merge assert forall exists".split()
) | frozenset(LUSTRE_WORD_TYPES)
# Reserved by some version of Kind 2; older files have variables with these names.
LUSTRE_RESERVED_LATER = frozenset(
    "assume guarantee mode require ensure weakly contract con noc initial default current fi elsif end frame cond"
    " otherwise reachable provided invariant from within at match any choose opaque transparent subtype history map set"
    " in datatype param sint uint lsh rsh".split()
)
AUT_RESERVED = frozenset("var from initial final skip havoc".split())
AUT_RELATIONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
