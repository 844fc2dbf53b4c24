"""The inner loops of training, compiled by Numba: targets, outputs, gradients, and the steps of AdamW.
They are in one file, because Numba's cache notices changes only in the file of the cached function.
"""

import math

import numpy as np
from numba import njit

from knightadder.core.board.viriformat import HEADER, NO_SCORE
from knightadder.core.evaluation.network_file import INPUTS
from knightadder.core.layout import MAX_MEN_ON_BOARD
from knightadder.native.intrinsics import lsb
from knightadder.workshop.train.weights import LIMIT

#: Value of the field `spare` in a packed position that has a score, but no result.
NO_RESULT = 1

_FAST = {"nogil": True, "fastmath": True, "error_model": "numpy", "cache": True}
_SQUARES = 64
# Number of positions whose gradients are added together, row by row. Position by position, most rows would come from a
# slow cache. Measured with 64 to 512 positions and 512 neurons.
_BLOCK = 128
# The hidden layer's sums are computed from weights in 1024ths, as 16-bit integers, to read only half as much memory.
# The finished network is a quarter as exact. Sums beyond ±32 would overflow, but training does not raise sums above 1.
_STEPS = np.float32(1024)
_STEP, _HALF = np.float32(1 / 1024), np.float32(0.5)
_KING, _ROOK = 5, 3  # codes of packed pieces; a code above the king's is a rook that may castle
_ZERO, _ONE = np.float32(0), np.float32(1)

# AdamW's usual constants (Loshchilov and Hutter, 2019): the decay of the mean gradient and of the mean square.
DECAY_1, DECAY_2, EPSILON = 0.9, 0.999, 1e-8
_BETA_1, _BETA_2, _EPSILON = np.float32(DECAY_1), np.float32(DECAY_2), np.float32(EPSILON)
_LOWEST, _HIGHEST = np.float32(-LIMIT), np.float32(LIMIT)


@njit(nogil=True, error_model="numpy", cache=True)
def mix_in_later_scores(words, later_share, scale, score_below):
    """Replace each score of whole games in viriformat by its λ-return (Sutton and Barto, Reinforcement Learning, 12).

    Returns are expected results. The return of a position is λ (`later_share`) times the return of the next position,
    plus 1 - λ times the position's own score; after the last position, it is the game's result. Scores beyond
    `score_below` are kept, because they are not used.
    """
    begin = 0
    while begin + HEADER < words.size:
        end = begin + HEADER
        while end < words.size and words[end] != 0:
            end += 1
        result = (np.int64(words[begin + HEADER - 1]) >> 16) & 255  # byte 30 of the packed position
        expected = result * 0.5
        for place in range(end - 1, begin + HEADER - 1, -1):
            word = np.int64(words[place])
            score = word >> 16
            score -= 0x10000 if score >= 0x8000 else 0
            if score == NO_SCORE:
                continue
            expected = later_share * expected + (1.0 - later_share) / (1.0 + math.exp(-score / scale))
            if abs(score) < score_below:
                mixed = scale * math.log(expected / (1.0 - expected))
                mixed = np.int64(round(min(max(mixed, 1.0 - score_below), score_below - 1.0)))
                words[place] = np.uint32((word & 0xFFFF) | (mixed & 0xFFFF) << 16)
        begin = end + 1


