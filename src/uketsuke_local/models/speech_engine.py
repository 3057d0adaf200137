"""The transcription engine: faster-whisper with weights that are fetched apart (``weights``)."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from uketsuke_local.models import weights
from uketsuke_local.models.wire import Refusal

Samples = NDArray[np.float32]

SAMPLES_A_SECOND: Final = 16_000
# 25 MiB of the thriftiest codec is ten hours, which would be 2 GB of samples.
_MAX_SECONDS: Final = 3 * 3_600


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What a caller may say about a recording; ``None``: the engine finds out."""

    language: str | None
    prompt: str | None
    temperature: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    start: float
    end: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A transcription under way: asking for the next segment does the next piece of the work."""

    language: str
    seconds: float
    segments: Iterator[Segment]


class SpeechEngine:
    """One loaded model. Not to be called from two threads at once: its lane sees to that."""

    def __init__(self) -> None:
        self._model: Any = None
        self._loading = threading.Lock()

    @property
    def loaded(self) -> bool:
        return self._model is not None

    @property
    def available(self) -> bool:
        return weights.present(weights.directory())

    def languages(self) -> list[str]:
        self.load()
        languages: list[str] = self._model.supported_languages
        return languages

    def load(self) -> None:
        """Load the model if that was not done yet: 1.5 s; refuse if its weights are not here."""
        with self._loading:
            if self._model is None:
                self._model = _loaded_model(weights.directory())

    def decode(self, recording: bytes) -> Samples:
        """Return the sound of a recording, whatever its container; refuse what has none."""
        _set_environment()
        import av
        from faster_whisper.audio import decode_audio

        try:
            _check_recording(recording)
            samples: Samples = decode_audio(io.BytesIO(recording), sampling_rate=SAMPLES_A_SECOND)
        except (av.error.FFmpegError, IndexError):  # IndexError: cut off before its first frame
            raise _undecodable() from None
        return samples

    def read(self, samples: Samples, wishes: Wishes) -> Reading:
        """Start a transcription: finds speech and language; the text comes with the segments."""
        self.load()
        options: dict[str, Any] = {}
        if wishes.temperature is not None:
            options["temperature"] = wishes.temperature
        segments, found = self._model.transcribe(
            samples,
            language=wishes.language,
            initial_prompt=wishes.prompt,
            vad_filter=True,  # without it silence comes out as "You"
            condition_on_previous_text=False,  # one misheard window must not lead the next astray
            **options,
        )
        return Reading(
            language=found.language,
            seconds=len(samples) / SAMPLES_A_SECOND,
            segments=(
                Segment(start=round(s.start, 2), end=round(s.end, 2), text=s.text.strip())
                for s in segments
            ),
        )


def _loaded_model(directory: Path) -> Any:
    if not weights.present(directory):
        raise Refusal(
            "The speech weights are not here, so nothing can be transcribed. "
            f"Bring them with: {weights.COMMAND}",
            status=503,
            kind="server_error",
            code="model_not_available",
        )
    _set_environment()
    from faster_whisper import WhisperModel

    # Its own default is four threads, also on two cores.
    threads = os.cpu_count() or 1
    return WhisperModel(str(directory), device="cpu", compute_type="int8", cpu_threads=threads)


def _set_environment() -> None:
    """Keep libraries from writing a device id under the home folder, and from looking up models.

    They read the environment when they are imported.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # as for the embedding engine


def _check_recording(recording: bytes) -> None:
    import av

    with av.open(io.BytesIO(recording), mode="r", metadata_errors="ignore") as container:
        if not container.streams.audio:
            raise _undecodable()
        # In microseconds; unknown for some streams.
        if (container.duration or 0) / 1_000_000 > _MAX_SECONDS:
            raise Refusal(
                f"The recording is longer than {_MAX_SECONDS // 3_600} hours.",
                status=413,
                code="context_length_exceeded",
            )


def _undecodable() -> Refusal:
    return Refusal(
        "The file is no audio that can be decoded. Formats: wav, mp3, m4a, flac, ogg, opus, webm.",
        code="invalid_file",
    )
