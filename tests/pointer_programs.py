"""Random C programs whose pointers are computed: into several variables, arrays, structs and lists, to functions and
to pointers. What is undefined in them is a claim: null pointers, bounds, variables that have ended."""

import random

NONDET = "__VERIFIER_nondet_int() & 7"


class PointerProgram:
    """`text`, and `names`: its global variables as (name, length or 0)."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.count = 0
        self.names = [("g0", 0), ("g1", 0), ("g2", 0), ("a0", 4), ("r", 0)]
        self.program()
        self.text = "\n".join(self.lines) + "\n"

    def put(self, line):
        self.lines.append(line)

    def choose(self, *options):
        return self.random.choice(options)

    def program(self):
        self.put("int g0, g1 = 3, g2 = 5, a0[4] = {1, 2, 3, 4}, r;")
        self.put("struct node { int v; struct node *next; int *p; short s[3]; };")
        self.put("struct node n0, n1, n2, na[3];")
        self.put("typedef int fn(int, int *);")
        self.put("int *gp = &g0, **gpp = &gp; struct node *head;")
        self.put("int f0(int x, int *p) { *p = x & 15; return x; }")
        self.put("int f1(int x, int *p) { return (x & 255) + (*p & 255); }")
        self.put("int f2(int x, int *p) { gp = p; return x; }")
        self.put("struct ops { fn *f; int k; } ops[2] = {{f0, 1}, {f1, 2}};")
        self.put("int *pick(int c, int *a, int *b) { return c ? a : b; }")
        self.put("void link(struct node *a, struct node *b) { a->next = b; a->v = b ? b->v + 1 & 31 : 1; }")
        self.put("struct node *mk(int v, struct node *l) { struct node *m = malloc(sizeof(struct node));")
        self.put("m->v = v; m->next = l; m->p = 0; m->s[0] = 1; m->s[1] = 2; return m; }")
        self.put("int *hp; void drop(void) { if (hp) free(hp); hp = 0; }")
        self.put("void main(void) {")
        self.put("int l0 = 1, l1 = 2, *p = &l0, *q = 0, c, i; short *s = n0.s; fn *f = f1; struct node *n = &n0;")
        for _ in range(self.random.randrange(6, 16)):
            self.put(self.statement(2))
        self.put("r = r ^ l0 ^ l1 << 3 & 1023; }")

    def pointer(self):
        return self.choose(
            "p", "p", "gp", "*gpp", "&l0", "&l1", "&g1", "a0 + (c & 3)", "&n->v", "pick(c & 1, p, &g2)",
            "(c & 2 ? &g0 : p)", "&na[c & 1].v", "n->p ? n->p : &g2", "q ? q : &l1", "(int *)(void *)gp",
            "hp ? hp : &g0", "hp ? hp + 1 : &g1",
        )  # fmt: skip

    def node(self):
        return self.choose(
            "&n0", "&n1", "&n2", "n", "head ? head : &n1", "&na[c & 1]", "na + 1", "n->next ? n->next : &n2"
        )

    def value(self):
        return self.choose(
            "*p & 255", "*gp & 127", "l0 & 63", "l1 & 31", "g0 & 15", "a0[c & 3] & 31", "n->v & 63", "n->s[c & 1]",
            "s[0]", "c", "**gpp & 63", "ops[c & 1].k", "(p == gp)", "(p != 0)", "(q == 0)", "(f == f1)", "!head",
            "(n == &n1)", "f(c, p) & 63", "ops[c & 1].f(c, &g2) & 63", "(*f)(1, &l0) & 31", "f2(c, p)",
            "(head && head->v > 2)", "(hp ? hp[1] & 7 : 2)", "p[0] & 7",
        )  # fmt: skip

    def statement(self, depth):
        kind = self.random.randrange(22)
        if kind < 3:
            return f"c = {NONDET};"
        if kind == 3 and depth:
            return f"if ({self.value()}) {{ {self.block(depth)} }} else {{ {self.block(depth)} }}"
        if kind == 4 and depth:
            self.count += 1
            i = f"i{self.count}"
            inner = self.block(depth - 1)
            return f"for (int {i} = 0; {i} < {self.choose(2, 3)}; {i}++) {{ int t = {i}; {inner} {self.local()} }}"
        options = [
            f"*({self.pointer()}) = {self.value()};", f"p = {self.pointer()};", f"gp = {self.pointer()};",
            f"q = {self.choose('0', 'p', 'gp')};", f"n = {self.node()};", f"head = {self.choose('0', 'n', '&n1')};",
            f"link({self.node()}, {self.choose('n', '0', '&n2')});", f"n->p = {self.pointer()};",
            f"f = {self.choose('f0', 'f1', 'f2', 'ops[c & 1].f', '*f')};", f"r = {self.value()};",
            f"s = &n->s[{self.choose('0', '1', 'c & 1')}];", "*s = c;", "n->s[c & 1]++;", "s++;", "p++;", "*q = 1;",
            "gpp = c & 1 ? &gp : &p;", "ops[c & 1].f = f;", "n0 = n1;", "*n = na[c & 1];",
            "p = a0; p += c & 3; r = *p++;", "r = *--p;", "(*p)++;", "n = n->next;", "r = n->next->v;",
            "n = n->next ? n->next : n;",
            "p = &a0[c & 3]; i = p - a0; r = p < a0 + 2;", "if (n->next) r = n->next->v;", "if (q) *q = 1;",
            "head = mk(c, head);", "free(hp);", "drop();", "drop();",
            "hp = malloc(2 * sizeof *hp); hp[0] = c; hp[1] = 3;",
            "hp = calloc(2, sizeof(int));",
            "if (head) { struct node *t = head; head = head->next; free(t); }", "n = mk(1, n);", "hp[c & 3] = 2;",
        ]  # fmt: skip
        return self.choose(*options)

    def block(self, depth):
        return " ".join(self.statement(depth - 1) for _ in range(self.random.randrange(1, 4)))

    def local(self):
        """A pointer to a variable of a block, which ends. (Compilers do not find out that it is used a round later.)"""
        return self.choose(
            "", "", "p = &t; *p = 2; r = t; p = &l0;", "gp = &t; r = **gpp & 7; gp = &g0;", "r = *p & 7;"
        )
