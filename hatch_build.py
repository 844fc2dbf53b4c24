"""The build hook: it compiles the core when a wheel is built, so that an installation has it and needs no Numba.

hatchling runs it for ``pip install .`` and all that builds wheels. A wheel carries the images of one platform. An
editable installation gets them beside the sources, for the processor at hand only, to save time. What is built for the
platform at hand is tuned for its processor, but other processors can run it, too.

Two environment variables change that, for releases (see ``tools/build_wheels.py``):

``KNIGHTADDER_TARGET``
    the platform to build for, one of `PLATFORMS`, tuned for no particular processor; by default the one at hand
``KNIGHTADDER_IMAGES``
    a folder with ready images, so that nothing is compiled
"""

import os
import platform
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


@dataclass(frozen=True)
class Platform:
    """What a wheel is built for.

    Attributes
    ----------
    tags : str
        Its platform tags.
    targets : tuple of str
        The images that it carries, as `knightadder.native.builder.TARGETS` names them.
    """

    tags: str
    targets: tuple[str, ...]


_X86_64 = ("x86-64-v4", "x86-64-v3", "x86-64-v2")

# By what `platform` calls system and machine. The code calls no C library, so any Linux does; the tags name the oldest
# that Python 3.11 itself runs on. macOS 11 is the first for Apple silicon.
PLATFORMS = {
    "linux-x86_64": Platform("manylinux_2_17_x86_64.musllinux_1_1_x86_64", _X86_64),
    "linux-aarch64": Platform("manylinux_2_17_aarch64.musllinux_1_1_aarch64", ("aarch64",)),
    "darwin-arm64": Platform("macosx_11_0_arm64", ("aarch64",)),
    "darwin-x86_64": Platform("macosx_11_0_x86_64", _X86_64),
    "windows-amd64": Platform("win_amd64", tuple(f"windows-{level}" for level in _X86_64)),
}


class CustomBuildHook(BuildHookInterface[Any]):
    """Compiles the core and puts it into the wheel."""

    def dependencies(self) -> list[str]:
        """Name what compiling needs, so that it is installed first; but end with a clear line where it is in vain."""
        chosen_platform()
        return self.metadata.core.optional_dependencies["compile"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the core for the wheel that is about to be built.

        Parameters
        ----------
        version : str
            ``standard`` or ``editable``.
        build_data : dict
            What hatchling is told of the wheel.
        """
        sys.path.insert(0, str(Path(self.root, "src")))
        from knightadder.core.compilation import core
        from knightadder.native.processors import host_target

        if version == "editable":
            if core.read(core.image_file()) is None:
                core.build(core.folder, [host_target()], print, "--tune")
            return
        chosen = PLATFORMS[chosen_platform()]
        ready = os.environ.get("KNIGHTADDER_IMAGES")
        if ready:
            folder = Path(ready)
        else:
            self._folder = tempfile.TemporaryDirectory()  # until `finalize`
            folder = Path(self._folder.name)
            tune = [] if os.environ.get("KNIGHTADDER_TARGET") else ["--tune"]
            core.build(folder, chosen.targets, print, *tune)
        for target in chosen.targets:
            file = folder / core.file_name(target)
            if core.read(file) is None:
                sys.exit(f"{file} is missing, or was not made from these sources")
            build_data["force_include"][str(file)] = f"knightadder/core/{file.name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{chosen.tags}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was only needed for the wheel."""
        if hasattr(self, "_folder"):
            self._folder.cleanup()


def chosen_platform() -> str:
    """Name the platform to build for, or end with a line that says which there are."""
    sys.path.insert(0, str(Path(__file__).parent / "src"))
    from knightadder.native.processors import host_machine

    bits = "" if sys.maxsize > 2**32 else "-32-bit"
    here = f"{platform.system()}-{host_machine()}{bits}".lower()
    name = os.environ.get("KNIGHTADDER_TARGET") or here
    if name not in PLATFORMS:
        sys.exit(f"Knightadder runs on {', '.join(PLATFORMS)}, with a 64-bit Python; not on {name}.")
    return name
