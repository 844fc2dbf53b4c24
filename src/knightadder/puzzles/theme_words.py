"""The themes of puzzles in words for people: Lichess's names, such as ``xRayAttack``, are for programs."""

from __future__ import annotations

import re

# By Lichess's name: the words for the user and, if they do not suffice, a sentence that explains the theme.
_WORDS = {
    "advancedPawn": ("Advanced pawn", "A pawn deep in the opponent's camp decides"),
    "advantage": ("Advantage", "The solution wins, but not by much"),
    "anastasiaMate": ("Anastasia's mate", "A knight and a rook or queen mate the king at the edge"),
    "arabianMate": ("Arabian mate", "A knight and a rook mate the king in the corner"),
    "attackingF2F7": ("Attack on f2 or f7", "The attack aims at the pawn beside the king"),
    "attraction": ("Attraction", "A sacrifice lures a piece to a bad square"),
    "backRankMate": ("Back-rank mate", "The king is mated behind its own pawns"),
    "balestraMate": ("Balestra mate", "A bishop mates, and a queen covers the king's escape squares"),
    "bishopEndgame": ("Bishop endgame", ""),
    "blindSwineMate": ("Blind swine mate", "Two rooks on the seventh rank mate"),
    "bodenMate": ("Boden's mate", "Two bishops mate on crossing diagonals"),
    "capturingDefender": ("Capturing the defender", "A piece that guards another piece is captured"),
    "castling": ("Castling", ""),
    "clearance": ("Clearance", "A piece clears a square or a line for another piece"),
    "cornerMate": ("Corner mate", "A rook or queen and a knight mate the king in the corner"),
    "crushing": ("Crushing", "The solution wins easily"),
    "defensiveMove": ("Defensive move", "The solution avoids a loss"),
    "deflection": ("Deflection", "A piece is lured away from what it guards"),
    "discoveredAttack": ("Discovered attack", "A piece moves and opens the line of another piece, which attacks"),
    "discoveredCheck": ("Discovered check", "A piece moves and opens the line of another piece, which gives check"),
    "doubleBishopMate": ("Two bishops' mate", "Two bishops mate on neighbouring diagonals"),
    "doubleCheck": ("Double check", "Two pieces give check at the same time"),
    "dovetailMate": ("Dovetail mate", "The queen mates a king whose own pieces block its escape"),
    "enPassant": ("En passant", ""),
    "endgame": ("Endgame", ""),
    "epauletteMate": ("Epaulette mate", "Two of the king's own pieces block its escape to both sides"),
    "equality": ("Equality", "The solution saves a position that looks lost"),
    "exposedKing": ("Exposed king", "A king with few defenders is attacked"),
    "fork": ("Fork", "A piece attacks two pieces at the same time"),
    "hangingPiece": ("Hanging piece", "A piece that is not guarded enough is captured"),
    "hookMate": ("Hook mate", "A rook mates, with the help of a knight and a pawn"),
    "interference": ("Interference", "A piece moves between a guard and what it guards"),
    "intermezzo": ("Intermezzo", "A surprising move is played before the expected move"),
    "killBoxMate": ("Kill box mate", "A rook next to the king mates, with the help of a queen"),
    "kingsideAttack": ("Kingside attack", ""),
    "knightEndgame": ("Knight endgame", ""),
    "long": ("Three moves", ""),
    "master": ("Masters' game", ""),
    "masterVsMaster": ("Game between masters", ""),
    "mate": ("Mate", ""),
    "middlegame": ("Middlegame", ""),
    "oneMove": ("One move", ""),
    "opening": ("Opening", ""),
    "operaMate": ("Opera mate", "A rook, which a bishop guards, mates on the back rank"),
    "pawnEndgame": ("Pawn endgame", ""),
    "pillsburysMate": ("Pillsbury's mate", "A rook mates, and a bishop covers the king's escape squares"),
    "pin": ("Pin", "A piece cannot move without exposing the piece behind it"),
    "promotion": ("Promotion", ""),
    "queenEndgame": ("Queen endgame", ""),
    "queenRookEndgame": ("Queens and rooks", "An endgame with queens and rooks"),
    "queensideAttack": ("Queenside attack", ""),
    "quietMove": ("Quiet move", "A move without check or capture that cannot be met"),
    "rookEndgame": ("Rook endgame", ""),
    "sacrifice": ("Sacrifice", "Material is given up to gain more"),
    "short": ("Two moves", ""),
    "skewer": ("Skewer", "A piece must move away, so the piece behind it is captured"),
    "smotheredMate": ("Smothered mate", "A knight mates a king that its own pieces enclose"),
    "superGM": ("Grandmasters' game", "A game of the world's best players"),
    "swallowstailMate": (
        "Swallow's tail mate",
        "The queen mates a king whose retreat is blocked by two of its own pieces",
    ),
    "trappedPiece": ("Trapped piece", "A piece has no safe square"),
    "triangleMate": ("Triangle mate", "Queen, rook and king stand in a triangle"),
    "underPromotion": ("Underpromotion", "A pawn becomes a rook, bishop or knight"),
    "veryLong": ("Four moves or more", ""),
    "vukovicMate": ("Vuković mate", "A rook and a knight mate the king at the edge"),
    "xRayAttack": ("X-ray attack", "A piece attacks or guards through another piece"),
    "zugzwang": ("Zugzwang", "Every possible move worsens the position of the side to move"),
}


def words_of(theme: str) -> tuple[str, str]:
    """Return a theme in words, and a sentence that explains it; the sentence is empty if the words suffice."""
    if theme in _WORDS:
        return _WORDS[theme]
    parts = re.sub(r"(?<=[a-z])(?=[A-Z0-9])", " ", theme).split()
    return " ".join(parts).lower().capitalize(), ""
