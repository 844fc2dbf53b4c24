"""Games in Portable Game Notation (PGN), read by compiled code: thousands of games a second.

This reader understands only the form that programs write: tags, an empty line, moves with numbers, and the result.
Comments, variations and annotation signs may stand among the moves. Variations are checked, but not kept.

Where the text has any other form, the reader stops, and the careful reader, `knightadder.pgn.games`, finds the meaning
or names the error. So this reader must never accept a game that the careful reader refuses, and must never find
different moves.
"""

import numpy as np

from knightadder.native.jit import copy_record, inlined, kernel
from knightadder.native.records import record
from knightadder.native.signatures import record_type

from ..layout import MAX_MOVES
from . import letters
from .fen import LEFT_OUT
from .fen_reader import read_fen
from .letters import is_alphanumeric, is_blank, is_delimiter, is_digit, is_odd, newline
from .moves import NO_MOVE
from .pgn_commands import NO_CLOCK, NO_SCORE, is_odd_command, read_command
from .position import POSITION, make
from .san import read_san

#: Number of zeros that must follow the text, because the reader does not test for the end of the text in a token.
PADDING = 16
#: The results, indexed by their number in a `GAME`.
RESULTS = ("", "1-0", "1/2-1/2", "0-1", "*")

_MAX_DEPTH = 30  # maximum nesting depth of variations

# Reasons why the reader stops: the text ends, the text ends within a game, or a game needs the careful reader.
DONE, MORE, CAREFUL = 0, 1, 2

GAME = record(
    ("start", np.int64),  # where the game's text begins
    ("end", np.int64),  # where the next game begins
    ("line", np.int64),  # number of the first line
    ("first_tag", np.int64),  # index of the game's first TAG
    ("tags", np.int64),  # number of the game's TAGs
    ("first_move", np.int64),  # index of the game's first move
    ("moves", np.int64),  # number of the game's moves
    ("first_note", np.int64),  # index of the game's first NOTE
    ("notes", np.int64),  # number of the game's NOTEs
    ("fen", np.int64),  # where the value of the FEN tag begins; 0 for the usual start position
    ("fen_end", np.int64),  # where the value of the FEN tag ends
    ("result", np.int64),  # see `RESULTS`
    ("chess960", np.int64),  # 1 if a tag says that the game is Chess960
)
TAG = record(("name", np.int32), ("name_end", np.int32), ("value", np.int32), ("value_end", np.int32))
NOTE = record(  # a comment, or a numeric annotation glyph (NAG)
    ("ply", np.int32),  # number of moves before the note
    ("nag", np.int32),  # the annotation glyph, or -1 for a comment
    ("start", np.int32),
    ("end", np.int32),
)
READER = record(
    ("stack", POSITION, 2 * _MAX_DEPTH + 2),  # two places for each depth: the present position and the previous one
    ("start", POSITION),  # the usual start position
    ("now", np.int64, _MAX_DEPTH + 1),  # by depth: which of the two places holds the present position
    ("moved", np.int64, _MAX_DEPTH + 1),  # by depth: 1 if a move was read there
    ("fen", np.int64, MAX_MOVES),  # working memory of `read_fen`, which needs an array of this type
    ("at", np.int64),  # place in the text
    ("line", np.int64),  # line number of that place
    ("end", np.int64),  # end of the text
    ("last", np.int64),  # 1 if no more text follows
    ("games", np.int64),  # number of games found
    ("tags", np.int64),  # number of tags found
    ("moves", np.int64),  # number of moves found
    ("notes", np.int64),  # number of notes found
)
Game, Tag, Note, Reader = (record_type(dtype) for dtype in (GAME, TAG, NOTE, READER))

_NAME_SIGNS = tuple(ord(letter) for letter in "_+#=:-")
_STANDARD, _CHESS960 = (np.uint64(int.from_bytes(word, "little")) for word in (b"standard", b"chess960"))
_VARIANT = tuple(b"ariant")
_DRAW = tuple(b"1/2-1/2")


