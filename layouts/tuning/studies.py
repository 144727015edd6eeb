"""What pages know of the studies of `mindscope tune`: searches for good settings, one training per trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from parsers import Problem

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, slots=True)
class StudyRow:
    """A study as pages list it. key identifies it in URLs; path is its journal; trials counts all, running those that run.

    storage is "" for a study that lives in its journal. Else it lives in this database, and the journal is a copy that a tuner
    brought up to date at the time copied (seconds since 1970).
    """

    key: str
    name: str
    path: str
    trials: int
    running: int
    storage: str = ""
    copied: float = float("nan")


@dataclass(frozen=True, slots=True)
class StudyFrames:
    """The frames of a study (`parsers.tuning_frames`). They are shared, so never write into them.

    targets are (name, "minimize" or "maximize"). suggestion is what a trial would get if it started now (`recording.NEXT` of
    `parsers.tuning`), empty if that is not known. search is what the tuner noted of the search (`parsers.tuning.recording`),
    empty for studies of other programs.
    """

    row: StudyRow
    targets: tuple[tuple[str, str], ...]
    search: Mapping[str, Any]
    trials: DataFrame
    values: DataFrame
    parameters: DataFrame
    workers: DataFrame
    suggestion: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OpenStudy:
    """A study, or the progress of reading it.

    state: "ready" (study is set), "reading" (ask again), "missing" (no such study) or "failed" (text is the reason). mark
    changes whenever the study does. problems is the damage in its journal.
    """

    state: str
    study: StudyFrames | None = None
    mark: str = ""
    text: str = ""
    problems: tuple[Problem, ...] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class Importances:
    """What a measure says of the settings of a study (`parsers.tuning.importances`).

    state: "ready" (shares of settings from `trials` complete trials, of Optuna's evaluators with the sum 1), "working" (ask
    again) or "failed" (reason is "missing", "few", "constant", "no_setting" or "failed"; detail what is missing, how many
    trials there are, or the error). ends are those of 95 % intervals, fit is the R^2 of held-out trials and alone the settings
    that can be left alone, None where that is not judged: empty, NaN and None for Optuna's evaluators. untried has settings of
    which too large a part of the range was never tried for a rank, with this part; tied those whose share is not surely larger
    than that of the next one.
    """

    state: str
    shares: Mapping[str, float] = field(default_factory=dict)
    trials: int = 0
    reason: str = ""
    detail: str = ""
    ends: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    fit: float = float("nan")
    alone: tuple[str, ...] | None = None
    untried: Mapping[str, float] = field(default_factory=dict)
    tied: tuple[str, ...] = ()
