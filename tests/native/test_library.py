"""Story: the library is found, believed only if its version and layouts fit, and tells what it can do."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from eliza_catalog.errors import NativeError
from eliza_catalog.terms import Backend, Kernel
from eliza_native import abi
from eliza_native.library import ENVIRONMENT_NAME, Library, library_name, open_library, symbols_of
from eliza_native.seam import FFI

ROOT = Path(__file__).parents[2]
HEADER = (ROOT / "native" / "include" / "eliza" / "inference.h").read_text(encoding="utf-8")
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
LIFECYCLE = symbols_of("lifecycle")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="NEEDS a C compiler")


def declared_in_header() -> dict[str, str]:
    """Return symbol to declaration, white space and parameter names apart."""
    found = re.findall(r"ELIZA_API\s+([^;]+?\b(eliza_inference_\w+)\s*\([^;]*\))\s*;", HEADER)
    return {name: squeezed(text) for text, name in found}


def squeezed(declaration: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"\s*([*(),])\s*", r"\1", declaration)).strip()


def make_library(folder: Path, version: str, extra: tuple[str, ...] = (), without: str = "") -> Path:
    """Compile a library that answers with `version` and has the lifecycle symbols, `extra`, and not `without`."""
    source, library = folder / "other.c", folder / library_name()
    names = [name for name in (*LIFECYCLE, *extra) if name not in ("eliza_inference_abi_version", without)]
    lines = [f'const char *eliza_inference_abi_version(void) {{ return "{version}"; }}']
    source.write_text("\n".join(lines + [f"void {name}(void) {{}}" for name in names]), encoding="utf-8")
    assert COMPILER is not None
    subprocess.run([COMPILER, "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def test_a_missing_file_is_told_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(NativeError) as caught:
        open_library(tmp_path / "absent.so")
    assert caught.value.code == "native.library_absent"
    assert str(tmp_path) in str(caught.value.details["path"])


def test_a_file_that_is_no_library_is_refused(tmp_path: Path) -> None:
    (tmp_path / library_name()).write_text("words", encoding="utf-8")
    with pytest.raises(NativeError) as caught:
        open_library(tmp_path / library_name())
    assert caught.value.code == "native.library_absent"


@needs_compiler
def test_a_library_of_somebody_else_is_refused_with_the_missing_symbol(tmp_path: Path) -> None:
    with pytest.raises(NativeError) as caught:
        open_library(make_library(tmp_path, "14", without="eliza_inference_destroy"))
    assert caught.value.code == "native.symbol_absent"
    assert caught.value.details["symbols"] == ["eliza_inference_destroy"]


@needs_compiler
@pytest.mark.parametrize("version", ["2", "16", "", "14.0", "-14", "fourteen"])
def test_another_version_is_refused(tmp_path: Path, version: str) -> None:
    with pytest.raises(NativeError) as caught:
        open_library(make_library(tmp_path, version))
    assert caught.value.code == "native.abi_mismatch"
    assert caught.value.details["abi"] == version


@needs_compiler
@pytest.mark.parametrize(
    ("version", "symbol"), [(str(version), name) for version, names in abi.ACCEPTED.items() for name in names]
)
def test_an_old_version_with_a_newer_symbol_is_not_believed(tmp_path: Path, version: str, symbol: str) -> None:
    with pytest.raises(NativeError) as caught:
        open_library(make_library(tmp_path, version, extra=(symbol,)))
    assert caught.value.details["unexpected_symbols"] == [symbol]


@needs_compiler
@pytest.mark.parametrize("version", sorted(abi.ACCEPTED))
def test_every_accepted_version_opens_with_what_it_has(tmp_path: Path, version: int) -> None:
    opened = open_library(make_library(tmp_path, str(version)))
    assert opened.abi == version
    families = opened.report().families
    assert families["lifecycle"]
    assert not any(there for name, there in families.items() if name != "lifecycle")
    with pytest.raises(NativeError) as caught:
        opened.function("eliza_inference_vad_open")
    assert caught.value.code == "native.symbol_absent"
    assert caught.value.details["symbol"] == "eliza_inference_vad_open"


@needs_compiler
def test_the_environment_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_library(tmp_path, "14")
    monkeypatch.setenv(ENVIRONMENT_NAME, str(path))
    assert open_library().path == path
    assert open_library() is open_library(path)


def test_a_layout_that_differs_is_refused_before_the_first_call(
    library: Library, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(abi, "LAYOUTS", {"EliVerifierEvent": (40, {"rejected_from": 12})})
    copy = shutil.copy(library.path, tmp_path / library_name())
    with pytest.raises(NativeError) as caught:
        open_library(Path(copy))
    assert caught.value.code == "native.abi_mismatch"
    assert caught.value.details["struct"] == "EliVerifierEvent"


def test_every_field_of_every_struct_has_its_offset_checked() -> None:
    for name, (size, offsets) in abi.LAYOUTS.items():
        fields = FFI.typeof(name).fields
        assert {field: place.offset for field, place in fields} == dict(offsets)
        assert FFI.sizeof(name) == size


def test_the_declarations_are_the_headers() -> None:
    header = declared_in_header()
    assert len(header) > 60
    for family in abi.FAMILIES.values():
        for declaration in filter(None, map(str.strip, family.declarations.split(";"))):
            name = re.search(r"eliza_inference_\w+", declaration)
            assert name is not None
            assert squeezed(declaration) == header[name.group()]


def test_the_constants_are_the_headers() -> None:
    for name, value in re.findall(r"#define ELIZA_(OK|ERR_\w+)\s+\(?(-?\d+)\)?", HEADER):
        assert getattr(abi, name) == int(value)
    assert f"#define ELIZA_INFERENCE_ABI_VERSION {abi.ABI_VERSION}" in HEADER


def test_the_library_exports_all_that_the_header_promises(library: Library) -> None:
    ffi = abi.make_ffi()
    ffi.cdef("".join(f"void {name}(void);" for name in declared_in_header()), override=True)
    lib = ffi.dlopen(str(library.path))
    assert all(hasattr(lib, name) for name in declared_in_header())


@pytest.mark.skipif(shutil.which("nm") is None or sys.platform != "linux", reason="NEEDS nm on Linux")
def test_the_library_exports_nothing_else(library: Library) -> None:
    told = subprocess.run(
        ["nm", "-D", "--defined-only", str(library.path)], capture_output=True, text=True, check=True
    ).stdout
    exported = {line.split()[-1].split("@")[0] for line in told.splitlines()}
    assert exported == set(declared_in_header())


def test_the_report_tells_what_was_built(library: Library) -> None:
    report = library.report()
    assert (report.abi, report.path) == (14, library.path)
    for ready in (
        "lifecycle",
        "report",
        "llm_stream",
        "llm_mtp",
        "tokenize",
        "verifier",
        "vad",
        "kokoro_ipa",
        "asr_stream",
    ):
        assert report.families[ready], ready
    for later in ("embed", "llm_eot", "wakeword", "speaker", "diariz", "vision", "vision_stream"):
        assert not report.families[later], later
    assert Kernel("mtp") in report.kernels
    assert {"f16", "q8_0"} <= set(report.kv_types)
    assert re.fullmatch(r"[0-9a-f]{40}|named-tree", report.llama_commit)
    assert re.fullmatch(r"\d+\.\d+\.\d+", report.ggml_version)


def test_the_report_tells_the_cpu_with_its_memory(library: Library) -> None:
    cpu = next(each for each in library.report().backends if each.term is Backend.CPU)
    assert cpu.devices[0].kind == "cpu"
    assert cpu.devices[0].memory_total_bytes >= cpu.devices[0].memory_free_bytes > 0
    assert library.report().cpu_features
