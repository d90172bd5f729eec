"""`--with`: what the templates give is built against stubs of the frameworks, and runs; templates of one's own."""

from __future__ import annotations

import enum
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from c_harness import WARNINGS, have, run

from streamcheck import *
from streamcheck.codegen.unit import CodeOptions, generate
from streamcheck.core.errors import SpecError
from streamcheck.deliver.deliver import CompileRequest, compile_spec, write
from streamcheck.deliver.templates import Template, names_of_wrappers, wrap
from streamcheck.lang.flatten import flatten
from streamcheck.run.prove import Settings

COMMAND = str(Path(sys.executable).parent / "streamcheck")
CPP = "-std=c++17 -Wall -Wextra -Werror".split()


class Mode(enum.Enum):
    IDLE = 0
    BUSY = 1


@struct
class Spot:
    x: Float
    cells: Array(Word8, 2)


def scalars():
    level, far = extern("level", Word8, unit="m", doc="of the water"), extern("far", Double)
    wide, mode = extern("wideWord", Int64), extern("mode", EnumOf(Mode))
    on = extern("on", Bool)
    count = stream(Word16, lambda n: [0] + +(n + 1))
    spec = Spec("tank")
    spec.trigger("high", level > 200, {"level": level, "count": count, "far": far})
    spec.trigger("allOf", on, {"wide": wide, "mode": mode, "on": on})
    spec.trigger("quiet", count > 2)
    return spec


def composites():
    spot, cells = extern("spot", Spot), extern("cells", Array(Int16, 3))
    spec = Spec("spots")
    spec.trigger("seen", cells[0] > 3, {"spot": spot, "cells": cells})
    return spec


def written(spec, folder, *extras, **options):
    request = CompileRequest(CodeOptions(**options), extras=extras, settings=Settings(10.0, 1))
    result = compile_spec(flatten(spec), request)
    assert result.ready
    write(result, str(folder))


def data_of(spec, **options):
    return generate(flatten(spec), CodeOptions(**options)).interface


# Arduino

ARDUINO = """\
#include <cstdio>
#include <cstdint>
struct Port {
    void begin(long) {}
    void print(const char *text) { std::printf("%s", text); }
    void print(double x) { std::printf("%g", x); }
    void print(long x) { std::printf("%ld", x); }
    void print(unsigned long x) { std::printf("%lu", x); }
    void print(long long x) { std::printf("%lld", x); }
    void print(unsigned long long x) { std::printf("%llu", x); }
    void print(int x) { std::printf("%d", x); }
    void println() { std::printf("\\n"); }
};
static Port Serial;
static void delay(unsigned long) {}
#include SKETCH
int main() { setup(); for (int i = 0; i < 5; i++) loop(); }
"""


@pytest.mark.skipif(not have("gcc", "g++"), reason="no g++ here")
@pytest.mark.parametrize("spec", [scalars, composites])
def test_an_arduino_sketch(tmp_path, spec):
    written(spec(), tmp_path, "arduino")
    name = spec().name
    library = tmp_path / "arduino" / name
    assert f"includes={name}.h" in (library / "library.properties").read_text()
    sketch = library / "examples" / f"{name}_monitor" / f"{name}_monitor.ino"
    (tmp_path / "host.cpp").write_text(ARDUINO.replace("SKETCH", f'"{sketch}"'))
    run(["gcc", *WARNINGS, "-c", library / "src" / f"{name}.c", "-o", "monitor.o"], tmp_path)
    run(["g++", *CPP, "-I", library / "src", "host.cpp", "monitor.o", "-o", "host", "-lm"], tmp_path)
    assert run(["./host"], tmp_path) == ("quiet\nquiet\n" if spec is scalars else "")


# ROS 2: messages are made into structs as ROS does it, so the .msg files are used too.

ROS = """\
#pragma once
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
namespace rclcpp {
template <class M> struct Publisher {
    using SharedPtr = std::shared_ptr<Publisher>;
    std::string topic;
    void publish(const M &message) { std::printf("%s:", topic.c_str()); show(message); std::printf("\\n"); }
};
template <class M> struct Subscription {
    using SharedPtr = std::shared_ptr<Subscription>;
    std::function<void(const M &)> callback;
};
extern std::function<void()> feed;
struct Node {
    explicit Node(const std::string &) {}
    template <class M> typename Publisher<M>::SharedPtr create_publisher(const std::string &topic, int)
    {
        return std::make_shared<Publisher<M>>(Publisher<M>{topic});
    }
    template <class M, class F> typename Subscription<M>::SharedPtr create_subscription(const std::string &, int, F f)
    {
        auto made = std::make_shared<Subscription<M>>(Subscription<M>{f});
        feed = [made] { for (int i = 0; i < 2; i++) made->callback(a_message(static_cast<M *>(nullptr))); };
        return made;
    }
};
inline void init(int, char **) {}
inline void shutdown() {}
template <class N> void spin(std::shared_ptr<N>) { feed(); }
}
"""