@njit(**_FAST)
def list_features(record, views, codes, squares, own, other):
    """List the features of a packed position, for the side to move and for the other side; return their number.

    ``core/evaluation/network_file.py`` describes the features; `views` are its `king_views`. A feature in king bucket b
    is increased by b times the number of inputs. `codes` and `squares` are working memory. All arrays
    have room for 64 pieces, so that even a damaged record causes no index out of range.
    """
    rest, count = record.occupied, 0
    white_king = black_king = np.int64(0)
    while rest:
        square = lsb(rest)
        rest &= rest - np.uint64(1)
        code = (np.int64(record.pieces[(count >> 1) & 15]) >> ((count & 1) << 2)) & 15
        if code & 7 > _KING:
            code = (code & 8) | _ROOK
        if code == _KING:
            white_king = square
        elif code == _KING + 8:
            black_king = square
        codes[count], squares[count] = code, square
        count += 1
    black_to_move = np.int64(record.stm_ep) >> 7
    own_king, other_king = white_king, black_king
    if black_to_move:
        own_king, other_king = black_king, white_king
    own_turn, other_turn = 56 * black_to_move, 56 * (1 - black_to_move)
    own_view, other_view = views[own_king ^ own_turn], views[other_king ^ other_turn]
    own_turn, other_turn = own_turn ^ (own_view & 7), other_turn ^ (other_view & 7)
    own_first, other_first = (own_view >> 3) * INPUTS, (other_view >> 3) * INPUTS
    for man in range(count):
        theirs = (codes[man] >> 3) ^ black_to_move
        kind = (codes[man] & 7) * 64
        own[man] = own_first + theirs * 384 + kind + (squares[man] ^ own_turn)
        other[man] = other_first + (theirs ^ 1) * 384 + kind + (squares[man] ^ other_turn)
    return count


@njit(**_FAST)
def _add_rows(total, rows, which, begin, end):
    """Add the rows with the numbers ``which[begin:end]``; adding four at a time reads the total less often."""
    while begin + 4 <= end:
        a, b = rows[which[begin]], rows[which[begin + 1]]
        c, d = rows[which[begin + 2]], rows[which[begin + 3]]
        for i in range(total.size):
            total[i] += (a[i] + b[i]) + (c[i] + d[i])
        begin += 4
    while begin < end:
        a = rows[which[begin]]
        for i in range(total.size):
            total[i] += a[i]
        begin += 1


@njit(**_FAST)
def _activate_and_weigh(total, weights):
    """Return the weighted sum of the squares of the clipped values (SCReLU)."""
    output = _ZERO
    for i in range(total.size):
        clipped = min(max(total[i], _ZERO), _ONE)
        output += clipped * clipped * weights[i]
    return output


@njit(**_FAST)
def _go_back(total, weights, slope, output_slopes, bias_slopes):
    """Add the gradient of one side's outputs and biases; the gradient of the sums replaces the sums in `total`."""
    for i in range(total.size):
        clipped = min(max(total[i], _ZERO), _ONE)
        output_slopes[i] += slope * clipped * clipped
        hidden = slope * weights[i] * (clipped + clipped)
        hidden = hidden if total[i] < _ONE else _ZERO
        bias_slopes[i] += hidden
        total[i] = hidden


@njit(**_FAST)
def _list_sides(features, counts, sides, starts, listed):
    """Sort a block's sides by their features: ``listed[starts[f] : starts[f + 1]]`` are the sides with feature f."""
    starts[:] = 0
    for side in range(sides):
        for man in range(counts[side]):
            starts[features[side, man] + 2] += 1
    for feature in range(2, starts.size):
        starts[feature] += starts[feature - 1]
    for side in range(sides):
        for man in range(counts[side]):
            feature = features[side, man]
            listed[starts[feature + 1]] = side
            starts[feature + 1] += 1


