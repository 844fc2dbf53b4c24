"""Which challenges are accepted, and the reasons for declining the others."""

import pytest

from knightadder.lichess.challenges import DeclineReason, Policy


def challenge(variant="standard", speed="blitz", rated=False, title=None, rating=1500, fen=None):
    return {
        "challenger": {"id": "rival", "title": title, "rating": rating},
        "variant": {"key": variant},
        "speed": speed,
        "rated": rated,
        **({"initialFen": fen} if fen else {}),
    }


def test_the_reasons_are_those_that_lichess_knows():
    # https://lichess.org/api#tag/Challenges/operation/challengeDecline
    known = "generic later tooFast tooSlow timeControl rated casual standard variant noBot onlyBot"
    assert {str(reason) for reason in DeclineReason} == set(known.split())


@pytest.mark.parametrize(
    ("policy", "offered", "reason"),
    [
        ({}, {}, None),
        ({}, {"rated": True}, None),
        ({}, {"title": "BOT"}, None),
        ({}, {"variant": "crazyhouse"}, "variant"),
        ({"variants": ("standard",)}, {"variant": "chess960"}, "standard"),
        ({"speeds": ("blitz", "rapid")}, {"speed": "bullet"}, "tooFast"),
        ({"speeds": ("blitz", "rapid")}, {"speed": "classical"}, "tooSlow"),
        ({"speeds": ("bullet", "rapid")}, {"speed": "blitz"}, "timeControl"),
        ({}, {"speed": "somethingNew"}, "timeControl"),
        ({}, {"speed": "correspondence"}, "tooSlow"),
        ({"modes": ("casual",)}, {"rated": True}, "casual"),
        ({"modes": ("rated",)}, {}, "rated"),
        ({"opponents": "humans"}, {"title": "BOT"}, "noBot"),
        ({"opponents": "bots"}, {"title": "GM"}, "onlyBot"),
        ({"opponents": "bots"}, {"title": "BOT"}, None),
        ({"min_rating": 1500, "max_rating": 1500}, {}, None),
        ({"min_rating": 1501}, {}, "generic"),
        ({"max_rating": 1499}, {}, "generic"),
        ({"min_rating": 1}, {"rating": None}, "generic"),
        ({}, {"variant": "fromPosition", "fen": "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"}, None),
        ({}, {"variant": "fromPosition", "fen": "8/8/8/8/8/8/4P3/4K3 w - - 0 1"}, "generic"),
        ({}, {"variant": "fromPosition", "fen": "nonsense"}, "generic"),
        ({}, {"variant": "fromPosition", "fen": "4k3/8/8/8/8/8/PPPPPPPP/1QQ1K3 w - - 0 1"}, "generic"),
        ({}, {"variant": "chess960", "fen": "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"}, None),
    ],
)
def test_objections(policy, offered, reason):
    assert Policy(**policy).objection(challenge(**offered)) == reason


def test_a_challenge_that_says_nothing_is_declined():
    assert Policy().objection({}) == "variant"


@pytest.mark.parametrize("fen", [3, [1], {"a": 1}, "k" * 10_000, "4k3/8/8/8/8/8/8/4K3 w - - 0 " + "9" * 5000, "\0"])
def test_a_position_that_is_none_is_declined(fen):
    assert Policy().objection(challenge(variant="fromPosition", fen=fen)) == "generic"
