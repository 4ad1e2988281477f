"""A llama.cpp tree that has the TurboQuant types, made of the pinned one and our own references.

Stands in for a fork with these types: same names and layouts, numbers of its own. Three types multiply, two have
only the place for a score operation that is not there, as in that fork.
"""

from __future__ import annotations

from pathlib import Path

KERNELS = Path(__file__).parents[2] / "native" / "kernels" / "reference"
# name, values and bytes of a block, and whether a product exists
TYPES = (
    ("tbq3_0", 32, 14, "tbq3"),
    ("tbq4_0", 32, 18, "tbq4"),
    ("qjl1_256", 128, 34, ""),
    ("q4_polar", 128, 82, "polar"),
    ("tbq3_tcq", 128, 52, ""),
)
_DOT = "int n, float * s, size_t bs, const void * x, size_t bx, const void * y, size_t by, int nrc"
_FIRST = 44
_COUNT = "GGML_TYPE_COUNT   = 43,"


def make_tree(pinned: Path, into: Path) -> Path:
    """Write the tree into an empty folder and return it: links to the pinned files, but for the four that change."""
    for folder in (each for each in pinned.iterdir() if each.is_dir()):
        _link_all(pinned, into, folder.name)
    for file in (each for each in pinned.iterdir() if each.is_file()):
        (into / file.name).symlink_to(file)
    _change(into / "ggml/include/ggml.h", _COUNT, f"GGML_TYPE_COUNT   = {_FIRST + len(TYPES)},", _numbers())
    table = "static const struct ggml_type_traits{0} type_traits{0}[GGML_TYPE_COUNT] = {{"
    _change(into / "ggml/src/ggml.c", table.format(""), _traits())
    _change(into / "ggml/src/ggml-cpu/ggml-cpu.c", table.format("_cpu"), _cpu_traits())
    (into / "ggml/src/turboquant.h").write_text(_declarations(), "utf-8")
    write_products(into)
    lists = into / "ggml/src/CMakeLists.txt"
    text = lists.read_text("utf-8")
    lists.unlink()
    sources = " ".join(f'"{path.as_posix()}"' for path in sorted(KERNELS.glob("*.c")) if path.name != "sets.c")
    target = f"target_sources(ggml-base PRIVATE turboquant.c {sources})\n"
    folders = f'target_include_directories(ggml-base PRIVATE "{KERNELS.as_posix()}")\n'
    lists.write_text(text + target + folders, "utf-8")
    return into


def write_products(tree: Path, *, spoiled: str = "") -> None:
    """Write the code of the types; `spoiled` names one whose product is to be wrong."""
    (tree / "ggml/src/turboquant.c").write_text(_rows(spoiled), "utf-8")


def _link_all(pinned: Path, into: Path, folder: str) -> None:
    for file in (pinned / folder).rglob("*"):
        if file.is_file():
            target = into / file.relative_to(pinned)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(file)


def _change(path: Path, before: str, *after: str) -> None:
    """Replace the line `before` by itself or its successor, with more lines before (enum) or behind (tables)."""
    text = path.read_text("utf-8")
    if path.suffix == ".c":
        place = "../" if path.parent.name == "ggml-cpu" else ""
        text = f'#include "{place}turboquant.h"\n' + text
    assert text.count(before) == 1, f"{path.name} is not the file that was expected"
    path.unlink()
    changed = after[1] + after[0] if len(after) == 2 else before + after[0]
    path.write_text(text.replace(before, changed), "utf-8")


def _enumerator(name: str) -> str:
    return f"GGML_TYPE_{name.upper()}"


def _numbers() -> str:
    return "".join(f"{_enumerator(name)} = {_FIRST + at},\n        " for at, (name, *_) in enumerate(TYPES))


def _traits() -> str:
    rows = []
    for name, values, size, kernel in TYPES:
        functions = f" .to_float = {kernel}_to_float, .from_float_ref = {kernel}_from_float," if kernel else ""
        rows.append(
            f'[{_enumerator(name)}] = {{ .type_name = "{name}", .blck_size = {values}, .type_size = {size},'
            f" .is_quantized = true,{functions} }},"
        )
    return "\n" + "\n".join(rows)


def _cpu_traits() -> str:
    rows = [
        f"[{_enumerator(name)}] = {{ .from_float = {kernel}_from_float, .vec_dot = {kernel}_vec_dot,"
        f" .vec_dot_type = GGML_TYPE_F32, .nrows = 1 }},"
        for name, _, _, kernel in TYPES
        if kernel
    ]
    return "\n" + "\n".join(rows)


def _declarations() -> str:
    lines = ["#pragma once", "#include <stddef.h>", "#include <stdint.h>"]
    for _, _, _, kernel in TYPES:
        if kernel:
            lines += [
                f"void {kernel}_from_float(const float * x, void * y, int64_t n);",
                f"void {kernel}_to_float(const void * x, float * y, int64_t n);",
                f"void {kernel}_vec_dot({_DOT});",
            ]
    return "\n".join(lines) + "\n"


def _rows(spoiled: str) -> str:
    out = ['#include "turboquant.h"\n#include "eliza_kernels.h"\n']
    for name, values, size, kernel in TYPES:
        if not kernel:
            continue
        decode = f"eliza_{kernel}_decode(b, y + i)" if kernel != "polar" else "eliza_polar_decode(b, 0, y + i)"
        score = f"eliza_{kernel}_score((const float *) y + i, b)"
        if name == spoiled:  # every other block with the wrong sign
            score = f"(i % {2 * values} ? -1.0f : 1.0f) * {score}"
        walk = f"for (int64_t i = 0; i < n; i += {values}, b += {size})"
        out.append(f"""
void {kernel}_from_float(const float * x, void * y, int64_t n) {{
    uint8_t * b = y;
    {walk} {{ eliza_{kernel}_encode(x + i, b); }}
}}
void {kernel}_to_float(const void * x, float * y, int64_t n) {{
    const uint8_t * b = x;
    {walk} {{ {decode}; }}
}}
void {kernel}_vec_dot({_DOT}) {{
    (void) bs; (void) bx; (void) by; (void) nrc;
    const uint8_t * b = x;
    *s = 0.0f;
    {walk} {{ *s += {score}; }}
}}
""")
    return "".join(out)