def ros_header(folder, package, name):
    """The C++ that ROS makes of a message, as far as it is used here."""
    lines, shows = [], []
    assert re.fullmatch("[A-Z][A-Za-z0-9]*", name)
    for line in (folder / "msg" / f"{name}.msg").read_text().splitlines():
        declared = line.partition("#")[0].split()
        if declared:
            type, field = declared
            assert re.fullmatch("[a-z](_?[a-z0-9])*", field)
            base, _, length = type.partition("[")
            known = {"float32": "float", "float64": "double", "bool": "bool"}
            cpp = known.get(base) or (f"std::{base}_t" if base[-1].isdigit() else base)
            lines.append(f"    {f'std::array<{cpp}, {length[:-1]}>' if length else cpp} {field}{{}};")
            shows.append(f'std::printf(" %g", (double)m.{field});' if not length and base[0].islower() else "")
    struct = "\n".join([f"struct {name} {{", *lines, "};"])
    shown = f"inline void show(const {name} &m) {{ (void)m; {' '.join(shows)} }}"
    return f"namespace {package}::msg {{\n{struct}\n{shown}\n}}\n"


@pytest.mark.skipif(not have("gcc", "g++"), reason="no g++ here")
@pytest.mark.parametrize(
    ("spec", "filled", "wanted"),
    [
        (
            scalars,
            "m.level = 201; m.far = 2.5; m.wide_word = -7; m.mode = 1; m.on = true;",
            ["~/high: 201 0 2.5", "~/all_of: -7 1 1", "~/high: 201 1 2.5", "~/all_of: -7 1 1"],
        ),
        (composites, "m.cells = {4, 5, 6}; m.spot.x = 1; m.spot.cells[1] = 9;", ["~/seen:", "~/seen:"]),
    ],
)
def test_a_ros_node(tmp_path, spec, filled, wanted):
    written(spec(), tmp_path, "ros2", handlers="context")
    name = spec().name
    package, include = tmp_path / "ros2" / f"{name}_monitor", tmp_path / "include"
    cmake = (package / "CMakeLists.txt").read_text()
    messages = re.findall(r'"msg/(\w+)\.msg"', cmake)
    assert {p.stem for p in (package / "msg").iterdir()} == set(messages)
    headers = include / f"{name}_monitor" / "msg"
    headers.mkdir(parents=True)
    everything = include / f"{name}_monitor" / "all.hpp"
    texts = [ros_header(package, f"{name}_monitor", m) for m in sorted(messages, key=lambda m: (m != "Spot", m))]
    everything.write_text("#pragma once\n#include <array>\n#include <cstdint>\n#include <cstdio>\n" + "".join(texts))
    for message in messages:
        snake = re.sub("(?<=[a-z])(?=[A-Z])", "_", message).lower()
        (headers / f"{snake}.hpp").write_text(f'#include "{name}_monitor/all.hpp"\n')
    fill = f"namespace {name}_monitor::msg {{ inline Inputs a_message(Inputs *) {{ Inputs m; {filled} return m; }} }}\n"
    (include / "rclcpp").mkdir()
    (include / "rclcpp" / "rclcpp.hpp").write_text(ROS)
    body = f'#include "{name}_monitor/all.hpp"\n{fill}#include "{package}/src/{name}_node.cpp"\n'
    (tmp_path / "host.cpp").write_text(body + "std::function<void()> rclcpp::feed;\n")
    run(["gcc", *WARNINGS, "-c", package / "src" / "generated" / f"{name}.c", "-o", "monitor.o"], tmp_path)
    flags = [*CPP, "-I", include, "-I", package / "src" / "generated"]
    run(["g++", *flags, "host.cpp", "monitor.o", "-o", "host", "-lm"], tmp_path)
    assert run(["./host"], tmp_path).splitlines() == wanted


# cFS