def read_block(tables, reader, text, games, tags, moves, clocks, scores, notes):
    """Read games until the text ends, or until a game needs the careful reader.

    The function returns `DONE` at the end of the text, `MORE` if the last game is incomplete, or `CAREFUL` if a game
    needs the careful reader.

    Parameters
    ----------
    tables : TABLES record
    reader : READER record
        A reader whose start position is set. ``at``, ``line``, ``end`` and ``last`` say which text to read. At the end,
        ``at`` and ``line`` refer to the first game that was not read. ``games``, ``tags``, ``moves`` and ``notes``
        receive the numbers of items read.
    text : array of uint8
        The text, followed by `PADDING` zeros.
    games, tags, notes : arrays of GAME, TAG and NOTE
        Receive the items. They must have room for n/4 + 2, n/4 + 2 and n/2 + 2 items if the text has n bytes.
    moves, clocks, scores : arrays of uint16, int64 and int16
        Receive an item for each move of a main line, and must have room for n/2 items: the move, encoded as in
        ``core/board/moves.py``; the clock after it in milliseconds, or `NO_CLOCK`; and the score from White's view, or
        `NO_SCORE`.
    """
    reader.games = reader.tags = reader.moves = reader.notes = 0
    while True:
        while True:  # skip empty lines
            skipped = newline(text, reader.at)
            if skipped == 0:
                break
            reader.at += skipped
            reader.line += 1
        if reader.at >= reader.end:
            return np.int64(DONE)
        game = games[reader.games]
        game.start, game.line = reader.at, reader.line
        game.first_tag, game.first_move, game.first_note = reader.tags, reader.moves, reader.notes
        game.fen = game.fen_end = game.chess960 = 0
        if not (
            _read_tags(reader, text, game, tags)
            and set_start(tables, reader, text, game) >= 0
            and _read_moves(tables, reader, text, game, moves, clocks, scores, notes)
            and _finish(reader, text)
        ):
            reader.tags, reader.moves, reader.notes = game.first_tag, game.first_move, game.first_note
            stopped = reader.at
            reader.at, reader.line = game.start, game.line
            return np.int64(MORE if stopped + PADDING >= reader.end and not reader.last else CAREFUL)
        game.end = reader.at
        game.tags = reader.tags - game.first_tag
        game.moves = reader.moves - game.first_move
        game.notes = reader.notes - game.first_note
        reader.games += 1


@kernel
def _end_of_line(text, at):
    """Return the place after the line end if only blanks precede it; else -1."""
    while is_blank(np.int64(text[at])):
        at += 1
    length = newline(text, at)
    return at + length if length else np.int64(-1)


# Each of the following functions reads from ``reader.at`` on, and sets it to the place where it stopped. It returns
# whether the text has the expected form.


@kernel
def _read_tags(reader, text, game, tags):
    at = reader.at
    begins = np.int64(text[at])
    if begins != letters.BRACKET and not is_digit(begins):
        return False
    while np.int64(text[at]) == letters.BRACKET:
        tag = tags[reader.tags]
        at += 1
        tag.name = at
        letter = np.int64(text[at])
        if not is_alphanumeric(letter):
            reader.at = at
            return False
        while is_alphanumeric(letter) or letter in _NAME_SIGNS:
            at += 1
            letter = np.int64(text[at])
        tag.name_end = at
        while np.int64(text[at]) == letters.SPACE:
            at += 1
        if np.int64(text[at]) != letters.QUOTE:
            reader.at = at
            return False
        at += 1
        tag.value = at
        letter = np.int64(text[at])
        while letter != letters.QUOTE and at < reader.end:
            if letter == letters.BACKSLASH or letter == letters.NEWLINE or letter == letters.RETURN:
                reader.at = at
                return False
            at += 1
            letter = np.int64(text[at])
        tag.value_end = at
        reader.at = at
        if at >= reader.end or np.int64(text[at + 1]) != letters.END_BRACKET:
            return False
        at = _end_of_line(text, at + 2)
        if at < 0:
            return False
        reader.line += 1
        if not _note_tag(text, game, tag):
            return False
        reader.tags += 1
    reader.at = at
    return True


