"""The generated C measured on a Cortex-M4 (or, with doubles, M7) under qemu: instructions and stack of each step.

qemu counts time in instructions (`-icount`), and SysTick counts time: each instruction moves it by the same number of
ticks. The stack below the caller is painted before a step, and looked through after it.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass

from c_harness import externs_of, run

from streamcheck.core.types import EnumType, FloatType, MachineType

TICKS = 25.6  # of the clock of 25 MHz, for each instruction of 2^10 ns
M4 = "--target=thumbv7em-none-eabihf -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16".split()
M7 = "--target=thumbv7em-none-eabihf -mcpu=cortex-m7 -mfloat-abi=hard -mfpu=fpv5-d16".split()
C = "-ffreestanding -std=c99 -ffp-contract=off -I. -Wall -Wextra -Werror".split()
MACHINES = {"M4": (M4, "mps2-an386"), "M7": (M7, "mps2-an500")}
LAYOUT = """\
ENTRY(reset)
SECTIONS {
  .text 0 : { KEEP(*(.vectors)) *(.text*) *(.rodata*) }
  .bss 0x20000000 (NOLOAD) : { *(.data*) *(.bss*) }
  stack_top = 0x20008000;
  /DISCARD/ : { *(.ARM.*) }
}
"""
START = """\
#include "NAME.h"
#include "string.h"
extern unsigned char stack_top;
void reset(void);
__attribute__((section(".vectors"), used)) static void *const vectors[2] = {&stack_top, (void *)reset};
#define AT(address) (*(volatile uint32_t *)(address))
static void put(char c) /* UART0 */
{
    while (AT(0x40004004u) & 1u) { }
    AT(0x40004000u) = (uint32_t)c;
}
static void number(uint32_t n)
{
    char digits[10];
    int i = 0;
    do { digits[i++] = (char)('0' + n % 10u); n /= 10u; } while (n);
    while (i) { put(digits[--i]); }
    put(' ');
}
void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    for (size_t i = 0; i < n; i++) { ((volatile unsigned char *)to)[i] = ((const unsigned char *)from)[i]; }
    return to;
}
void *memset(void *to, int byte, size_t n)
{
    for (size_t i = 0; i < n; i++) { ((volatile unsigned char *)to)[i] = (unsigned char)byte; }
    return to;
}
HANDLERS
static NAME_state state;
INPUTS
enum { DEPTH = 1024 }; /* words of the stack that are painted */
static uint32_t deepest;
__attribute__((noinline)) static void nothing(NAME_state *s) { __asm__ volatile("" : : "r"(s) : "memory"); }
static uint32_t low(void) { uint32_t sp; __asm__ volatile("mov %0, sp" : "=r"(sp)); return sp; }
__attribute__((noinline)) static uint32_t ticks(uint32_t at)
{
    const uint32_t sp = low();
    for (uint32_t i = 1; i <= DEPTH; i++) { AT(sp - 4u * i) = 0x5ca1ab1eu; }
    const uint32_t before = AT(0xE000E018u);
    STEP
    const uint32_t after = AT(0xE000E018u);
    for (uint32_t i = DEPTH; i >= 1; i--) {
        if (AT(sp - 4u * i) != 0x5ca1ab1eu) {
            deepest = 4u * i;
            break;
        }
        deepest = 0u;
    }
    return (before - after) & 0xFFFFFFu;
}
__attribute__((noinline)) static uint32_t empty_ticks(void)
{
    const uint32_t before = AT(0xE000E018u);
    nothing(&state);
    const uint32_t after = AT(0xE000E018u);
    return (before - after) & 0xFFFFFFu;
}
void reset(void)
{
    AT(0xE000ED88u) |= 0xFu << 20; /* the floating-point unit */
    __asm__ volatile("dsb\\n isb");
    AT(0xE000E014u) = 0xFFFFFFu; /* SysTick: all 24 bits, the processor's clock, on */
    AT(0xE000E018u) = 0u;
    AT(0xE000E010u) = 5u;
    while (AT(0xE000E018u) == 0u) {
    }
    AT(0x40004010u) = 16u;
    AT(0x40004008u) = 1u;
    number(empty_ticks());
    NAME_init(&state);
    for (uint32_t i = 0; i < ROWS; i++) {
        number(ticks(i));
        number(deepest);
    }
    put('\\n');
    static const uint32_t done[2] = {0x20026u, 0u}; /* semihosting: application exit, status 0 */
    register uint32_t r0 __asm__("r0") = 0x20u;
    register const uint32_t *r1 __asm__("r1") = done;
    __asm__ volatile("bkpt 0xab" : : "r"(r0), "r"(r1) : "memory");
    for (;;) {
    }
}
"""


@dataclass(frozen=True)
class Measured:
    core: str
    instructions: int  # of the most expensive step
    stack: int  # bytes
    text: int  # bytes of code and constants


def measure(unit, folder, rows, optimize="-O2"):
    """Measure a unit over these rows of inputs. None if it needs a library that is not at hand."""
    for core, (flags, machine) in MACHINES.items():
        folder.mkdir(exist_ok=True)
        _write(unit, folder, rows)
        base = ["clang", *flags, *C, optimize]
        run([*base, "-c", f"{unit.base}.c", "-o", "monitor.o"], folder)
        run([*base, "-Wno-missing-field-initializers", "-c", "start.c", "-o", "start.o"], folder)
        linked = subprocess.run(
            ["ld.lld", "-T", "layout.ld", "monitor.o", "start.o", "-o", "a.elf"], cwd=folder, capture_output=True
        )
        if linked.returncode == 0:
            numbers = _run(machine, folder)
            steps = [round(n / TICKS) - round(numbers[0] / TICKS) for n in numbers[1::2]]
            return Measured(core, max(steps), max(numbers[2::2]), _text_size(folder))
    return None


def _write(unit, folder, rows):
    for name, text in unit.files.items():
        (folder / name).write_text(text)
    (folder / "string.h").write_text(
        "#include <stddef.h>\nvoid *memcpy(void *restrict to, const void *restrict from, size_t n);\n"
        "void *memset(void *to, int byte, size_t n);\n"
    )
    functions = [
        "sqrt",
        "floor",
        "ceil",
        "fabs",
        *"sin cos tan asin acos atan sinh cosh tanh exp log atan2 pow".split(),
    ]
    two = ("atan2", "pow")
    lines = [
        f"{t} {f}{s}({t} x{', ' + t + ' y' if f in two else ''});"
        for f in functions
        for t, s in (("float", "f"), ("double", ""))
    ]
    (folder / "math.h").write_text(
        "\n".join(['#define NAN __builtin_nanf("")\n#define INFINITY __builtin_inff()', *lines, ""])
    )
    (folder / "layout.ld").write_text(LAYOUT)
    (folder / "start.c").write_text(_start(unit, rows))


def _start(unit, rows):
    header = unit.files[f"{unit.base}.h"]
    handlers = [
        f"{line.rstrip(';')} {{ }}\n"
        for line in header.splitlines()
        for t in unit.specification.triggers
        if line.startswith(f"void {unit.c_name('trigger', t.name)}(")
    ]
    externs = externs_of(unit)
    every = [i for i in unit.specification.inputs if i.extern]
    chosen = [[v for i, v in zip(every, row, strict=True) if i in externs] for row in rows]
    text = START.replace("HANDLERS", '#pragma clang diagnostic ignored "-Wunused-parameter"\n' + "".join(handlers))
    step = f"{unit.base}_step(&state{', &rows[at]' if externs else ''});"
    inputs = ""
    if externs:
        listed = "".join(
            f"    {{{', '.join(_literal(i.type, v) for i, v in zip(externs, row, strict=True))}}},\n" for row in chosen
        )
        inputs = f"#include <math.h>\nstatic const {unit.base}_inputs rows[] = {{\n{listed}}};\n"
    if not externs:
        step = f"(void)at; {step}"
    return (
        text.replace("INPUTS", inputs).replace("STEP", step).replace("ROWS", f"{len(rows)}u").replace("NAME", unit.base)
    )


def _literal(type, value):
    if isinstance(value, tuple):
        types = [t for _, t in type.fields] if hasattr(type, "fields") else [type.element] * type.length
        return f"{{{', '.join(_literal(t, v) for t, v in zip(types, value, strict=True))}}}"
    match type:
        case MachineType(width=64):
            return f"(int64_t){value % 2**64}ull" if type.signed else f"{value}ull"
        case MachineType() | EnumType():
            return f"({value})" if value > -(2**31) else "(-2147483647 - 1)"
        case FloatType():
            return (
                "NAN"
                if value != value
                else f"{'-' if value < 0 else ''}INFINITY"
                if abs(value) == float("inf")
                else repr(value)
            )
    return str(int(value))


def _run(machine, folder):
    command = ["qemu-system-arm", "-M", machine, "-display", "none", "-monitor", "none", "-serial", "stdio"]
    command += ["-icount", "shift=10,align=off,sleep=off", "-semihosting-config", "enable=on,target=native"]
    done = subprocess.run(
        [*command, "-kernel", "a.elf"], cwd=folder, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stderr
    return [int(n) for n in done.stdout.split()]


def _text_size(folder):
    lines = run(["llvm-size", "-A", "monitor.o"], folder).splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith((".text", ".rodata")))
