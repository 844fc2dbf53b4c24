"""Decides which challenges to accept, and gives the reason for declining a challenge."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from knightadder.rules import read_fen

VARIANTS = ("standard", "fromPosition", "chess960")
SPEEDS = ("ultraBullet", "bullet", "blitz", "rapid", "classical", "correspondence")  # the fastest first
MODES = ("rated", "casual")
OPPONENTS = ("all", "humans", "bots")


class DeclineReason(StrEnum):
    """Lichess's keys for the reasons to decline a challenge; Lichess shows the challenger a sentence for each key."""

    GENERIC = "generic"
    LATER = "later"
    TOO_FAST = "tooFast"
    TOO_SLOW = "tooSlow"
    TIME_CONTROL = "timeControl"
    RATED = "rated"  # the bot plays only rated games
    CASUAL = "casual"  # the bot plays only casual games
    STANDARD = "standard"  # the bot plays only standard games
    VARIANT = "variant"  # the bot does not play the variant
    NO_BOT = "noBot"
    ONLY_BOT = "onlyBot"


@dataclass(frozen=True, slots=True)
class Policy:
    """Rules for accepting challenges; the values are from `VARIANTS`, `SPEEDS`, `MODES` and `OPPONENTS`.
    Ratings are for the speed or variant; 0 means no bound. With a bound, challengers without a rating are declined.
    """

    variants: tuple[str, ...] = VARIANTS
    speeds: tuple[str, ...] = ("bullet", "blitz", "rapid", "classical")
    modes: tuple[str, ...] = MODES
    opponents: str = "all"
    min_rating: int = 0
    max_rating: int = 0

    def objection(self, challenge: Mapping[str, Any]) -> DeclineReason | None:
        """Return why a challenge is declined, or None if it is accepted; `challenge` is Lichess's description."""
        challenger = challenge.get("challenger") or {}
        is_bot = challenger.get("title") == "BOT"
        if is_bot and self.opponents == "humans":
            return DeclineReason.NO_BOT
        if not is_bot and self.opponents == "bots":
            return DeclineReason.ONLY_BOT
        return (
            self._about_variant(challenge)
            or self._about_speed(str(challenge.get("speed")))
            or self._about_mode(bool(challenge.get("rated")))
            or self._about_rating(challenger.get("rating"))
        )

    def _about_variant(self, challenge: Mapping[str, Any]) -> DeclineReason | None:
        variant = (challenge.get("variant") or {}).get("key")
        if variant not in self.variants:
            return DeclineReason.STANDARD if self.variants == ("standard",) else DeclineReason.VARIANT
        fen = challenge.get("initialFen")
        if fen and fen != "startpos":
            try:
                read_fen(fen)
            except Exception:  # the engine cannot play the position, or the value is not text
                return DeclineReason.GENERIC
        return None

    def _about_speed(self, speed: str) -> DeclineReason | None:
        if speed in self.speeds:
            return None
        if speed not in SPEEDS or not self.speeds:
            return DeclineReason.TIME_CONTROL
        places = [SPEEDS.index(accepted) for accepted in self.speeds]
        if SPEEDS.index(speed) < min(places):
            return DeclineReason.TOO_FAST
        return DeclineReason.TOO_SLOW if SPEEDS.index(speed) > max(places) else DeclineReason.TIME_CONTROL

    def _about_mode(self, rated: bool) -> DeclineReason | None:
        if ("rated" if rated else "casual") in self.modes:
            return None
        return DeclineReason.CASUAL if rated else DeclineReason.RATED

    def _about_rating(self, rating: float | None) -> DeclineReason | None:
        if not (self.min_rating or self.max_rating):
            return None
        accepted = rating is not None and self.min_rating <= rating <= (self.max_rating or math.inf)
        return None if accepted else DeclineReason.GENERIC