@kernel
def _note_tag(text, game, tag):
    """Record a FEN or Variant tag in the game; return False for an unknown variant."""
    at, end = np.int64(tag.name), np.int64(tag.value_end)
    length = np.int64(tag.name_end) - at
    if length == 3 and text[at] == 70 and text[at + 1] == 69 and text[at + 2] == 78:  # FEN
        game.fen, game.fen_end = np.int64(tag.value), end
    elif length == 7 and text[at] == 86:  # V
        for place in range(6):
            if np.int64(text[at + 1 + place]) != _VARIANT[place]:
                return True
        start = np.int64(tag.value)
        if end - start != 8:
            return False
        word = np.uint64(0)
        for place in range(8):
            letter = np.int64(text[start + place])
            if letter >= letters.A and letter <= letters.Z:
                letter |= letters.LOWER
            word |= np.uint64(letter) << np.uint64(8 * place)
        game.chess960 = 1 if word == _CHESS960 else 0
        return word == _CHESS960 or word == _STANDARD
    return True


@kernel
def set_start(tables, reader, text, game):
    """Set up the first position of a game in ``reader.stack[0]``; return the plies before it, or -1 for a bad FEN."""
    reader.now[0] = reader.moved[0] = 0
    if game.fen_end == 0:
        copy_record(reader.stack[0], reader.start)
        return np.int64(0)
    number = read_fen(tables, text, game.fen, game.fen_end, reader.fen, reader.stack[0])
    if number == 0 or reader.fen[LEFT_OUT] or reader.fen[LEFT_OUT + 1]:
        return np.int64(-1)
    return 2 * (number - 1) + np.int64(reader.stack[0].stm)


@kernel
def _read_moves(tables, reader, text, game, moves, clocks, scores, notes):
    depth = np.int64(0)
    begun, empty = False, True  # whether any text was read, and whether this line is empty so far
    at, end = reader.at, reader.end
    while True:
        reader.at = at
        letter = np.int64(text[at])
        if is_blank(letter):
            at += 1
            continue
        length = newline(text, at)
        if length:
            if empty and begun:  # an empty line among the moves may be the end of a game
                return False
            at += length
            reader.line += 1
            empty = True
            continue
        if at >= end:
            return False
        begun, empty = True, False
        if letter == letters.BRACE:
            at = _read_comment(reader, text, at + 1, depth, clocks, scores, notes, reader.moves - game.first_move)
            if at < 0:
                return False
        elif letter == letters.DOT:
            at += 1
        elif letter == letters.OPEN:
            if reader.moved[depth] == 0 or depth == _MAX_DEPTH:
                return False
            before = reader.stack[2 * depth + 1 - reader.now[depth]]
            depth += 1
            copy_record(reader.stack[2 * depth], before)
            reader.now[depth] = reader.moved[depth] = 0
            at += 1
        elif letter == letters.CLOSE:
            # python-chess assigns the text after an empty variation to the next move.
            if depth == 0 or reader.moved[depth] == 0:
                return False
            depth -= 1
            at += 1
        elif letter == letters.DOLLAR or letter == letters.BANG or letter == letters.QUESTION:
            # python-chess assigns a sign at the start of a variation to the move before it.
            if depth > 0 and reader.moved[depth] == 0:
                return False
            at = _read_sign(reader, text, at, depth, notes, reader.moves - game.first_move)
            if at < 0:
                return False
        elif letter == letters.STAR or is_digit(letter):
            result, length = _read_result(text, at)
            if result == 0:
                at = _skip_number(text, at)
                if at < 0:
                    return False
                continue
            at += length
            after = np.int64(text[at])
            if not is_blank(after) and newline(text, at) == 0 and after != letters.CLOSE and at < end:
                return False
            if depth == 0:
                game.result = result
                reader.at = at
                return reader.moves > game.first_move
        else:
            here = 2 * depth + reader.now[depth]
            pos = reader.stack[here]
            move, at = read_san(tables, pos, text, at)
            letter = np.int64(text[at])
            if move == NO_MOVE or not (is_delimiter(letter) or letter == letters.BANG or letter == letters.QUESTION):
                return False
            make(tables, pos, reader.stack[here ^ 1], move)
            reader.now[depth] ^= 1
            reader.moved[depth] = 1
            if depth == 0:
                moves[reader.moves] = move
                clocks[reader.moves] = NO_CLOCK
                scores[reader.moves] = NO_SCORE
                reader.moves += 1


