"""What the console's code may not hold: ways to make text into markup or code, and other origins.

The policy in ``assets/_headers`` would stop them in a browser; here they do not get that far.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from tests.console.modules import CONSOLE, own_files

# A text that somebody else wrote could become markup or code through these.
BANNED: Final = {
    "markup from text": r"\b(inner|outer)HTML\b|insertAdjacentHTML|dangerouslySetInnerHTML|srcdoc"
    r"|createContextualFragment|DOMParser|document\s*\.\s*write|setHTMLUnsafe",
    "code from text": r"\beval\b|new\s+Function\b|\bjavascript:|import\(\s*[^\"'\s]"
    r"|set(Timeout|Interval)\(\s*[\"'`]",
    "style from text": r"cssText|\bstyle=\"|insertRule",
    "another origin": r"\bhttps?:|\bwss?:|[\"'`(]//[\w.]|\bdata:[\w/]|\bblob:",
    "what outlives the tab": r"document\s*\.\s*cookie|indexedDB|serviceWorker",
}
# The namespace of SVG is a name, and nobody asks for it.
NAMESPACE: Final = 'xmlns="http://www.w3.org/2000/svg"'
FILES: Final = own_files(".js", ".css", ".html", ".svg")
CHECKED: Final = own_files(".js")


def code_of(path: Path) -> str:
    """Return the file without its comments: they may name what they warn of."""
    text = path.read_text().replace(NAMESPACE, "")
    text = re.sub(r"/\*.*?\*/|<!--.*?-->", "", text, flags=re.DOTALL)
    return re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)


@pytest.mark.parametrize("why", BANNED)
def test_no_file_makes_markup_or_code_out_of_text_or_asks_elsewhere(why: str) -> None:
    found = {
        f"{path.relative_to(CONSOLE)}: {match[0]}"
        for path in FILES
        for match in re.finditer(BANNED[why], code_of(path))
    }
    assert found == set()


@pytest.mark.parametrize(
    ("why", "text"),
    [
        ("markup from text", "node.innerHTML = text"),
        ("markup from text", "document.write(text)"),
        ("markup from text", "<div dangerouslySetInnerHTML=${{ __html: text }}>"),
        ("code from text", "eval(text)"),
        ("code from text", "new Function(text)"),
        ("code from text", 'setTimeout("run()", 1)'),
        ("code from text", "import(path)"),
        ("style from text", 'html`<p style="color: red">`'),
        ("another origin", 'fetch("https://example.com/")'),
        ("another origin", "@import url(//example.com/x.css)"),
        ("another origin", 'src="data:image/png;base64,AA"'),
        ("what outlives the tab", "document.cookie = key"),
    ],
)
def test_such_a_thing_would_be_found(why: str, text: str) -> None:
    assert re.search(BANNED[why], text)


def test_every_module_has_its_types_checked() -> None:
    assert [path.name for path in CHECKED if not path.read_text().startswith("// @ts-check")] == []


def test_the_search_reads_the_files_and_not_their_comments() -> None:
    assert {"app.js", "index.html", "tokens.css", "icon.svg"} <= {path.name for path in FILES}
    assert not any("vendor" in path.parts for path in FILES)
    assert "innerHTML" in (CONSOLE / "html.js").read_text()
    assert "innerHTML" not in code_of(CONSOLE / "html.js")
