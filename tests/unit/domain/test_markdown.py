"""Whatever a text holds, in Markdown it is paragraphs of letters, as a parser sees them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from uketsuke.domain.markdown import literal, literal_line, words

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_HOSTILE = st.lists(
    st.sampled_from(
        ["#", "# x", "=", "-", "- x", "1. x", "1) x", "+ x", "*", "**b**", "_i_", "`c`", "```",
         "~~~", "~~s~~", "[a](b)", "![a](b)", "[a]: b", "[^1]", "<b>", "<!--", "<http://a.b>",
         "&lt;", "|a|b|", "|-|-|", "> q", "    code", "\t", "\n", "\n\n", "\\", " ", "word",
         "受付", "9. ", "---", "***", "===", "$x$", "\r", "\r\n", "\u2028", "\x0b", "*_`"]
    )
    | st.text(max_size=3),
    max_size=12,
).map("".join)  # fmt: skip


def kinds_of_token(markdown: str) -> set[str]:
    found = set()
    for token in PARSER.parse(markdown):
        found.add(token.type)
        found |= {child.type for child in token.children or ()}
    return found


@given(text=_HOSTILE)
def test_any_text_becomes_plain_paragraphs(text: str) -> None:
    found = kinds_of_token(literal(text))

    assert found <= {
        "paragraph_open", "paragraph_close", "inline", "text", "text_special", "softbreak"
    }  # fmt: skip


@given(text=_HOSTILE)
def test_any_line_stays_within_its_heading(text: str) -> None:
    tokens = PARSER.parse(f"# {literal_line(text)}\n\nbelow")

    assert [t.type for t in tokens if t.type.endswith("_open")] == [
        "heading_open",
        "paragraph_open",
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("It took 3.5 ms. Mr. Mori said so.", "It took 3.5 ms. Mr. Mori said so."),
        ("# Not ours", r"\# Not ours"),
        ("- a\n- b", "\\- a\n\\- b"),
        ("2. second", r"2\. second"),
        ("one\n\n\n\ntwo", "one\n\ntwo"),
        ("see https://a.b/c, www.a.b or me@a.b", r"see https\://a.b/c, www\.a.b or me\@a.b"),
        ("<script>", r"\<script\>"),
    ],
)
def test_words_are_left_alone_and_signs_become_letters(text: str, shown: str) -> None:
    assert literal(text) == shown


def test_a_line_is_one_line() -> None:
    assert literal_line(" a\n b\t c ") == "a b c"


@given(text=_HOSTILE | st.text(max_size=60))
def test_what_was_escaped_is_read_as_it_was(text: str) -> None:
    assert words(literal_line(text)) == " ".join(text.split())
