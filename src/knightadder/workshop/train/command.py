"""The subcommand `train`: trains a network from games, draws it, and exchanges networks with other trainers."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

from knightadder.arguments import declare, not_negative, number, positive, positive_number, share, whole
from knightadder.digests import content_digest
from knightadder.engine.errors import OptionError
from knightadder.engine.options import EVALUATION_NAMES
from knightadder.extras import needed_by
from knightadder.files import check_new, check_outputs, locked, make_folder, without_links, write_whole
from knightadder.foreign import whole_or_none
from knightadder.progress import progress
from knightadder.runs import going_on
from knightadder.text import tell

if TYPE_CHECKING:
    from knightadder.core.evaluation.network_file import Network
    from knightadder.workshop.train.run import TrainSettings
    from knightadder.workshop.train.weights import Flat, Shape

_DISTILL_SHARE = 0.5  # default share of distilled positions: the best in the first trials

_DESCRIPTION = """\
Train a network (NNUE) from games that `knightadder datagen` has made. State and loss curve are kept in a folder; the
same command continues an interrupted run. docs/networks.md describes all options.
"""


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand ``train``."""
    command = commands.add_parser("train", help="train a network from games", description=_DESCRIPTION)
    command.add_argument("games", type=Path, nargs="*", metavar="FOLDER", help="folder with games made by `datagen`")
    declare(command, "--state")
    declare(command, "--restart")
    command.add_argument(
        "-o", "--out", type=Path, metavar="FILE", help="file for the network; with --plot, folder for the pictures"
    )
    declare(command, "--force")
    command.add_argument(
        "--name",
        default="",
        metavar="TEXT",
        help="one line of text that describes the network, stored in the network file",
    )
    declare(command, "--threads", help="number of training threads (default: one for each processor core)")

    add_settings(command)

    command.add_argument_group("pictures").add_argument(
        "--plot",
        dest="drawn",
        type=Path,
        metavar="FILE",
        help="draw pictures of this network or --export file, which also show how it evaluates positions from "
        "the games",
    )

    exchange = command.add_argument_group("exchange with other trainers")
    exchange.add_argument(
        "--export",
        type=Path,
        metavar="FILE",
        help="write the trained weights to this file: NumPy arrays if its name ends in .npz, bullet's layout if "
        "it ends in .bin",
    )
    exchange.add_argument(
        "--import",
        dest="imported",
        type=Path,
        metavar="FILE",
        help="make a network from the weights in this file: an .npz file made by --export, or bullet's "
        "quantised.bin; for bullet's file, also give --buckets, --king-buckets, --scale and --no-mirror as in bullet's "
        "training",
    )
    command.set_defaults(run=run)


