"""Supervised training of a network on V* (thesis 5.3); interrupted training is resumed."""

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from distill.common import InputError, check_memory
from distill.networks.examples import Examples
from distill.networks.execution import one_thread
from distill.networks.network import Network
from distill.networks.settings import DEFAULT_FAMILY, Training
from distill.networks.tensors import read_tensors, write_tensors

KIND = "training in progress"
_WARM_UP = 100


@dataclass(frozen=True)
class Epoch:
    """One line of the learning curve.

    Attributes
    ----------
    number : from 1 on.
    loss : mean over the epoch's batches.
    validation_mae : mean |V − V*| over the validation states.
    seconds : training time so far, without interruptions.
    """

    number: int
    loss: float
    validation_mae: float
    seconds: float


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """A trained network and its learning curve.

    Attributes
    ----------
    network : with the weights of the best epoch.
    seed : of its initial weights and its batches.
    best : number of the epoch with the least validation error.
    history : all epochs.
    """

    network: Network
    seed: int
    best: int
    history: tuple[Epoch, ...]

    @property
    def validation_mae(self) -> float:
        """Of the best epoch."""
        return self.history[self.best - 1].validation_mae


def train(
    network: Network,
    training: Examples,
    validation: Examples,
    settings: Training,
    *,
    seed: int,
    start: Mapping[str, Tensor] | None = None,
    file: Path | None = None,
    progress: Callable[[Epoch], None] | None = None,
) -> TrainingResult:
    """Train one network; the same arguments give the same weights, interrupted or not.

    Parameters
    ----------
    network : its form is trained; its weights are ignored.
    start : the first weights; the seed draws them if they are left out.
    training, validation : labelled states, for networks of this form.
    file : stores the training state after every epoch; if it exists, training is resumed.
    progress : called after every epoch.
    """
    if not len(training) or not len(validation):
        raise InputError("There are no labelled states to train or validate on; label more, or other splits.")
    if not settings.multiplicity:
        training, validation = training.counted_once(), validation.counted_once()
    if len(validation) > settings.validation_states:
        few = np.random.default_rng(0).choice(len(validation), settings.validation_states, replace=False)
        validation = validation.part(np.sort(few))
    if settings.layer_spread and not network.recurrent:
        raise InputError(
            f"Networks of the family {network.family} always run all their layers; set layer_spread to 0."
        )
    _check_batch(network, training, settings)
    state = _TrainingState(network, settings, seed, start)
    if file is not None and file.exists():
        state.restore(file)
    with one_thread():
        while not state.done:
            epoch = state.advance(training, validation)
            if file is not None:
                state.store(file)
            if progress:
                progress(epoch)
    return state.result()


def _check_batch(network: Network, training: Examples, settings: Training) -> None:
    """Refuse a batch whose activations do not fit in memory; those of one state are computed to know."""
    sizes = np.sort(training.inputs.sizes)
    rows = int(sizes[-settings.batch_size :].sum())
    one = training.part(np.array([np.argmax(training.inputs.sizes)]))
    with torch.no_grad():
        tables = network.run(one.inputs).sites.values()
    needed = rows / max(1, sizes[-1]) * sum(table.nbytes for table in tables)
    check_memory(needed, f"A batch with {rows} objects", "lower batch_size, layers or size")


