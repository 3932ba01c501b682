"""Pages that a notebook shows."""

import html
from os import PathLike
from pathlib import Path


class Page:
    """A page of HTML without anything from the network. A notebook shows it where it is the value of a cell."""

    def __init__(self, text: str, height: int) -> None:
        self.html = text
        self._height = height

    def _repr_html_(self) -> str:
        page = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:{self._height}px;border:0"></iframe>'

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the page to a file for a browser."""
        Path(path).write_text(self.html, encoding="utf-8")

    def __repr__(self) -> str:
        return f"Page({len(self.html):,} characters; save(path) writes it for a browser)"
