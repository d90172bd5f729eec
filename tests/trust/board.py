"""Generated C on a Cortex-M7 under qemu, which has no operating system and no C library.

The driver is that of the hosts (`c_harness`); what it needs of a library is here: a `printf` that writes to the serial
port, and a file of rows that is an array. Division of 64 bits and the like are in the compiler's own library, which
gcc for such processors brings along: without it, what needs it is not built.
"""

import shutil
import subprocess
from pathlib import Path

from c_harness import run
from cortex_m import LAYOUT, M7, MACHINES, C

MOST_SECONDS = 120
NAMES = ("stdio.h", "string.h", "math.h")
HEADER = """\
#ifndef BOARD_H
#define BOARD_H
#include <stddef.h>
typedef struct rows FILE;
int printf(const char *, ...);
FILE *fopen(const char *, const char *);
size_t fread(void *, size_t, size_t, FILE *);
void *memcpy(void *restrict, const void *restrict, size_t);
void *memset(void *, int, size_t);
#define NAN __builtin_nanf("")
#define INFINITY __builtin_inff()
float sqrtf(float); float floorf(float); float ceilf(float); float fabsf(float);
double sqrt(double); double floor(double); double ceil(double); double fabs(double);
#endif
"""
START = """\
#include <stdarg.h>
#include <stdint.h>
#include "stdio.h"
extern unsigned char stack_top;
extern const unsigned char *const rows[]; /* where those of each unit begin, and the end of the last */
int main(void);
void reset(void);
__attribute__((section(".vectors"), used)) static void *const vectors[2] = {&stack_top, (void *)reset};
#define AT(address) (*(volatile uint32_t *)(address))
static void put(char c) /* UART0 */
{
    while (AT(0x40004004u) & 1u) { }
    AT(0x40004000u) = (uint32_t)c;
}
int printf(const char *text, ...) /* texts, and numbers as %02x */
{
    va_list given;
    va_start(given, text);
    for (; *text; text++) {
        if (*text == '%') {
            const unsigned n = va_arg(given, unsigned);
            put("0123456789abcdef"[n >> 4]);
            put("0123456789abcdef"[n & 15u]);
            text += 3;
        } else {
            put(*text);
        }
    }
    va_end(given);
    return 0;
}
static const unsigned char *next, *end; /* nothing is copied to memory at the start */
FILE *fopen(const char *name, const char *mode) /* a name is rows_ and a number of two digits */
{
    const unsigned unit = 10u * (unsigned)(name[5] - '0') + (unsigned)(name[6] - '0');
    (void)mode;
    next = rows[unit];
    end = rows[unit + 1u];
    return (FILE *)&next;
}
size_t fread(void *to, size_t size, size_t count, FILE *file)
{
    (void)file;
    if (count != 1u || (size_t)(end - next) < size) { return 0u; }
    memcpy(to, next, size);
    next += size;
    return 1u;
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
#define FUNCTION(name) \\
    float name##f(float x) { return __builtin_##name##f(x); } \\
    double name(double x) { return __builtin_##name(x); }
FUNCTION(fabs) FUNCTION(sqrt) FUNCTION(floor) FUNCTION(ceil) /* instructions of the processor */
void reset(void)
{
    AT(0xE000ED88u) |= 0xFu << 20; /* the floating-point unit */
    __asm__ volatile("dsb\\n isb");
    AT(0x40004010u) = 16u;
    AT(0x40004008u) = 1u;
    const uint32_t status = (uint32_t)main();
    const uint32_t done[2] = {0x20026u, status}; /* semihosting: application exit */
    register uint32_t r0 __asm__("r0") = 0x20u;
    register const uint32_t *r1 __asm__("r1") = done;
    __asm__ volatile("bkpt 0xab" : : "r"(r0), "r"(r1) : "memory");
    for (;;) {
    }
}
"""
ROWS = ".section .rodata\n.global rows\n.balign 4\nrows: .word {places}\n{parts}"


def compiler_library():
    """The path of the compiler's own library, as a list; empty if it is not at hand."""
    if shutil.which("arm-none-eabi-gcc") is None:
        return []
    flags = "-mthumb -mcpu=cortex-m7 -mfloat-abi=hard -mfpu=fpv5-d16".split()
    return run(["arm-none-eabi-gcc", *flags, "-print-libgcc-file-name"], ".").split()


def output(folder, count, optimize):
    """What a program prints, whose units, drivers and rows are in the folder; None if a library is missing."""
    for name in NAMES:
        (folder / name).write_text(HEADER)
    places = ", ".join(f"rows_{at}" for at in range(count + 1))
    parts = "".join(f'rows_{at}: .incbin "rows_{at:02}"\n' for at in range(count)) + f"rows_{count}:\n"
    rows = ROWS.format(places=places, parts=parts)
    for name, text in (("layout.ld", LAYOUT), ("start.c", START), ("rows.s", rows)):
        (folder / name).write_text(text)
    clang = ["clang", *M7, *(flag for flag in C if flag != "-Werror"), "-fno-short-enums", "-fno-math-errno", optimize]
    sources = [*(f"unit_{at}.c" for at in range(count)), "drivers.c", "start.c", "rows.s"]
    run([*clang, "-Wno-everything", "-c", *sources], folder)
    objects = [Path(source).with_suffix(".o") for source in sources]
    linked = ["ld.lld", "-T", "layout.ld", *objects, *compiler_library(), "-o", "board.elf"]
    if subprocess.run(linked, cwd=folder, capture_output=True).returncode:
        return None
    machine = ["qemu-system-arm", "-M", MACHINES["M7"][1], "-display", "none", "-monitor", "none", "-serial", "stdio"]
    command = [*machine, "-semihosting-config", "enable=on,target=native", "-kernel", "board.elf"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=MOST_SECONDS, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, f"the program ended with {done.returncode} {done.stderr[-200:]}"
    return done.stdout
