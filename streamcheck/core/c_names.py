"""Which identifiers C cannot have, or has with another meaning, and what they become.

A name can meet a macro (of a header, or one that a compiler predefines), a keyword of C or of C++, a function or type
of the standard library or a function that compilers know without its header, and what the generated code defines
itself. Macros have names in capitals, nearly always: all names in capitals are changed. The others are listed.
"""

from __future__ import annotations

import re

KEYWORDS = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if inline int long "
    "register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while "
    "bool true false asm typeof typeof_unqual alignas alignof constexpr nullptr static_assert thread_local "
    "noreturn and and_eq bitand bitor catch class co_await co_return co_yield compl concept const_cast consteval "
    "constinit decltype delete dynamic_cast explicit export friend mutable namespace new noexcept not not_eq "
    "operator or or_eq private protected public reinterpret_cast requires static_cast template this throw try "
    "typeid typename using virtual wchar_t xor xor_eq far near huge interrupt fortran pascal vector pixel".split()
)
PREDEFINED = frozenset(  # macros in small letters of gcc and clang, on any machine; with the older names of machines
    "linux unix i386 mips sparc sun vax sgi hpux arm m68k mc68000 mc68010 mc68020 ns32000 pdp11 pyr tahoe "
    # macros of signal.h, for members
    "sa_handler sa_sigaction si_addr si_addr_lsb si_arch si_band si_call_addr si_fd si_int si_lower si_overrun "
    "si_pid si_pkey si_ptr si_status si_stime si_syscall si_timerid si_uid si_upper si_utime si_value "
    "sigev_notify_attributes sigev_notify_function".split()
)
MATH = "acos asin atan atan2 ceil cos cosh exp fabs floor fmod frexp ldexp log log10 modf pow sin sinh sqrt tan tanh"
MORE_MATH = (
    "acosh asinh atanh cbrt copysign erf erfc exp2 expm1 fdim fma fmax fmin hypot ilogb lgamma llrint llround "
    "log1p log2 logb lrint lround nan nearbyint nextafter nexttoward remainder remquo rint round scalbln scalbn "
    "tgamma trunc cabs cacos cacosh carg casin casinh catan catanh ccos ccosh cexp cimag clog conj cpow cproj "
    "creal csin csinh csqrt ctan ctanh drem exp10 finite gamma isinf isnan j0 j1 jn pow10 scalb significand "
    "sincos y0 y1 yn cexp10 clog10 signbit lgamma_r gamma_r acospi asinpi atanpi cospi sinpi tanpi fadd fsub fmul "
    "fdiv fsqrt ffma roundeven nextup nextdown canonicalize fromfp ufromfp fmaxmag fminmag llogb totalorder "
    "getpayload setpayload"
)
LIBRARY = frozenset(
    "abort abs aligned_alloc alloca asctime assert at_quick_exit atexit atof atoi atol atoll basename bcmp bcopy "
    "bsearch btowc bzero c16rtomb c32rtomb call_once calloc clearerr clock close cnd_broadcast cnd_destroy "
    "cnd_init cnd_signal cnd_timedwait cnd_wait complex ctime dadd dsub dmul ddiv dsqrt dfma dcgettext dgettext "
    "difftime div environ errno execl execle execlp execv execve execvp exit explicit_bzero fclose feclearexcept "
    "fegetenv fegetexceptflag fegetround feholdexcept feof feraiseexcept ferror fesetenv fesetexceptflag "
    "fesetround fetestexcept feupdateenv fflush ffs ffsl ffsll fgetc fgetpos fgets fgetwc fgetws fopen fork "
    "fpclassify fprintf fputc fputs fputwc fputws fread free freopen fscanf fseek fsetpos ftell fwide fwprintf "
    "fwrite fwscanf getc getchar getenv gets getwc getwchar gettext gmtime imaginary imaxabs imaxdiv index "
    "isalnum isalpha isascii isblank iscntrl isdigit isfinite isgraph isgreater isgreaterequal isless islessequal "
    "islessgreater islower isnormal isprint ispunct isspace isunordered isupper isxdigit iswalnum iswalpha "
    "iswblank iswcntrl iswctype iswdigit iswgraph iswlower iswprint iswpunct iswspace iswupper iswxdigit iseqsig "
    "issignaling issubnormal iszero iscanonical kill_dependency labs lconv ldiv llabs lldiv localeconv localtime "
    "longjmp main malloc math_errhandling mblen mbrlen mbrtoc16 mbrtoc32 mbrtowc mbsinit mbsrtowcs mbstowcs "
    "mbtowc memccpy memchr memcmp memcpy memfrob memmem memmove memory_order mempcpy memrchr memset mktime "
    "mtx_destroy mtx_init mtx_lock mtx_timedlock mtx_trylock mtx_unlock offsetof once_flag open perror posix_memalign "
    "printf printf_unlocked putc putc_unlocked putchar putchar_unlocked puts puts_unlocked putwc putwchar qsort "
    "quick_exit raise rand rawmemchr read realloc remove rename rewind rindex scanf setbuf setjmp setlocale "
    "setvbuf siglongjmp signal signgam sigsetjmp sigmask snprintf sprintf srand sscanf stderr stdin stdout stpcpy "
    "stpncpy strcasecmp strcasecmp_l strcasestr strcat strchr strchrnul strcmp strcoll strcoll_l strcpy strcspn "
    "strdup strdupa strerror strerror_l strerror_r strerrordesc_np strerrorname_np strfmon strfry strftime "
    "strlcat strlcpy strlen strncasecmp strncasecmp_l strncat strncmp strncpy strndup strndupa strnlen strpbrk "
    "strptime strrchr strsep strsignal strspn strstr strtod strtof strtoimax strtok strtok_r strtol strtold "
    "strtoll strtoul strtoull strtoumax strverscmp strxfrm strxfrm_l sigabbrev_np sigdescr_np swprintf swscanf "
    "system thrd_create thrd_current thrd_detach thrd_equal thrd_exit thrd_join thrd_sleep thrd_yield time "
    "timespec timespec_get tm tmpfile tmpnam toascii tolower toupper towctrans towlower towupper tss_create "
    "tss_delete tss_get tss_set ungetc ungetwc unlink va_arg va_copy va_end va_list va_start vfprintf vfscanf "
    "vfwprintf vfwscanf vprintf vscanf vsnprintf vsprintf vsscanf vswprintf vswscanf vwprintf vwscanf wcrtomb "
    "wcscat wcschr wcscmp wcscoll wcscpy wcscspn wcsftime wcslen wcsncat wcsncmp wcsncpy wcspbrk wcsrchr "
    "wcsrtombs wcsspn wcsstr wcstod wcstof wcstoimax wcstok wcstol wcstold wcstoll wcstombs wcstoul "
    "wcstoull wcstoumax wcsxfrm wctob wctomb wctrans wctype wmemchr wmemcmp wmemcpy wmemmove wmemset "
    "wprintf write wscanf".split()
)
FUNCTIONS = LIBRARY | {f"{name}{suffix}" for name in f"{MATH} {MORE_MATH}".split() for suffix in ("", "f", "l")}
FUNCTIONS |= {f"{name}f_r" for name in ("lgamma", "gamma")} | {f"{name}l_r" for name in ("lgamma", "gamma")}
OBJECTS = frozenset("complex environ errno imaginary math_errhandling signgam stderr stdin stdout".split())
HEADERS = frozenset(
    "alloca assert complex ctype endian errno fcntl features fenv float inttypes iso646 libc libio limits locale "
    "malloc math memory poll pthread sched search semaphore setjmp signal spawn stdalign stdarg stdatomic stdbit "
    "stdbool stdckdint stddef stdint stdio stdlib stdnoreturn string strings syslog tgmath threads time types "
    "uchar unistd values wait wchar wctype".split()
)
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
PATTERNS = re.compile(
    r"""_ | sc_ | SC_ | STREAMCHECK_             # reserved in C, or for the generated code
      | [A-Z][A-Z0-9_]+\Z | I\Z                  # macros
      | (PRI|SCN)[diouxX] | L_ctermid\Z | L_tmpnam\Z | P_tmpdir\Z
      | \w+_t\Z | atomic_                        # types of the library
      | \w+_unlocked\Z                          # functions that compilers know
      | [bl]e(16|32|64)toh\Z | hto[bl]e(16|32|64)\Z | is[a-z]+_l\Z | to[a-z]+_l\Z
    """,
    re.X,
)
SUFFIX = "_sc"


def is_identifier(name: str) -> bool:
    return bool(IDENTIFIER.match(name))


def c_name(name: str) -> str:
    """The name in C of something that the user has named: the name itself, if it can mean nothing else there."""
    if name.endswith(SUFFIX) and name[0].isalpha():
        return name
    if PATTERNS.match(name) or name in KEYWORDS or name in PREDEFINED or name in FUNCTIONS:
        return _other_name(name)
    return name


def member_name(name: str) -> str:
    """The name in C of a member of a struct, which a function of the library cannot meet."""
    return name if name in FUNCTIONS - OBJECTS else c_name(name)


def c_file_name(name: str) -> str:
    """The name in C of a spec: of its files, and what the names of its types and functions begin with."""
    return _other_name(name) if name.startswith(("_", "sc_", "SC_", "STREAMCHECK_")) or name in HEADERS else name


def _other_name(name: str) -> str:
    base = re.sub("__+", "_", name).strip("_")
    return f"{base if base[:1].isalpha() else 'u' + base}{SUFFIX}"