CFE = """\
#ifndef CFE_H
#define CFE_H
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
typedef uint32_t uint32; typedef uint16_t uint16; typedef int32_t CFE_Status_t;
typedef size_t CFE_MSG_Size_t; typedef uint32 CFE_SB_PipeId_t; typedef uint32 CFE_SB_MsgId_t;
typedef struct { size_t size; } CFE_MSG_Message_t;
typedef struct { CFE_MSG_Message_t Msg; } CFE_MSG_CommandHeader_t;
typedef union { CFE_MSG_Message_t Msg; double align; } CFE_SB_Buffer_t;
enum { CFE_SUCCESS = 0, CFE_ES_RunStatus_APP_RUN = 1, CFE_ES_RunStatus_APP_ERROR = 3, CFE_SB_PEND_FOREVER = -1 };
enum { CFE_EVS_EventType_ERROR = 3, CFE_EVS_EventFilter_BINARY = 0 };
CFE_SB_MsgId_t CFE_SB_ValueToMsgId(uint32 value);
CFE_Status_t CFE_EVS_Register(const void *filters, uint16 count, uint16 scheme);
CFE_Status_t CFE_EVS_SendEvent(uint16 id, uint16 type, const char *text, ...) __attribute__((format(printf, 3, 4)));
CFE_Status_t CFE_SB_CreatePipe(CFE_SB_PipeId_t *pipe, uint16 depth, const char *name);
CFE_Status_t CFE_SB_Subscribe(CFE_SB_MsgId_t id, CFE_SB_PipeId_t pipe);
CFE_Status_t CFE_SB_ReceiveBuffer(CFE_SB_Buffer_t **buffer, CFE_SB_PipeId_t pipe, int timeout);
CFE_Status_t CFE_MSG_GetSize(const CFE_MSG_Message_t *message, CFE_MSG_Size_t *size);
int CFE_ES_RunLoop(uint32 *status);
void CFE_ES_ExitApp(uint32 status);
#endif
"""
CFE_HOST = """\
#include "NAME_app.h"
static int left = 3;
static UPPER_InputsMsg_t message;
CFE_SB_MsgId_t CFE_SB_ValueToMsgId(uint32 value) { return value; }
CFE_Status_t CFE_EVS_Register(const void *f, uint16 c, uint16 s) { (void)f; (void)c; (void)s; return 0; }
CFE_Status_t CFE_EVS_SendEvent(uint16 id, uint16 type, const char *text, ...)
{
    va_list given;
    va_start(given, text);
    (void)type;
    printf("%d ", id);
    vprintf(text, given);
    printf("\\n");
    va_end(given);
    return 0;
}
CFE_Status_t CFE_SB_CreatePipe(CFE_SB_PipeId_t *p, uint16 d, const char *n) { *p = 1; (void)d; (void)n; return 0; }
CFE_Status_t CFE_SB_Subscribe(CFE_SB_MsgId_t id, CFE_SB_PipeId_t pipe) { return id == 0x1890 && pipe == 1 ? 0 : 1; }
CFE_Status_t CFE_SB_ReceiveBuffer(CFE_SB_Buffer_t **buffer, CFE_SB_PipeId_t pipe, int timeout)
{
    (void)pipe; (void)timeout;
    message.Header.Msg.size = left == 0 ? 1 : sizeof message;
    FILL
    *buffer = (CFE_SB_Buffer_t *)&message;
    return 0;
}
CFE_Status_t CFE_MSG_GetSize(const CFE_MSG_Message_t *m, CFE_MSG_Size_t *size) { *size = m->size; return 0; }
int CFE_ES_RunLoop(uint32 *status) { return *status == CFE_ES_RunStatus_APP_RUN && left-- > 0; }
void CFE_ES_ExitApp(uint32 status) { printf("exit %d\\n", (int)status); }
int main(void) { UPPER_AppMain(); return 0; }
"""


@pytest.mark.skipif(not have("gcc"), reason="no gcc here")
@pytest.mark.parametrize(
    ("spec", "filled", "wanted"),
    [
        (scalars, "message.Inputs.level = 250; message.Inputs.far_sc = 0.5;", "0 high level=250 count={} far=0.5"),
        (
            composites,
            "message.Inputs.cells[0] = 9; message.Inputs.spot.x = 2;",
            "0 seen spot.x=2 spot.cells[0]=0 spot.cells[1]=0 cells[0]=9 cells[1]=0 cells[2]=0",
        ),
    ],
)
def test_a_cfs_application(tmp_path, spec, filled, wanted):
    written(spec(), tmp_path, "cfs")
    name = spec().name
    app = tmp_path / "cfs" / f"{name}_app" / "fsw"
    (tmp_path / "cfe.h").write_text(CFE)
    host = CFE_HOST.replace("NAME", name).replace("UPPER", name.upper()).replace("FILL", filled)
    (tmp_path / "host.c").write_text(host)
    include = ["-I", tmp_path, "-I", app / "inc", "-I", app / "src"]
    sources = [app / "src" / f"{name}_app.c", app / "src" / f"{name}.c", "host.c"]
    run(["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", *include, *sources, "-o", "host", "-lm"], tmp_path)
    lines = run(["./host"], tmp_path).splitlines()
    assert lines[:2] == [wanted.format(0), wanted.format(1)] and "a message of" in lines[2] and lines[3] == "exit 1"


