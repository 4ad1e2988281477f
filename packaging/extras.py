"""Print the requirements of one optional group of pyproject.toml, one per line, ready for pip.

`pip install .[test]` would build the native library a second time; this installs the extra alone.
"""

import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"

if __name__ == "__main__":
    document = tomllib.loads(PYPROJECT.read_text("utf-8"))
    print("\n".join(document["project"]["optional-dependencies"][sys.argv[1]]))
