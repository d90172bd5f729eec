"""A process that reads a spec and what it imports, and does nothing else to the machine (Linux, `--sandbox`).

    Landlock   Python's own files, those of the spec's folder and of the module path can be read (but none that is
               hidden at the top of such a folder); nothing can be written, made or removed
    seccomp    no socket, no new process, no program, no signal to others, no change of a file's mode, owner, times or
               flags, nothing that processes share (queues, memory), no watch over folders
    limits     memory, open files; no capability, even for root. Memory that is shared, or grows downwards, is refused:
               the limit does not count it

What the kernel cannot enforce is not promised: `confine` fails unless it has both. The clock, the environment and the
memory that the process began with can be read; none of it can leave but as part of the equations.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import struct
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from streamcheck.core.errors import SpecError

MEMORY = 2_000_000_000  # bytes, unless --memory says another number
OPEN_FILES = 256

# Landlock: the rights that every version knows at most, by the bits of include/uapi/linux/landlock.h.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
READ_FILE, READ_DIR = 1 << 2, 1 << 3
RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
NET_FROM, SCOPED_FROM = 4, 6
PATH_BENEATH = 1
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_FILTER = 38, 22, 2

# seccomp: instructions of include/uapi/linux/bpf_common.h, and what a filter may answer.
LOAD, EQUALS, IS_AT_LEAST, HAS_BITS, ANSWER = 0x20, 0x15, 0x35, 0x45, 0x06
WORD = 8  # bytes of an argument
ALLOW, KILL, EPERM, ENOSYS = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16  # offsets in what a filter reads
CLONE_THREAD = 0x10000
ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}

# The numbers of system calls, on x86_64 and aarch64; None if there is none.
REFUSED: Mapping[str, tuple[int | None, int | None]] = {
    "socket": (41, 198), "socketpair": (53, 199), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201),
    "accept": (43, 202), "accept4": (288, 242), "fork": (57, None), "vfork": (58, None), "execve": (59, 221),
    "execveat": (322, 281), "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "tkill": (200, 130), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424), "io_uring_setup": (425, 425), "bpf": (321, 280),
    "userfaultfd": (323, 282), "perf_event_open": (298, 241), "add_key": (248, 217), "request_key": (249, 218),
    "keyctl": (250, 219), "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39),
    "chroot": (161, 51), "pivot_root": (155, 41), "open_by_handle_at": (304, 265), "chmod": (90, None),
    "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None), "fchown": (93, 55),
    "lchown": (94, None), "fchownat": (260, 54), "utime": (132, None), "utimes": (235, None),
    "futimesat": (261, None), "utimensat": (280, 88), "setxattr": (188, 5), "lsetxattr": (189, 6),
    "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "getxattr": (191, 8), "lgetxattr": (192, 9), "fgetxattr": (193, 10), "listxattr": (194, 11),
    "llistxattr": (195, 12), "flistxattr": (196, 13), "setxattrat": (463, 463), "getxattrat": (464, 464),
    "listxattrat": (465, 465), "removexattrat": (466, 466), "file_setattr": (469, 469), "truncate": (76, 45),
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "semget": (64, 190), "semop": (65, 193),
    "semtimedop": (220, 192), "semctl": (66, 191), "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188),
    "msgctl": (71, 187), "mq_open": (240, 180), "mq_unlink": (241, 181), "memfd_create": (319, 279),
    "memfd_secret": (447, 447), "inotify_init": (253, None), "inotify_init1": (294, 26),
    "fanotify_init": (300, 262), "syslog": (103, 116), "setpriority": (141, 140), "sched_setaffinity": (203, 122),
    "sched_setparam": (142, 118), "sched_setscheduler": (144, 119), "sched_setattr": (314, 274),
    "ioprio_set": (251, 30),
}  # fmt: skip
UNKNOWN_TO_LIBRARIES = ((435, 435), (437, 437))  # clone3, openat2: no filter sees their flags. Libraries do without
CLONE, KILL_CALL, TGKILL, PRLIMIT, CAPSET = (56, 220), (62, 129), (234, 131), (302, 261), (126, 91)
OPEN, OPENAT, FCNTL, IOCTL, MMAP = (2, None), (257, 56), (72, 25), (16, 29), (9, 222)
O_TRUNC = 0x200  # which Landlock sees from Linux 6.2 on
F_SETOWN, F_SETSIG, F_SETOWN_EX = 8, 10, 15  # who gets which signal when a pipe can be read
# Of ioctl: questions about terminals and bytes, and whether descriptors wait and stay open.
TCGETS, TCGETS2, TIOCGWINSZ, HARMLESS = 0x5401, 0x802C542A, 0x5413, (0x541B, 0x5421, 0x5450, 0x5451)
MAP_SHARED, MAP_ANONYMOUS, MAP_GROWSDOWN = 0x01, 0x20, 0x100
HIGHEST = 0x40000000  # numbers from here on are of another convention


def require_confinement() -> None:
    """SpecError if this machine cannot confine a process."""
    machine = platform.machine()
    if sys.platform != "linux" or machine not in ARCHITECTURES:
        raise _unavailable(f"{sys.platform} on {machine}")
    if _landlock_version() < 1:
        raise _unavailable("a kernel without Landlock, or with it off")


def _unavailable(why: str) -> SpecError:
    here = "--sandbox needs Linux 5.13 or newer with Landlock, on x86_64 or aarch64"
    return SpecError(f"{here}; this is {why}", write="leave --sandbox out if you trust the spec")


def confine(path: str, memory: int) -> None:
    """Confine this process, for good, to reading the spec in the file and to so many bytes."""
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):  # what a spec prints could change a terminal
        os.dup2(null, standard)
    os.close(null)
    _limit(resource.RLIMIT_DATA, memory)
    _limit(resource.RLIMIT_NOFILE, OPEN_FILES)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, 0)
    _drop_capabilities()
    _require(_library().prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    _restrict_files(path)
    _filter_calls()


def _limit(what: int, most: int) -> None:
    _, hard = resource.getrlimit(what)
    least = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (least, least))


def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _require(result: int, what: str) -> int:
    if result < 0:
        raise _unavailable(f"a kernel that refuses {what} ({os.strerror(ctypes.get_errno())})")
    return result


def _drop_capabilities() -> None:
    header = struct.pack("Ii", 0x20080522, 0)  # version 3, of this process
    number = CAPSET[_column()]
    _require(_library().syscall(number, ctypes.c_char_p(header), ctypes.c_char_p(bytes(24))), "dropping capabilities")


def _column() -> int:
    return ARCHITECTURES[platform.machine()][1]


# Files


def _landlock_version() -> int:
    found: int = _library().syscall(CREATE_RULESET, None, 0, 1)
    return found


def _restrict_files(path: str) -> None:
    library, version = _library(), _landlock_version()
    rights = RIGHTS[min(version, max(RIGHTS))]
    words = 1 if version < NET_FROM else 2 if version < SCOPED_FROM else 3
    attributes = struct.pack("QQQ", rights, 3, 3)[: 8 * words]  # all of files; TCP; signals and abstract sockets
    rules = _require(library.syscall(CREATE_RULESET, ctypes.c_char_p(attributes), len(attributes), 0), "a ruleset")
    for readable, right in _readable(path):
        try:
            opened = os.open(readable, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # what is not there needs no rule
        rule = struct.pack("=Qi", right, opened)
        _require(library.syscall(ADD_RULE, rules, PATH_BENEATH, ctypes.c_char_p(rule), 0), f"a rule for {readable}")
        os.close(opened)
    _require(library.syscall(RESTRICT_SELF, rules, 0), "Landlock")
    os.close(rules)


def _readable(path: str) -> Iterator[tuple[str, int]]:
    """The files and folders that can be read, each with its right."""
    whole = {os.path.realpath(p) for p in (sys.prefix, sys.base_prefix, sys.exec_prefix)} - {"/"}
    whole |= {"/usr/lib", "/usr/lib64", "/lib", "/lib64", "/usr/local/lib", "/usr/share/zoneinfo"}
    whole.add(str(Path(__file__).resolve().parent.parent))
    yield from ((folder, READ_FILE | READ_DIR) for folder in sorted(whole) if os.path.isdir(folder))
    for file in ("/etc/ld.so.cache", "/etc/localtime", "/dev/null", "/dev/urandom"):
        yield file, READ_FILE
    folders = [os.path.dirname(os.path.abspath(path)), *(os.path.abspath(p) for p in sys.path)]
    for folder in dict.fromkeys(map(os.path.realpath, folders)):
        if not any(Path(folder).is_relative_to(known) for known in whole):
            yield from _visible(folder)


def _visible(folder: str) -> Iterator[tuple[str, int]]:
    """The names below a folder, and the contents of what is not hidden in it: a home may be such a folder."""
    if not os.path.isdir(folder):
        yield folder, READ_FILE
        return
    yield folder, READ_DIR
    for name in os.listdir(folder):
        inside = os.path.join(folder, name)
        if not name.startswith(".") and not os.path.islink(inside):
            yield inside, READ_FILE | READ_DIR if os.path.isdir(inside) else READ_FILE


# System calls


def _filter_calls() -> None:
    code = b"".join(_program())
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(buffer))
    _require(_library().prctl(PR_SET_SECCOMP, SECCOMP_FILTER, ctypes.c_char_p(program), 0, 0), "a seccomp filter")


def _program() -> Iterator[bytes]:
    """Each test jumps over its own answer. Numbers of calls are compared one by one."""
    architecture, column = ARCHITECTURES[platform.machine()]
    yield _instruction(LOAD, ARCHITECTURE)
    yield from _unless(EQUALS, architecture, KILL)
    yield _instruction(LOAD, NUMBER)
    yield from _if(IS_AT_LEAST, HIGHEST, EPERM)
    for numbers in REFUSED.values():
        number = numbers[column]
        if number is not None:
            yield from _if(EQUALS, number, EPERM)
    for unknown in UNKNOWN_TO_LIBRARIES:
        yield from _if(EQUALS, unknown[column], ENOSYS)
    yield from _only(CLONE[column], 0, HAS_BITS, CLONE_THREAD)  # threads are made, processes are not
    for signalling in (KILL_CALL, TGKILL):
        yield from _only(signalling[column], 0, EQUALS, os.getpid())
    yield from _only(PRLIMIT[column], 0, EQUALS, 0)
    yield from _only(IOCTL[column], 1, EQUALS, TCGETS, TCGETS2, TIOCGWINSZ, *HARMLESS)
    yield from _never(FCNTL[column], 1, EQUALS, F_SETOWN, F_SETSIG, F_SETOWN_EX)
    yield from _never(OPENAT[column], 2, HAS_BITS, O_TRUNC)
    if (call := OPEN[column]) is not None:
        yield from _never(call, 1, HAS_BITS, O_TRUNC)
    is_shared = [*_unless(HAS_BITS, MAP_ANONYMOUS, ALLOW), *_if(HAS_BITS, MAP_SHARED, EPERM)]
    yield from _by_argument(MMAP[column], 3, [*_if(HAS_BITS, MAP_GROWSDOWN, EPERM), *is_shared], ALLOW)
    yield _instruction(ANSWER, ALLOW)


def _instruction(code: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, operand)


def _if(test: int, operand: int, answer: int) -> Iterator[bytes]:
    yield _instruction(test, operand, 0, 1)
    yield _instruction(ANSWER, answer)


def _unless(test: int, operand: int, answer: int) -> Iterator[bytes]:
    yield _instruction(test, operand, 1, 0)
    yield _instruction(ANSWER, answer)


def _only(number: int, argument: int, test: int, *operands: int) -> Iterator[bytes]:
    """The call is allowed if its argument passes one of the tests."""
    return _by_argument(number, argument, [i for operand in operands for i in _if(test, operand, ALLOW)], EPERM)


def _never(number: int, argument: int, test: int, *operands: int) -> Iterator[bytes]:
    """The call is refused if its argument passes one of the tests."""
    return _by_argument(number, argument, [i for operand in operands for i in _if(test, operand, EPERM)], ALLOW)


def _by_argument(number: int, argument: int, tests: list[bytes], otherwise: int) -> Iterator[bytes]:
    """Of the call the argument is loaded, so what follows cannot look at its number: it is answered here."""
    yield _instruction(EQUALS, number, 0, len(tests) + 2)
    yield _instruction(LOAD, FIRST_ARGUMENT + WORD * argument)
    yield from tests
    yield _instruction(ANSWER, otherwise)
