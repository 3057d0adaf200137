"""What a recording is, by its first bytes: a name and a declared type prove nothing."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

# So many bytes are enough to tell: two frames of MP3, or the first page of Ogg.
HEAD_BYTES: Final = 4096


class AudioFormat(StrEnum):
    """The formats that are taken; the value is the ending of a file's name."""

    WAV = "wav"
    MP3 = "mp3"
    M4A = "m4a"
    FLAC = "flac"
    OGG = "ogg"

    @property
    def content_type(self) -> str:
        return _CONTENT_TYPES[self]


_CONTENT_TYPES: Final = {
    AudioFormat.WAV: "audio/wav",
    AudioFormat.MP3: "audio/mpeg",
    AudioFormat.M4A: "audio/mp4",
    AudioFormat.FLAC: "audio/flac",
    AudioFormat.OGG: "audio/ogg",
}
TAKEN: Final = "WAV, MP3, M4A, FLAC, OGG"


def sniff(head: bytes) -> AudioFormat | None:
    """Return the format of the file that begins with ``head``; None if it is none of ours."""
    if head[:4] in (b"RIFF", b"RF64") and head[8:12] == b"WAVE":
        return AudioFormat.WAV
    if head.startswith(b"fLaC"):
        return AudioFormat.FLAC
    if head.startswith(b"OggS"):
        return AudioFormat.OGG if _is_ogg_audio(head) else None
    if head[4:8] == b"ftyp":
        return AudioFormat.M4A if head[8:12] in _MP4_BRANDS else None
    if head.startswith(b"ID3"):
        return _behind_tag(head)
    return AudioFormat.MP3 if _is_mp3(head) else None


# The codecs' words at the start of an Ogg stream (RFC 7845, and the Vorbis, Speex and FLAC
# mappings). One that begins with a picture's is a film.
_OGG_CODECS: Final = (b"OpusHead", b"\x01vorbis", b"Speex   ", b"\x7fFLAC")
_OGG_PAGE: Final = 27

# ISO/IEC 14496-12: the brand says what the container is for. Pictures have brands too (heic, avif).
_MP4_BRANDS: Final = frozenset(
    [b"M4A ", b"M4B ", b"mp41", b"mp42", b"isom", b"dash"] + [b"iso%d" % n for n in range(2, 10)]
)


def _is_ogg_audio(head: bytes) -> bool:
    if len(head) < _OGG_PAGE:
        return False
    packet = _OGG_PAGE + head[_OGG_PAGE - 1]  # behind the table of segments
    return head[packet:].startswith(_OGG_CODECS)


def _behind_tag(head: bytes) -> AudioFormat | None:
    """Look behind an ID3v2 tag; one with a picture is longer than what we have, and is MP3's."""
    if len(head) < 10 or any(size & 0x80 for size in head[6:10]):
        return None
    size = head[6] << 21 | head[7] << 14 | head[8] << 7 | head[9]
    rest = head[10 + size :]
    if rest.startswith(b"fLaC"):
        return AudioFormat.FLAC
    # Some writers leave zeros between the tag and the first frame.
    rest = rest.lstrip(b"\0")
    return AudioFormat.MP3 if not rest or _is_mp3(rest) else None


# ISO/IEC 11172-3 and 13818-3, layer III: kbit/s by the header's four bits.
_KBITS_1: Final = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
_KBITS_2: Final = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
_HERTZ: Final = (44_100, 48_000, 32_000)


def _is_mp3(head: bytes) -> bool:
    """Whether a frame begins here and, as far as can be seen, another where it ends."""
    length = _frame_length(head[:4])
    if length is None:
        return False
    after = head[length : length + 4]
    return len(after) < 4 or _frame_length(after) is not None


def _frame_length(header: bytes) -> int | None:
    if len(header) < 4 or header[0] != 0xFF or header[1] & 0xE0 != 0xE0:
        return None
    version, layer = header[1] >> 3 & 3, header[1] >> 1 & 3  # 3 is version 1, 2 is 2, 0 is 2.5
    rate, hertz = header[2] >> 4, header[2] >> 2 & 3
    if version == 1 or layer != 1 or rate in (0, 15) or hertz == 3:
        return None
    kbits = (_KBITS_1 if version == 3 else _KBITS_2)[rate]
    samples_a_second = _HERTZ[hertz] // {3: 1, 2: 2, 0: 4}[version]
    bytes_a_kbit = 144_000 if version == 3 else 72_000
    return bytes_a_kbit * kbits // samples_a_second + (header[2] >> 1 & 1)
