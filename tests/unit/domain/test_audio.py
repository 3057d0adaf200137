"""A recording's format is found by its first bytes, whatever it is called."""

from __future__ import annotations

import io
import wave
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uketsuke.domain.audio import HEAD_BYTES, AudioFormat, sniff

OGG = (Path(__file__).parents[2] / "models" / "coffee.ogg").read_bytes()
# MPEG 1, layer III, 128 kbit/s, 44.1 kHz: frames of 417 bytes.
MP3_FRAME = b"\xff\xfb\x90\x00" + bytes(413)
TAG = b"ID3\x04\x00\x00\x00\x00\x01\x00" + bytes(128)


def wav() -> bytes:
    written = io.BytesIO()
    with wave.open(written, "wb") as recording:
        recording.setnchannels(1)
        recording.setsampwidth(2)
        recording.setframerate(16_000)
        recording.writeframes(bytes(320))
    return written.getvalue()


def ogg(first_packet: bytes) -> bytes:
    return b"OggS\x00\x02" + bytes(20) + b"\x01" + bytes([len(first_packet)]) + first_packet


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (wav(), AudioFormat.WAV),
        (OGG, AudioFormat.OGG),
        (ogg(b"OpusHead" + bytes(11)), AudioFormat.OGG),
        (ogg(b"\x7fFLAC"), AudioFormat.OGG),
        (b"fLaC" + bytes(34), AudioFormat.FLAC),
        (b"\x00\x00\x00\x20ftypM4A \x00\x00\x00\x00", AudioFormat.M4A),
        (b"\x00\x00\x00\x20ftypisom\x00\x00\x02\x00", AudioFormat.M4A),
        (MP3_FRAME * 3, AudioFormat.MP3),
        (MP3_FRAME[:100], AudioFormat.MP3),
        (b"\xff\xf3\x40\xc0" + bytes(100) + b"\xff\xf3\x40\xc0", AudioFormat.MP3),  # 22 kHz, 32k
        (TAG + MP3_FRAME * 2, AudioFormat.MP3),
        (TAG + bytes(9) + MP3_FRAME * 2, AudioFormat.MP3),
        (TAG + b"fLaC", AudioFormat.FLAC),
        (b"ID3\x03\x00\x00\x00\x7f\x00\x00" + bytes(4000), AudioFormat.MP3),  # a picture of 2 MB
    ],
)
def test_each_format_is_known_by_its_content(content: bytes, found: AudioFormat) -> None:
    assert sniff(content[:HEAD_BYTES]) is found
    assert found.content_type.startswith("audio/")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"Some text about a song.",
        "\ufeffUTF-16 text".encode("utf-16-le"),
        b"RIFF\x00\x00\x00\x00AVI LIST",
        b"RIFF\x00\x00",
        b"OggS",
        ogg(b"\x80theora\x03\x02"),
        b"\x00\x00\x00\x20ftypheic\x00\x00\x00\x00",
        b"\x00\x00\x00\x20ftypqt  \x00\x00\x00\x00",
        b"\x1aE\xdf\xa3webm",
        b"%PDF-1.7",
        b"PK\x03\x04" + bytes(99),
        b"\xff\xd8\xff\xe0\x00\x10JFIF",
        b"\xff\xf1\x50\x80" + bytes(99),  # ADTS: AAC without a container
        MP3_FRAME + b"not a frame",
        b"\xff\xfb\xf0\x00" + bytes(99),
        TAG + b"RIFF or what else",
        b"ID3\x04\x00\x00\xff\xff\xff\xff" + bytes(99),
        b"ID3",
    ],
)
def test_what_is_no_recording_of_ours_is_not_taken_for_one(content: bytes) -> None:
    assert sniff(content[:HEAD_BYTES]) is None


_STARTS = st.sampled_from(
    [b"", b"RIFF", b"OggS", b"ID3", b"fLaC", b"\x00\x00\x00\x20ftyp", b"\xff\xfb", b"\xff\xf3"]
)


@given(start=_STARTS, rest=st.binary(max_size=200))
def test_any_bytes_are_judged(start: bytes, rest: bytes) -> None:
    assert sniff(start + rest) in {None, *AudioFormat}


@given(text=st.text())
def test_no_text_is_a_recording_unless_it_spells_one(text: str) -> None:
    spelled = text.startswith(("fLaC", "ID3", "RIFF", "RF64", "OggS")) or text[4:8] == "ftyp"

    assert spelled or sniff(text.encode()) is None


@given(cut=st.integers(0, HEAD_BYTES))
def test_a_head_that_is_cut_short_is_no_other_format(cut: int) -> None:
    for content in (wav(), OGG, TAG + MP3_FRAME * 12):
        assert sniff(content[:cut]) in {None, sniff(content)}