# F'

FPRIME = """\
#pragma once
#include <cstdint>
#include <cstdio>
typedef uint8_t U8; typedef uint16_t U16; typedef uint32_t U32; typedef uint64_t U64;
typedef int8_t I8; typedef int16_t I16; typedef int32_t I32; typedef int64_t I64; typedef float F32; typedef double F64;
typedef I16 FwIndexType;
namespace Monitors {
class BASEComponentBase {
public:
    explicit BASEComponentBase(const char *) {}
    virtual ~BASEComponentBase() = default;
    virtual void inputs_handler(FwIndexType portNumINPUTS) = 0;
OUTPUTS
};
}
"""


def ports(fpp):
    """The ports of an .fpp file, with their parameters."""
    found = {}
    for name, body in re.findall(r"port (\w+)\((.*?)\n  \)", fpp, re.S):
        rows = [line.partition("@<")[0].strip() for line in body.splitlines() if line.strip()]
        found[name] = [tuple(row.split(": ")) for row in rows]
    return found


@pytest.mark.skipif(not have("gcc", "g++"), reason="no g++ here")
def test_an_fprime_component(tmp_path):
    written(scalars(), tmp_path, "fprime", handlers="context")
    folder = tmp_path / "fprime" / "tank"
    fpp = (folder / "TankMonitor.fpp").read_text()
    known = ports(fpp)
    wanted = {("level", "U8"), ("far_sc", "F64"), ("wideWord", "I64"), ("mode", "I32"), ("on", "bool")}
    assert set(known["TankInputs"]) == wanted
    outputs = []
    for port, kind in re.findall(r"output port (\w+): (\w+)", fpp):
        parameters = "".join(f", {type} {name}" for name, type in known[kind])
        shows = "".join(f' std::printf(" %g", (double){name});' for name, _ in known[kind])
        outputs.append(f"    bool isConnected_{port}_OutputPort(FwIndexType) {{ return true; }}")
        outputs.append(
            f'    void {port}_out(FwIndexType{parameters}) {{ std::printf("{port}");{shows} std::puts(""); }}'
        )
    inputs = "".join(f", {type} {name}" for name, type in known["TankInputs"])
    base = FPRIME.replace("BASE", "TankMonitor").replace("INPUTS", inputs).replace("OUTPUTS", "\n".join(outputs))
    (tmp_path / "TankMonitorComponentAc.hpp").write_text(base)
    values = {"level": "201", "far_sc": "2.5", "wideWord": "-7", "mode": "1", "on": "true"}
    call = f"base.inputs_handler(0, {', '.join(values[name] for name, _ in known['TankInputs'])});"
    (tmp_path / "host.cpp").write_text(
        '#include "TankMonitor.hpp"\nint main() { Monitors::TankMonitor tank("tank");\n'
        f"Monitors::TankMonitorComponentBase &base = tank; {call} {call} }}\n"
    )
    run(["gcc", *WARNINGS, "-c", folder / "tank.c", "-o", "monitor.o"], tmp_path)
    flags = [*CPP, "-I", tmp_path, "-I", folder]
    run(["g++", *flags, "host.cpp", folder / "TankMonitor.cpp", "monitor.o", "-o", "host", "-lm"], tmp_path)
    assert run(["./host"], tmp_path).splitlines() == [
        "high 201 0 2.5",
        "allOf -7 1 1",
        "high 201 1 2.5",
        "allOf -7 1 1",
    ]


def test_what_a_wrapper_cannot_have_is_refused():
    for wrapper, spec, options, why in (
        ("fprime", composites(), {"handlers": "context"}, "passes scalars only"),
        ("fprime", scalars(), {}, "calls handlers in one form only"),
        ("ros2", scalars(), {"copilot": True}, "keeps the state in an object"),
        ("arduino", scalars(), {"handlers": "table"}, "calls handlers in one form only"),
    ):
        with pytest.raises(SpecError, match=why):
            wrap(wrapper, data_of(spec, **options) | {"version": "1", "headers": []}, {})


# CMake and pkg-config


