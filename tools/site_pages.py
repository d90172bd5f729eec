"""A hook of mkdocs: the pages of the site that are not in docs/, with their links as the site has them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

OUTSIDE = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changes.md"}


def on_files(files: Any, config: Any) -> Any:
    """Add each page."""
    root = Path(config.config_file_path).parent
    for name, page in OUTSIDE.items():
        files.append(File.generated(config, page, content=_with_links((root / name).read_text())))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """A page's links to those outside of docs/ lead to them. Notebooks and schemas stay files."""
    for name, page in OUTSIDE.items():
        markdown = markdown.replace(f"](../{name}", f"]({page}")
    return markdown


def _with_links(text: str) -> str:
    for name, page in OUTSIDE.items():
        text = text.replace(f"]({name}", f"]({page}")
    return re.sub(r"\]\(docs/", "](", text)
