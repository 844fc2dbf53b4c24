"""Add the public addresses of the project to pyproject.toml and README.md, for the package's page on PyPI.

    GITHUB_SERVER_URL=https://github.com GITHUB_REPOSITORY=owner/knightadder python tools/add_urls.py

A checkout does not know its public address. The release workflow runs this script before it builds, and GitHub sets the
two variables for each workflow.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tomllib
from pathlib import Path

PYPROJECT, README = (Path(__file__).parents[1] / name for name in ("pyproject.toml", "README.md"))


def urls_of(repository: str) -> dict[str, str]:
    """Return the addresses by label, given the repository's address; PyPI shows an icon for each of these labels."""
    return {
        "Homepage": repository,
        "Documentation": f"{repository}/blob/HEAD/docs/index.md",
        "Source": repository,
        "Issues": f"{repository}/issues",
        "Changelog": f"{repository}/blob/HEAD/CHANGELOG.md",
    }


def with_urls(text: str, repository: str) -> str:
    """Return the text of a pyproject.toml with the table ``[project.urls]``; ValueError if it has this table."""
    if "urls" in tomllib.loads(text)["project"]:
        raise ValueError("pyproject.toml already has a table [project.urls]")
    lines = [f'{label} = "{url}"' for label, url in urls_of(repository).items()]
    return "\n".join([text.rstrip("\n"), "", "[project.urls]", *lines, ""])


def with_addresses(text: str, repository: str) -> str:
    """Return a page in Markdown whose links and pictures have complete addresses instead of paths in the repository."""

    def complete(link: re.Match[str]) -> str:
        return f"{link[0]}{repository}/{'raw' if link[1] else 'blob'}/HEAD/"

    return re.sub(r"(!?)\[[^][]*\]\((?![a-z]+:|#)", complete, text)


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    try:
        repository = f"{os.environ['GITHUB_SERVER_URL']}/{os.environ['GITHUB_REPOSITORY']}"
        PYPROJECT.write_text(with_urls(PYPROJECT.read_text("utf-8"), repository), "utf-8")
        README.write_text(with_addresses(README.read_text("utf-8"), repository), "utf-8")
    except KeyError as error:
        sys.exit(f"add_urls: the environment variable {error.args[0]} is not set")
    except ValueError as error:
        sys.exit(f"add_urls: {error}")


if __name__ == "__main__":
    main()