def add_settings(command: argparse.ArgumentParser) -> None:
    """Declare the arguments that `settings_of` reads, besides the folders of games."""
    network = command.add_argument_group("the network")
    network.add_argument(
        "--width",
        type=_width,
        default=256,
        metavar="N",
        help="width of the network's hidden layer (default: 256); the engine can use up to 512",
    )
    network.add_argument(
        "--buckets",
        type=int,
        choices=(1, 2, 4, 8),
        default=1,
        help="number of the network's output buckets (default: 1)",
    )
    network.add_argument(
        "--no-mirror",
        dest="mirrored",
        action="store_false",
        help="do not mirror the board when the king is on files e to h",
    )
    network.add_argument(
        "--king-buckets",
        type=int,
        choices=(1, 4),
        default=1,
        help="number of sets of feature weights, which depend on the square of the side's king (default: 1)",
    )
    network.add_argument(
        "--scale",
        type=whole(1, 65_535),
        default=200,
        metavar="CP",
        help="centipawns that correspond to a network output of 1 (default: 200)",
    )

    data = command.add_argument_group("the positions")
    declare(data, "--positions", help="maximum number of positions to take from the games")
    data.add_argument(
        "--first-ply",
        type=not_negative,
        default=16,
        metavar="N",
        help="leave out the positions before ply N of each game (default: 16)",
    )
    data.add_argument(
        "--score-below",
        type=whole(1, 32_767),  # the maximum of 16 bits
        default=3000,
        metavar="CP",
        help="use only positions whose absolute score is below CP centipawns (default: 3000)",
    )
    data.add_argument(
        "--distill",
        choices=EVALUATION_NAMES,
        help="evaluation function that gives scores to additional training positions",
    )
    data.add_argument(
        "--distill-share",
        type=share,
        metavar="S",
        help="share of each batch whose positions get their scores from --distill (default: 0.5)",
    )

    training = command.add_argument_group("training")
    long = training.add_mutually_exclusive_group()
    declare(long, "--epochs", default=10)
    long.add_argument(
        "--length", type=positive, metavar="N", help="total number of positions to train on, in place of --epochs"
    )
    training.add_argument(
        "--batch",
        type=positive,
        metavar="N",
        help="number of positions in each training step (default: 4096, or 16384 if there are at least ten "
        "million positions)",
    )
    declare(training, "--rate", default=1e-3, help="learning rate at the beginning of the training")
    training.add_argument(
        "--last-rate",
        type=positive_number,
        metavar="X",
        help="learning rate at the end of the training (default: 0.0024 times --rate)",
    )
    training.add_argument(
        "--linear",
        action="store_true",
        help="let the learning rate fall along a straight line, instead of half a cosine",
    )
    training.add_argument(
        "--warm-up",
        type=positive,
        metavar="N",
        help="number of steps at the start in which the learning rate rises (default: 100)",
    )
    declare(training, "--result-share", default=0.0)
    training.add_argument(
        "--last-result-share",
        type=share,
        metavar="S",
        help="result share at the last step; it changes linearly from --result-share (default: no change)",
    )
    training.add_argument(
        "--exponent",
        type=number(1, 10),
        default=2.0,
        metavar="X",
        help="power of the error in the loss function, from 1 to 10 (default: 2, the squared error)",
    )
    training.add_argument(
        "--last-stage",
        type=share,
        default=0.0,
        metavar="S",
        help="share of the steps in a separate last stage, which has its own rate and result share (default: 0)",
    )
    training.add_argument(
        "--last-stage-rate",
        type=positive_number,
        metavar="X",
        help="learning rate in the separate last stage (default: --last-rate)",
    )
    training.add_argument(
        "--last-stage-result-share",
        type=share,
        metavar="S",
        help="result share in the separate last stage (default: --last-result-share)",
    )
    training.add_argument(
        "--average",
        type=not_negative,
        default=0,
        metavar="N",
        help="average the network's weights over about N steps (default: 0, no average)",
    )
    training.add_argument(
        "--later-share",
        type=share,
        default=0.0,
        metavar="S",
        help="share of the game's later scores that is mixed into the score of each position, from 0 to 1: the λ of "
        "TD(λ) (default: 0)",
    )
    training.add_argument(
        "--start",
        type=Path,
        metavar="FILE",
        help="begin with the weights of this network or --export file; --width may be greater than in the file",
    )
    declare(training, "--seed")