@pytest.mark.skipif(not have("cmake", "gcc", "pkg-config"), reason="no cmake or pkg-config here")
def test_cmake_builds_and_installs_what_pkg_config_finds(tmp_path):
    written(scalars(), tmp_path / "tank", "cmake", "example")
    run(["cmake", "-B", "build", "-S", "tank"], tmp_path)
    run(["cmake", "--build", "build"], tmp_path)
    run(["cmake", "--install", "build", "--prefix", tmp_path / "there"], tmp_path)
    (where,) = (tmp_path / "there").rglob("pkgconfig")
    flags = run(["env", f"PKG_CONFIG_PATH={where}", "pkg-config", "--cflags", "--libs", "tank"], tmp_path).split()
    run(["gcc", "-std=c99", "tank/main.c", *flags, "-o", "main"], tmp_path)
    assert run(["./main"], tmp_path).splitlines() == ["quiet"] * 7
    user = 'cmake_minimum_required(VERSION 3.13)\nproject(user C)\nadd_executable(user "{}")\n{}\n'
    for i, line in enumerate(("add_subdirectory({0}/tank tank)", "find_package(tank CONFIG REQUIRED)")):
        target = "tank" if i == 0 else "tank::tank"
        lines = f"{line.format(tmp_path)}\ntarget_link_libraries(user PRIVATE {target})"
        (tmp_path / f"user{i}").mkdir()
        (tmp_path / f"user{i}" / "CMakeLists.txt").write_text(user.format(tmp_path / "tank" / "main.c", lines))
        run(["cmake", "-B", "b", "-S", ".", f"-DCMAKE_PREFIX_PATH={tmp_path / 'there'}"], tmp_path / f"user{i}")
        run(["cmake", "--build", "b"], tmp_path / f"user{i}")
        assert run(["b/user"], tmp_path / f"user{i}").splitlines() == ["quiet"] * 7


# Templates


def test_a_folder_of_templates(tmp_path):
    (tmp_path / "mine" / "NAME_docs").mkdir(parents=True)
    (tmp_path / "mine" / "NAME_docs" / "list.txt").write_text(
        "% for handler in handlers\n{{handler.name}}({{handler.arguments}}){{handler.comma}}\n"
        "% if handler.parameters\n%% has some\n% else\nhas none\n% end\n% end\n"
    )
    (tmp_path / "mine" / "EACH.txt").write_text("% each enum in enums\n{{enum.name}}\n")
    (tmp_path / "tank.py").write_text(
        'from streamcheck import *\nlevel = extern("level", Word8)\nspec = Spec("tank")\n'
        'spec.trigger("high", level > 200, {"level": level})\nspec.trigger("low", level < 3)\n'
    )
    command = [COMMAND, "compile", "tank.py", "-o", "out", "--with", "./mine", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    wanted = "high(level),\n% has some\nlow()\nhas none\n"
    assert (tmp_path / "out" / "tank_docs" / "list.txt").read_text() == wanted
    row = json.loads(done.stdout)
    assert "out/tank_docs/list.txt" in row["files"] and row["interface"]["handlers"][1]["name"] == "low"


def test_no_wrapper_of_this_name(tmp_path):
    (tmp_path / "a.py").write_text(
        'from streamcheck import *\nspec = Spec("a")\nspec.trigger("t", extern("x", Bool))\n'
    )
    done = subprocess.run(
        [COMMAND, "compile", "a.py", "-o", "out", "--with", "plane"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 2 and "there is no wrapper plane" in done.stderr and "arduino, cfs" in done.stderr


def test_two_specs_do_not_share_a_file(tmp_path):
    lines = 'from streamcheck import *\nx = extern("x", Bool)\na = Spec("a")\na.trigger("t", x)\n'
    (tmp_path / "two.py").write_text(lines + 'b = Spec("b")\nb.trigger("u", x)\n')
    command = [COMMAND, "compile", "two.py", "-o", "out", "--with"]
    done = subprocess.run([*command, "cmake"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and "CMakeLists.txt would be written for a and for b" in done.stderr
    done = subprocess.run([*command, "test"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{{handler.name}}", "there is no `handler`"),
        ("% for x\n% end", "names no list"),
        ("% if handlers", "no end for"),
        ("% end", "an end of nothing"),
        ("% unless x", "no command `unless`"),
    ],
)
def test_a_mistake_in_a_template_is_named_with_its_line(text, why):
    with pytest.raises(SpecError, match=why) as error:
        list(Template("t.txt", text).files(data_of(scalars())))
    assert "t.txt:1" in str(error.value)


def test_the_wrappers_are_those_of_the_help():
    shown = subprocess.run([COMMAND, "compile", "--help"], capture_output=True, text=True).stdout
    assert all(name in shown for name in names_of_wrappers()) and len(names_of_wrappers()) == 7
