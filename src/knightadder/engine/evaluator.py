"""The evaluation in use: the core's tables, and the network copied into them."""

from pathlib import Path

import numpy as np

from knightadder.core.evaluation import network
from knightadder.core.evaluation.evaluate import CLASSICAL, NETWORK, PESTO, fill_tables
from knightadder.core.evaluation.network_file import Network, read_network
from knightadder.core.tables import new_tables
from knightadder.engine.errors import OptionError
from knightadder.engine.options import BUILT_IN, DEFAULT_EVALUATION, EVALUATION_NAMES

# The core's number of each evaluation, by its name in the option EvalType.
EVALUATIONS = dict(zip(EVALUATION_NAMES, (CLASSICAL, PESTO, NETWORK), strict=True))

BUILT_IN_FILE = Path(__file__).parents[1] / "data" / "default.nnue"


def evaluation_of(tables: np.record) -> str:
    """Return the name of the evaluation that the tables were filled for."""
    return next(name for name, number in EVALUATIONS.items() if number == tables.evaluation)


def load_network(file: Path) -> Network:
    """Read a network; OptionError if the file cannot be read or is not a network file."""
    try:
        return read_network(file)
    except OSError as error:
        raise OptionError(f"cannot read {file}: {error.strerror}") from None
    except ValueError as error:
        raise OptionError(str(error)) from None


class Evaluator:
    """The core's tables, always in the same record, with an evaluation that can be changed.

    A network is read only when it is needed. If the user's file cannot be used, an `OptionError` is raised, and nothing
    changes. If the built-in network cannot be used, the classical evaluation replaces it, and `problem` is a line that
    says why.
    """

    def __init__(self, evaluation: str = DEFAULT_EVALUATION, file: str = BUILT_IN) -> None:
        self._wanted, self._file = evaluation, file
        self._loaded: str | None = None  # file of the network that is in the tables
        self.tables: np.record = new_tables(EVALUATIONS[evaluation])
        self.problem: str | None = None
        if file != BUILT_IN:
            self._load(file)
        elif evaluation == "nnue":
            try:
                self._load(file)
            except OptionError as error:
                fill_tables(self.tables, CLASSICAL)
                self.problem = f"{error}; the classical evaluation is used instead"

    @property
    def name(self) -> str:
        """The name of the evaluation in use."""
        return evaluation_of(self.tables)

    def choose(self, evaluation: str) -> bool:
        """Change the evaluation, and return whether values have changed; OptionError if its network cannot be used."""
        if evaluation == "nnue" and self._loaded != self._file:
            self._load(self._file)
        self._wanted, self.problem = evaluation, None
        return self._apply()

    def use_network(self, file: str) -> bool:
        """Change the network, and return whether values have changed; OptionError if the file cannot be used."""
        if file != BUILT_IN or self._wanted == "nnue":
            self._load(file)
        self._file = file
        return self._apply() or self.tables.evaluation == NETWORK

    def _apply(self) -> bool:
        """Fill the tables for the wanted evaluation; return whether the evaluation has changed."""
        if self.tables.evaluation == EVALUATIONS[self._wanted]:
            return False
        fill_tables(self.tables, EVALUATIONS[self._wanted])
        return True

    def _load(self, file: str) -> None:
        path = BUILT_IN_FILE if file == BUILT_IN else Path(file)
        try:
            network.fill_tables(self.tables, load_network(path))
        except ValueError as error:
            prefix = "the built-in network cannot be used: " if file == BUILT_IN else ""
            raise OptionError(f"{prefix}{error}") from None
        self._loaded, self.problem = file, None