def _width(text: str) -> int:
    """Return a width that a network file can have; `_warn_of_size` warns if it is too large for this engine."""
    value = whole_or_none(text)
    if value is None or value % 16 or not 16 <= value <= 2048:
        raise argparse.ArgumentTypeError(f"expected a multiple of 16, up to 2048, not {text!r:.60}")
    return value


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and return the exit status; OptionError if an argument, a file or the state is unusable."""
    folder: Path | None = arguments.state
    if arguments.drawn:
        if folder or arguments.export or arguments.imported or not arguments.games or not arguments.out:
            raise OptionError("--plot needs games and --out, and excludes --state, --export and --import")
        if not arguments.out.is_dir():
            raise OptionError(f"cannot write to {arguments.out}: there is no such folder")
        _draw(arguments)
        return 0
    check_name(arguments.name)
    outputs = {"--out": arguments.out, "--export": arguments.export}
    if folder:
        with needed_by("train", "train"):
            from knightadder.workshop.train.run import FILES
        check_outputs(outputs, [folder / name for name in FILES], "the state of the run")
    for file in filter(None, outputs.values()):
        check_new(file, arguments.force, made=folder)
    if arguments.imported:
        if arguments.games or arguments.export or folder or not arguments.out:
            raise OptionError("--import needs --out, and excludes games, --state and --export")
        _write_network(_import(arguments), arguments.out, arguments.force)
    elif arguments.export:
        if arguments.games or arguments.out or not folder:
            raise OptionError("--export needs --state, and excludes games and --out")
        _export(folder, arguments.export)
    elif not arguments.games or not folder:
        raise OptionError("give folders of games and --state, or see --help")
    else:
        _train(folder, arguments)
    return 0


def _train(folder: Path, arguments: argparse.Namespace) -> None:
    with needed_by("train", "train"):
        from knightadder.workshop.train import run as training
        from knightadder.workshop.train.comparison import compare
        from knightadder.workshop.train.selection import choose, has_positions, load_positions, open_games

    from knightadder.engine.capacity import processors
    from knightadder.engine.loader import compile_core

    settings = settings_of(arguments)
    weights = training.first_weights(settings.shape, settings.scale, arguments.start, arguments.seed)
    out: Path = arguments.out or folder / "network.nnue"
    _warn_of_size(settings.shape)
    compile_core()
    if arguments.restart or not has_positions(folder):  # a wrong folder of games must change nothing
        for parts in [open_games(games) for games in arguments.games]:
            parts.tell_left_out()
    make_folder(folder)
    threads = arguments.threads or processors()
    with locked(folder):
        training.check_settings(folder, settings, arguments.restart)
        if not has_positions(folder):
            choose(arguments.games, settings.wanted, arguments.positions, settings.targets, folder, arguments.seed)
        selection, held_out = load_positions(folder)
        print(f"about {selection.positions} positions for training, {len(held_out)} for validation", flush=True)
        size, total = training.length(settings, selection.positions)
        with settings.trainer(weights, threads) as trainer, progress(total * size, 0, "positions") as update:
            begun, first = time.perf_counter(), 0

            def tell_progress(now: int, text: str) -> None:
                nonlocal begun, first
                if not first:  # an earlier process has trained on the positions before `now`
                    begun, first = time.perf_counter(), now
                speed = (now - first) / max(time.perf_counter() - begun, 1e-9)
                update(now, f"{speed:.0f}/s  {text}")

            with going_on(lambda: f"The state is in {folder}" if first else ""):
                losses = training.train(folder, settings, selection, held_out, trainer, tell_progress)
        last = "  ".join(f"{name} {curve[-1]:.6f}" for name, curve in losses.curves.items())
        print(f"{total * size} positions trained on  {last}")
        network = quantised(trainer.averaged, settings.shape, settings.scale, arguments.name)
        print(compare(network, held_out))
        _write_network(network, out, force=arguments.force or not arguments.out)


def settings_of(arguments: argparse.Namespace) -> TrainSettings:
    """Return the settings of a run; OptionError if they contradict each other, or a file cannot be read."""
    from knightadder.engine.evaluator import BUILT_IN_FILE, load_network
    from knightadder.workshop.train.run import LAST_RATE, WARM_UP, TrainSettings
    from knightadder.workshop.train.weights import Shape

    if arguments.king_buckets > 1 and not arguments.mirrored:
        raise OptionError("--king-buckets does not work with --no-mirror")
    distill_share: float | None = arguments.distill_share
    if arguments.distill is None and distill_share:
        raise OptionError("--distill-share needs --distill")
    if distill_share is None:
        distill_share = _DISTILL_SHARE if arguments.distill else 0.0
    last_rate = _or(arguments.last_rate, arguments.rate * LAST_RATE)
    last_share = _or(arguments.last_result_share, arguments.result_share)
    return TrainSettings(
        games=[str(without_links(folder)) for folder in arguments.games],
        first_ply=arguments.first_ply,
        score_below=arguments.score_below,
        positions=arguments.positions,
        shape=Shape(arguments.width, arguments.buckets, arguments.mirrored, arguments.king_buckets),
        scale=arguments.scale,
        epochs=arguments.epochs,
        batch=arguments.batch,
        length=arguments.length,
        rate=arguments.rate,
        last_rate=last_rate,
        linear=arguments.linear,
        warm_up=arguments.warm_up or WARM_UP,
        result_share=arguments.result_share,
        last_result_share=last_share,
        exponent=arguments.exponent,
        last_stage=arguments.last_stage,
        last_stage_rate=_or(arguments.last_stage_rate, last_rate),
        last_stage_result_share=_or(arguments.last_stage_result_share, last_share),
        average=arguments.average,
        later_share=arguments.later_share,
        distill=arguments.distill,
        distill_share=distill_share,
        distill_network=f"{load_network(BUILT_IN_FILE).key:016x}" if arguments.distill == "nnue" else None,
        start=content_digest(arguments.start)[:16] if arguments.start else None,
        seed=arguments.seed,
    )


def _or(value: float | None, other: float) -> float:
    return other if value is None else value


def _draw(arguments: argparse.Namespace) -> None:
    with needed_by("train", "train"):
        from knightadder.workshop.train.pictures import NEURONS, WORTH, draw

    from knightadder.engine.loader import compile_core
    from knightadder.workshop.datagen.reader import Filter
    from knightadder.workshop.train.exchange import read_weights

    for name in (WORTH, NEURONS):
        check_new(arguments.out / name, arguments.force)
    weights = read_weights(arguments.drawn)
    compile_core()
    wanted = Filter(arguments.first_ply, arguments.score_below, quiet=True)
    for picture in draw(*weights, arguments.games, wanted, arguments.out):
        print(f"Wrote the picture {picture}")


def _export(folder: Path, file: Path) -> None:
    with needed_by("train", "train"):
        from knightadder.workshop.train.run import weights_of
    from knightadder.workshop.train.exchange import write_arrays, write_bullet

    weights, shape, scale = weights_of(folder)
    if file.suffix == ".npz":
        write_arrays(file, weights, shape, scale)
    elif file.suffix == ".bin":
        write_bullet(file, quantised(weights, shape, scale, ""))
    else:
        raise OptionError(f"cannot write {file}: expected a name that ends in .npz or .bin")
    print(f"The weights are in {file}")


def _import(arguments: argparse.Namespace) -> Network:
    from knightadder.workshop.train.exchange import read_arrays, read_bullet
    from knightadder.workshop.train.weights import LIMIT, Shape

    file: Path = arguments.imported
    if file.suffix != ".npz":
        form = arguments.buckets, arguments.mirrored, arguments.king_buckets
        network = read_bullet(file, *form, arguments.scale, arguments.name)
    else:
        weights, shape, scale = read_arrays(file)
        if cut := int((abs(weights) > LIMIT).sum()):
            tell(f"{file}: {cut} weights are beyond ±{LIMIT}: they were clipped")
        network = quantised(weights, shape, scale, arguments.name)
    _warn_of_size(Shape.of(network))
    return network


def _warn_of_size(shape: Shape) -> None:
    from knightadder.core.evaluation.network import check_size

    try:
        check_size(shape.width, shape.buckets)
    except ValueError as error:
        tell(f"this engine cannot play with the network: {error}")


def quantised(weights: Flat, shape: Shape, scale: int, name: str) -> Network:
    """Return the network with integer weights; OptionError if no engine can use it."""
    from knightadder.workshop.train.weights import quantise

    try:
        return quantise(weights, shape, scale, name)
    except ValueError as error:
        raise OptionError(f"cannot make a network of these weights: {error}") from None


def check_name(name: str) -> None:
    """Raise an error, before hours of training, if a network's file cannot contain this description."""
    from knightadder.core.evaluation.network_file import LONGEST_DESCRIPTION

    if len(name.encode()) > LONGEST_DESCRIPTION or len(name.splitlines()) > 1:
        raise OptionError(f"--name must be one line of at most {LONGEST_DESCRIPTION} bytes")


def _write_network(network: Network, file: Path, force: bool) -> None:
    from knightadder.core.evaluation.network_file import network_bytes

    write_whole(file, network_bytes(network), force=force)
    print(f"The network is in {file}")
