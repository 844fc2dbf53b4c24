"""What several tests of UCI report."""

from knightadder.engine.info import Bound, Info, Score

LINE = Info(
    depth=1,
    seldepth=2,
    multipv=1,
    score=Score(cp=20),
    bound=Bound.EXACT,
    wdl=None,
    nodes=20,
    nps=1000,
    hashfull=0,
    tbhits=0,
    time_ms=20,
    pv=("e2e4", "e7e5"),
)
