"""C as a language: syntax, types, constants, arithmetic, objects and expressions. It is independent of the rooms that
use it.

Two rooms execute C on this semantics. `frontends/minic` turns a program into an automaton, with an edge for every
effect. `validate` executes generated C symbolically. Both evaluate expressions with `expressions.Evaluator` and add
what differs: where objects are stored, what an effect is, and what happens at a branch.

`codegen` has rules of its own for the usual arithmetic conversions (`codegen/expression.py`), on purpose: a fault that
the generator shared with its proof could not be seen by the proof.

    kinds          the types of C ("kind": a type of C; "type": a type of `core.types`)
    literals       integer, floating and character constants, strings
    preprocess     conditions, includes
    macros         macros and their expansion; `predefined` has those of gcc
    extensions     what compilers have beyond C: attributes, assembler, ranges of cases
    syntax         the parser; lines and texts of its nodes
    declarations   scopes and declared types
    terms, bounds  normal forms of converted and compared terms; intervals
    arithmetic     operators and conversions, and the side conditions of those that may be undefined
    lvalues        objects and designators of their parts
    pointers       pointers whose object is known when the program is read
    initial        braced initialisers
    expressions    the evaluator
    static         types of expressions that are not evaluated
    effects        whether an expression has side effects
"""
