"""The generated C on a Cortex-M3 under qemu: no operating system, no C library, 32 bits."""

from __future__ import annotations

import subprocess

import pytest
from c_harness import expected, have, run, unit_of
from cortex_m import measure
from random_specs import random_rows

from streamcheck import *

STEPS = 200
CLANG = (
    "clang --target=thumbv7m-none-eabi -mcpu=cortex-m3 -ffreestanding -std=c99 -O2 -I. -Wall -Wextra -Werror".split()
)

START = """\
#include "board.h"
#include "string.h"
extern unsigned char stack_top;
void reset(void);
__attribute__((section(".vectors"), used)) static void *const vectors[2] = {&stack_top, (void *)reset};
static void put(char c) { *(volatile uint32_t *)0x4000C000u = (uint32_t)c; } /* UART0 */
static void text(const char *s) { while (*s) { put(*s++); } }
static void hex(const void *p, uint32_t n)
{
    const unsigned char *b = p;
    put(' ');
    for (uint32_t i = 0; i < n; i++) {
        put("0123456789abcdef"[b[i] >> 4]);
        put("0123456789abcdef"[b[i] & 15]);
    }
}
void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ((volatile unsigned char *)to)[i] = ((const unsigned char *)from)[i];
    }
    return to;
}
void *memset(void *to, int byte, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ((volatile unsigned char *)to)[i] = (unsigned char)byte;
    }
    return to;
}
void alarm(uint8_t level, int32_t mean)
{
    text("alarm");
    hex(&level, sizeof level);
    hex(&mean, sizeof mean);
    put('\\n');
}
void late(uint16_t old)
{
    text("late");
    hex(&old, sizeof old);
    put('\\n');
}
static const board_inputs rows[] = {
%s};
void reset(void)
{
    static board_state state;
    board_init(&state);
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        board_step(&state, &rows[i]);
        text("-\\n");
    }
    static const uint32_t done[2] = {0x20026u, 0u}; /* semihosting: application exit, status 0 */
    register uint32_t r0 __asm__("r0") = 0x20u;
    register const uint32_t *r1 __asm__("r1") = done;
    __asm__ volatile("bkpt 0xab" : : "r"(r0), "r"(r1) : "memory");
    for (;;) {
    }
}
"""
STRING = """\
#include <stddef.h>
void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memset(void *to, int byte, size_t n);
"""
LAYOUT = """\
ENTRY(reset)
SECTIONS {
  .text 0 : { KEEP(*(.vectors)) *(.text*) *(.rodata*) }
  .bss 0x20000000 (NOLOAD) : { *(.data*) *(.bss*) }
  stack_top = 0x20008000;
  /DISCARD/ : { *(.ARM.*) }
}
"""


def board():
    level, code, hot = extern("level", Word8), extern("code", Int32), extern("hot", Bool)
    clock = stream(Word16, lambda t: [0] + +(t + 1))
    recent = mtl.since(1, 20, clock, 1, level < 250, hot)
    mean = (code // 3 + ([0] + +code) % 7) >> (level % 40)
    old = [1, 2, 3, 4, 5, 6, 7, 8, 9] + +unsafe_cast(Word16, code)
    spec = Spec("board")
    spec.trigger("alarm", recent & (mean != 0), {"level": ~level, "mean": mean})
    spec.trigger("late", old > 30_000, {"old": old})
    return spec


@pytest.mark.skipif(not have("clang", "ld.lld", "qemu-system-arm"), reason="no clang, lld or qemu-system-arm here")
def test_on_a_cortex_m(tmp_path):
    unit = unit_of(board())
    rows = random_rows(3, unit.specification, STEPS)
    names = [i.name for i in unit.specification.inputs]
    shown = "".join(
        "    {" + ", ".join(f".{n} = {c_value(v)}" for n, v in zip(names, row, strict=True)) + "},\n" for row in rows
    )
    for name, text in unit.files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "start.c").write_text(START % shown)
    (tmp_path / "string.h").write_text(STRING)
    (tmp_path / "layout.ld").write_text(LAYOUT)
    for source in ("board", "start"):
        run([*CLANG, "-c", f"{source}.c", "-o", f"{source}.o"], tmp_path)
    run(["ld.lld", "-T", "layout.ld", "board.o", "start.o", "-o", "board.elf"], tmp_path)
    machine = ["qemu-system-arm", "-M", "lm3s6965evb", "-display", "none", "-monitor", "none", "-serial", "stdio"]
    command = [*machine, "-semihosting-config", "enable=on,target=native", "-kernel", "board.elf"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    wanted = expected(unit.specification, rows, observers=False)
    assert done.stdout.splitlines() == wanted and any(line.startswith("alarm") for line in wanted)


def c_value(value):
    if isinstance(value, bool):
        return str(value).lower()
    return "INT32_MIN" if value == -(2**31) else str(value)


@pytest.mark.skipif(not have("clang", "ld.lld", "qemu-system-arm"), reason="no clang, lld or qemu-system-arm here")
def test_instructions_and_stack_are_measured(tmp_path):
    """128 operations are as many instructions at least; a local array is on the stack."""
    word = extern("word", Word32)
    total = word
    for i in range(64):
        total = (total ^ (i + 3)) * 5
    spec = Spec("sums")
    spec.trigger("seen", total > 7, total)
    unit = unit_of(spec)
    rows = [(i,) for i in range(30)]
    long = measure(unit, tmp_path / "long", rows)
    assert long == measure(unit, tmp_path / "again", rows) and long.core == "M4"
    assert 128 <= long.instructions <= 300 and long.stack <= 64 and long.text >= 256
    cells = extern("cells", Array(Word8, 200))
    copied = Spec("copied")
    copied.trigger("seen", cells[0] > 7, cells.set(3, 5))
    short = measure(unit_of(copied), tmp_path / "short", [((9,) * 200,)])
    assert short.stack >= 200
