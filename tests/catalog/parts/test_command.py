"""Story: one command makes a hub for demonstrations, or says in one document why it cannot."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import eliza_catalog

SOURCE = str(Path(eliza_catalog.__file__).parents[1])


def run(code: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    whole = {**os.environ, "PYTHONPATH": SOURCE, **environment}
    return subprocess.run(
        [sys.executable, *code.split(), *arguments], env=whole, capture_output=True, text=True, timeout=60, check=False
    )


def test_without_a_network_it_says_so_and_leaves_no_hub(tmp_path: Path) -> None:
    offline = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": str(tmp_path)}
    ended = run(
        "-m eliza_catalog.parts tiny", "--out", str(tmp_path / "hub"), "--cache", str(tmp_path / "c"), **offline
    )
    assert ended.returncode == 4
    announced, _, document = ended.stderr.partition("\n")
    assert "speech detector" in announced
    assert "MiB" in announced
    assert json.loads(document)["code"] == "download.offline"
    assert not (tmp_path / "hub").exists()


def test_without_the_publishers_packages_it_says_which_to_install(tmp_path: Path) -> None:
    script = tmp_path / "bare.py"
    script.write_text(
        "import sys\nfrom eliza_catalog.parts.__main__ import main\n"
        "class Bare:\n    def find_spec(self, name, *_):\n"
        "        if name == 'numpy':\n            raise ModuleNotFoundError('no numpy', name='numpy')\n"
        "sys.meta_path.insert(0, Bare())\nsys.exit(main(['tiny', '--out', sys.argv[1]]))\n"
    )
    ended = run(str(script), str(tmp_path / "hub"))
    assert ended.returncode == 2
    assert "eliza-agent[publisher]" in json.loads(ended.stderr)["remedy"]