@njit(**_FAST)
def pass_over(records, weights, slopes, learn, views, scale, result_share, exponent, outputs):
    """Compute the outputs of positions, and return the sum of their losses; with `learn`, add its gradient to `slopes`.

    The loss is ``abs(sigmoid(output) - target) ** exponent``. The target is `result_share` times the game's result plus
    ``1 - result_share`` times ``sigmoid(score / scale)``, from the side to move's view; for positions marked by
    `NO_RESULT`, only the score counts. Weights and slopes are tuples of arrays, see `Shape.parts`; `outputs` receives
    the outputs.
    """
    feature_weights, feature_biases, output_weights, output_biases = weights
    feature_slopes, bias_slopes, output_slopes, output_bias_slopes = slopes
    codes, squares = np.zeros(_SQUARES, np.int64), np.zeros(_SQUARES, np.int64)
    # The side to move of the block's position p is the block's side 2 p; the other side is 2 p + 1.
    features, counts = np.zeros((2 * _BLOCK, _SQUARES), np.int64), np.zeros(2 * _BLOCK, np.int64)
    sums = np.zeros((2 * _BLOCK, feature_biases.size), np.float32)
    fixed_sums, fixed_weights = np.zeros(feature_biases.size, np.int16), np.empty(feature_weights.shape, np.int16)
    for feature in range(feature_weights.shape[0]):
        for i in range(fixed_sums.size):
            fixed_weights[feature, i] = np.int16(math.floor(feature_weights[feature, i] * _STEPS + _HALF))
    starts, listed = np.zeros(feature_weights.shape[0] + 2, np.int64), np.zeros(features.size, np.int64)
    men_per_bucket = (MAX_MEN_ON_BOARD + output_biases.size - 1) // output_biases.size
    loss = 0.0
    for first in range(0, records.size, _BLOCK):
        block = records[first : first + _BLOCK]
        for place in range(block.size):
            record, own, other = block[place], 2 * place, 2 * place + 1
            count = list_features(record, views, codes, squares, features[own], features[other])
            counts[own] = counts[other] = count
            bucket = (min(max(count, 2), MAX_MEN_ON_BOARD) - 2) // men_per_bucket
            output = output_biases[bucket]
            for side in range(own, other + 1):
                total = sums[side]
                for i in range(total.size):
                    fixed_sums[i] = 0
                _add_rows(fixed_sums, fixed_weights, features[side], 0, count)
                for i in range(total.size):
                    total[i] = feature_biases[i] + np.float32(fixed_sums[i]) * _STEP
                output += _activate_and_weigh(total, output_weights[bucket, side - own])
            outputs[first + place] = output

            score, result = record.score / scale, record.result * 0.5
            if record.stm_ep >> 7:
                score, result = -score, 1.0 - result
            share = result_share if record.spare != NO_RESULT else 0.0
            target = share * result + (1.0 - share) / (1.0 + math.exp(-score))
            expected = 1.0 / (1.0 + math.exp(-output))
            error = expected - target
            # The derivative of the loss with respect to the error, and the loss.
            steepness = 2.0 * error
            if exponent != 2.0 and error != 0.0:
                steepness = math.copysign(exponent * math.exp((exponent - 1.0) * math.log(abs(error))), error)
            loss += steepness * error / exponent
            if learn:
                slope = np.float32(steepness * expected * (1.0 - expected))
                output_bias_slopes[bucket] += slope
                for side in range(own, other + 1):
                    part = bucket, side - own
                    _go_back(sums[side], output_weights[part], slope, output_slopes[part], bias_slopes)
        if learn:
            _list_sides(features, counts, 2 * block.size, starts, listed)
            for feature in range(starts.size - 2):
                if starts[feature] < starts[feature + 1]:
                    _add_rows(feature_slopes[feature], sums, listed, starts[feature], starts[feature + 1])
    return loss


@njit(**_FAST)
def adamw(weights, means, squares, slopes, first, end, factor, rate, decay, steps):
    """Do step number `steps` of AdamW on ``weights[first:end]``; the threads' gradients are added up and cleared.

    `means` and `squares` are the decaying means of the gradient and of its square. `slopes`, of shape (threads,
    weights), contains the gradients times the number of positions, and `factor` is 1 / the number of positions. `decay`
    is the weight decay as a share of the step.
    """
    mean_factor = np.float32(1.0 / (1.0 - DECAY_1**steps))
    square_factor = np.float32(1.0 / (1.0 - DECAY_2**steps))
    for i in range(first, end):
        slope = _ZERO
        for thread in range(slopes.shape[0]):
            slope += slopes[thread, i]
            slopes[thread, i] = _ZERO
        slope *= factor
        means[i] = _BETA_1 * means[i] + (_ONE - _BETA_1) * slope
        squares[i] = _BETA_2 * squares[i] + (_ONE - _BETA_2) * slope * slope
        step = means[i] * mean_factor / (math.sqrt(squares[i] * square_factor) + _EPSILON)
        weights[i] = min(max(weights[i] - rate * (step + decay * weights[i]), _LOWEST), _HIGHEST)