@inlined
def _read_result(text, at):
    """Return the number of the result at a place, and its length; 0 and 0 if there is none."""
    first, second, third = np.int64(text[at]), np.int64(text[at + 1]), np.int64(text[at + 2])
    if first == letters.STAR:
        return np.int64(4), np.int64(1)
    if second == letters.DASH and first + third == 2 * letters.ZERO + 1:
        if first == letters.ZERO + 1:
            return np.int64(1), np.int64(3)
        if first == letters.ZERO:
            return np.int64(3), np.int64(3)
    for place in range(len(_DRAW)):
        if np.int64(text[at + place]) != _DRAW[place]:
            return np.int64(0), np.int64(0)
    return np.int64(2), np.int64(len(_DRAW))


@kernel
def _skip_number(text, at):
    """Return the place after a move number, or -1 if there is none."""
    if np.int64(text[at]) == letters.ZERO:
        return np.int64(-1)
    while is_digit(np.int64(text[at])):
        at += 1
    if not is_blank(np.int64(text[at])) and newline(text, at) == 0 and np.int64(text[at]) != letters.DOT:
        return np.int64(-1)
    while np.int64(text[at]) == letters.DOT:
        at += 1
    return at


@kernel
def _read_sign(reader, text, at, depth, notes, ply):
    """Read an annotation such as ``$4`` or ``??``; return the place after it, or -1 if it is faulty."""
    letter = np.int64(text[at])
    nag = np.int64(0)
    if letter == letters.DOLLAR:
        digits = at + 1
        at = digits
        while is_digit(np.int64(text[at])) and at < digits + 4:
            nag = nag * 10 + np.int64(text[at]) - letters.ZERO
            at += 1
        if at == digits or at > digits + 3:
            return np.int64(-1)
    else:
        nag = np.int64(1 if letter == letters.BANG else 2)
        at += 1
        second = np.int64(text[at])
        if second == letters.BANG or second == letters.QUESTION:
            nag += 2 if second == letter else 4
            at += 1
    if not is_delimiter(np.int64(text[at])):
        return np.int64(-1)
    if depth == 0:
        note = notes[reader.notes]
        note.ply, note.nag, note.start, note.end = ply, nag, 0, 0
        reader.notes += 1
    return at


@kernel
def _read_comment(reader, text, at, depth, clocks, scores, notes, ply):
    """Read a comment from its first character on; return the place after its closing brace, or -1 if it has none."""
    start = at
    kept = depth == 0 and ply > 0
    while True:
        letter = np.int64(text[at])
        if letter == letters.END_BRACE:
            break
        if letter == letters.BRACKET and kept:
            if is_odd_command(text, at):
                reader.at = at
                return np.int64(-1)
            read_command(text, at, clocks, scores, reader.moves - 1, np.int64(reader.stack[reader.now[0]].stm))
        elif letter == letters.RETURN and np.int64(text[at + 1]) != letters.NEWLINE:
            reader.at = at
            return np.int64(-1)
        elif letter == letters.NEWLINE:
            # A tag at the start of a line may belong to the next game, if the comment has no closing brace.
            reader.line += 1
            ahead = at + 1
            while is_blank(np.int64(text[ahead])):
                ahead += 1
            first = np.int64(text[ahead])
            if first == letters.BRACKET:
                ahead += 1
                while is_blank(np.int64(text[ahead])):
                    ahead += 1
            doubtful = is_alphanumeric(np.int64(text[ahead])) if first == letters.BRACKET else is_odd(first)
            if doubtful or ahead >= reader.end:
                reader.at = ahead
                return np.int64(-1)
        elif letter == 0 and at >= reader.end:
            reader.at = at
            return np.int64(-1)
        at += 1
    if depth == 0:
        note = notes[reader.notes]
        note.ply, note.nag, note.start, note.end = ply, -1, start, at
        reader.notes += 1
    return at + 1


@kernel
def _finish(reader, text):
    """Go on to the next game, which begins after an empty line or with a tag."""
    at = reader.at
    while is_blank(np.int64(text[at])):
        at += 1
    reader.at = at
    if at >= reader.end:
        return reader.last != 0
    ends = np.int64(0)  # number of line ends
    while True:
        length = newline(text, at)
        if length == 0:
            break
        at += length
        reader.line += 1
        ends += 1
    reader.at = at
    if at >= reader.end:
        return reader.last != 0
    letter = np.int64(text[at])
    if letter == letters.BRACKET:
        return ends > 0
    # A line that begins with white space still belongs to this game.
    return ends > 1 and not is_blank(letter) and not is_odd(letter) and letter != letters.RETURN