class _TrainingState:
    """The training state between two epochs."""

    def __init__(
        self, form: Network, settings: Training, seed: int, start: Mapping[str, Tensor] | None = None
    ) -> None:
        self.network = form.untrained(seed)
        if start is not None:
            self.network.with_weights(start)
        self.network.origin = f"The network trained with seed {seed}"
        self.settings, self.seed = settings, seed
        self.optimiser = torch.optim.Adam(
            self.network.parameters(),
            lr=settings.learning_rate,
            weight_decay=settings.weight_decay,
            fused=True,
        )
        self.history: list[Epoch] = []
        self.best = 0
        self.best_weights = _copy_weights(self.network)

    @property
    def done(self) -> bool:
        waited = len(self.history) - self.best
        spent = self.history[-1].seconds if self.history else 0.0
        return (
            len(self.history) >= self.settings.epochs
            or waited >= max(1, self.settings.patience)
            or 0 < self.settings.time_limit <= spent
        )

    def advance(self, training: Examples, validation: Examples) -> Epoch:
        start = time.monotonic()
        # Seeded by epoch, so that no random state is stored between epochs.
        rng = np.random.default_rng([self.seed, len(self.history)])
        weights = training.weights()
        losses = []
        for number in range(self.settings.batches):
            self._set_learning_rate(len(self.history) * self.settings.batches + number)
            layers = self._draw_layers(rng)
            if self.settings.batch_size:
                drawn = rng.choice(len(training), self.settings.batch_size, p=weights)
                states, counts = np.unique(drawn, return_counts=True)
                losses.append(self._step(training.part(states), counts / len(drawn), layers))
            else:
                losses.append(self._step(training, weights, layers))
        error = validation.mae(self.network)
        numbers = [
            error,
            *losses,
            *(float(value.detach().abs().max()) for value in self.network.parameters()),
        ]
        if not np.isfinite(numbers).all():
            raise InputError(
                f"The training with seed {self.seed} diverged in epoch {len(self.history) + 1}; lower "
                "learning_rate or clip."
            )
        spent = (self.history[-1].seconds if self.history else 0.0) + time.monotonic() - start
        epoch = Epoch(len(self.history) + 1, float(np.mean(losses)), error, round(spent, 3))
        self.history.append(epoch)
        if not self.best or error < self.history[self.best - 1].validation_mae:
            self.best, self.best_weights = epoch.number, _copy_weights(self.network)
        return epoch

    def _set_learning_rate(self, batches: int) -> None:
        """Linear warm-up over the first hundred batches, then cosine decay; see `Training.schedule`."""
        if self.settings.schedule == "none":
            return
        done = batches / (self.settings.epochs * self.settings.batches)
        factor = min(1.0, (batches + 1) / _WARM_UP) * (1 + math.cos(math.pi * done)) / 2
        for group in self.optimiser.param_groups:
            group["lr"] = self.settings.learning_rate * factor

    def _draw_layers(self, rng: np.random.Generator) -> int:
        layers, spread = self.network.layers, self.settings.layer_spread
        return int(rng.integers(max(1, layers - spread), layers + spread + 1))

    def _step(self, batch: Examples, weights: NDArray[np.float64], layers: int) -> float:
        difference = batch.run(self.network, layers) - torch.from_numpy(batch.label).float()
        error = difference.abs() if self.settings.loss == "l1" else difference.square()
        loss = (error * torch.from_numpy(weights).float()).sum()
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if self.settings.clip:
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.settings.clip)
        self.optimiser.step()
        return loss.item()

    def store(self, file: Path) -> None:
        tensors = {f"now.{name}": value for name, value in self.network.state_dict().items()}
        tensors |= {f"best.{name}": value for name, value in self.best_weights.items()}
        for number, state in self.optimiser.state_dict()["state"].items():
            tensors |= {f"adam.{number}.{name}": value for name, value in state.items()}
        metadata = {
            "kind": KIND,
            "identity": self._identity(),
            "best": self.best,
            "history": [asdict(epoch) for epoch in self.history],
        }
        write_tensors(file, tensors, metadata)

    def restore(self, file: Path) -> None:
        tensors, metadata = read_tensors(file, KIND)
        if metadata["identity"] != self._identity():
            raise InputError(
                f"{file} belongs to a training with other settings; remove it or choose another file."
            )
        parts: dict[str, dict[str, Tensor]] = {"now": {}, "best": {}, "adam": {}}
        for name, value in tensors.items():
            part, _, rest = name.partition(".")
            parts[part][rest] = value
        self.network.load_state_dict(parts["now"])
        self.best_weights, self.best = parts["best"], metadata["best"]
        states: dict[int, dict[str, Tensor]] = {}
        for name, value in parts["adam"].items():
            number, _, key = name.partition(".")
            states.setdefault(int(number), {})[key] = value
        self.optimiser.load_state_dict(
            {"state": states, "param_groups": self.optimiser.state_dict()["param_groups"]}
        )
        self.history = [Epoch(**epoch) for epoch in metadata["history"]]

    def _identity(self) -> str:
        family = self.network.family
        parts = [self.network.vocabulary.to_json(), self.network.settings.to_mapping()]
        named = [] if family == DEFAULT_FAMILY else [family]
        return json.dumps([*parts, self.settings.of_one_seed(), self.seed, *named])

    def result(self) -> TrainingResult:
        self.network.load_state_dict(self.best_weights)
        return TrainingResult(self.network, self.seed, self.best, tuple(self.history))


def _copy_weights(network: Network) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in network.state_dict().items()}
