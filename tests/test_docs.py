"""The documentation as a whole: links with their anchors, generated pages, the site."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path.cwd()
DOCS = Path("docs")
PAGES = sorted([*DOCS.glob("*.md"), *Path().glob("*.md")])
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)


def anchors(path):
    """The anchors of a page's headings, as GitHub and mkdocs make them."""
    found = []
    for heading in re.findall(r"^#+ (.*)$", FENCE.sub("", path.read_text()), re.M):
        text = re.sub(r"[^\w\s-]", "", heading.replace("`", "")).strip().lower()
        found.append(re.sub(r"\s+", "-", text))
    return found


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_no_link_is_broken(page):
    """Files and anchors. Nothing on the network is asked."""
    text = FENCE.sub("", page.read_text())
    for target in re.findall(r"(?<!`)\]\(([^)\s]+)\)", text):
        if target.startswith("https://"):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page.resolve()
        assert path.exists() and path.is_relative_to(ROOT), f"{page}: {target}"
        assert not anchor or anchor in anchors(path), f"{page}: {target}"


def test_the_generated_pages_are_up_to_date():
    done = subprocess.run([sys.executable, "tools/reference.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_site_has_every_page():
    listed = re.findall(r": ([\w-]+\.md)$", Path("mkdocs.yml").read_text(), re.M)
    outside = {"index.md", "contributing.md", "changes.md"}
    assert sorted(listed) == sorted({path.name for path in DOCS.glob("*.md")} | outside)


def test_the_site_is_built(tmp_path):
    """Strictly: a warning is an error."""
    pytest.importorskip("material", reason="the site needs the extra streamcheck[docs]")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path / "site"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    home = (tmp_path / "site" / "index.html").read_text()
    assert "streamcheck prove engine.py" in re.sub("<[^>]+>", "", home)
    assert {"first", "contributing"} <= set(re.findall(r'href="?(\w+)/', home))
