"""Make a virtual environment on a bare Debian or Ubuntu machine, and say what is missing in plain words.

Debian ships python3 without `venv`'s pip wheels; where they are absent and we are root, the distribution's own
package is installed, else the command to do so is shown. Only the standard library is used: nothing else is
there yet.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

OLDEST = (3, 11)
WANTED = {
    "cmake": "cmake",
    "ninja": "ninja-build",
    "g++": "g++",
    "git": "git",
    "ccache": "ccache",
    "curl": "curl",
}
NEEDED = {"cmake", "g++"}


def apt_install(packages: list[str]) -> bool:
    """Install Debian packages as root; False where that is not possible."""
    if not packages or os.name != "posix" or os.geteuid() != 0 or not shutil.which("apt-get"):
        return not packages
    print("installing", *packages, flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-qq"], check=False, env=environment)
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
    return subprocess.run(command, check=False, env=environment, stdout=subprocess.DEVNULL).returncode == 0


def venv_works() -> bool:
    """Whether this Python can make an environment with pip in it."""
    return (
        subprocess.run([sys.executable, "-c", "import venv, ensurepip"], check=False, capture_output=True).returncode
        == 0
    )


def main() -> None:
    """Check the tools, then make the environment named by the first argument."""
    if sys.version_info < OLDEST:
        sys.exit(f"Python {OLDEST[0]}.{OLDEST[1]} or newer is needed; this is {sys.version.split()[0]}")
    missing = {tool: package for tool, package in WANTED.items() if not shutil.which(tool)}
    packages = sorted(missing.values())
    if not venv_works():
        packages.append(f"python{sys.version_info[0]}.{sys.version_info[1]}-venv")
    apt_install(packages)
    still = sorted(package for tool, package in missing.items() if tool in NEEDED and not shutil.which(tool))
    if still or not venv_works():
        sys.exit(f"please install these first: {' '.join(still or packages)}")
    subprocess.run([sys.executable, "-m", "venv", sys.argv[1]], check=True)


if __name__ == "__main__":
    main()
