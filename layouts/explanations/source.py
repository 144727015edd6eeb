"""The interface between pages and the explanations of runs."""

from __future__ import annotations

from typing import Protocol

from parsers import ImageValue
from parsers.payloads.pictures import GreyPicture

from layouts.explanations.open_explanations import ExplanationWork, OpenExplanations
from layouts.kit.work import WorkResult


class ExplanationSource(Protocol):
    """What explainers recorded of runs. Every method but those that read a picture answers within 0.2 s."""

    def open(self, run: str) -> OpenExplanations:
        """Return the explanations of a member run; they are read in the background."""
        ...

    def work(self, run: str, work: ExplanationWork, *, again: bool = False) -> WorkResult:
        """Return the result of work on the explanations of a run, which is done in the background.

        again: resume what was cancelled or failed.
        """
        ...

    def cancel(self, run: str, work: ExplanationWork) -> None:
        """Stop work that `work` has started."""
        ...

    def picture(self, run: str, path: str) -> ImageValue:
        """Return a picture that a record names, read from its file unless it is cached.

        Raises PayloadError, whose text is meant for the user, if it lies outside of the run or cannot be shown.
        """
        ...

    def outcome(self, run: str, path: str, boxes: str, mask: str) -> ImageValue:
        """Return a picture of which only boxes are visible, as PNG: boxes and mask are cells of the frame `counterfactuals`.

        Raises PayloadError as `explanation_picture` does, and for a mask that is not known.
        """
        ...

    def heat_map(self, run: str, path: str) -> GreyPicture:
        """Return the grey values of a heat map. Raises PayloadError as `explanation_picture` does."""
        ...
