"""Options and reading of the commands that simulate a cluster: simulate, explain, what-if and show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Any

from kueue_dra_cli.cluster_source import cluster_documents, cluster_options
from kueue_dra_cli.inputs import Simulation, api_server, simulation_of
from kueue_dra_cli.notes import report_problems
from kueue_dra_cli.options import (
    allow_missing_option,
    behaviour_option,
    cel_option,
    configuration_option,
    from_scratch_option,
    gates_option,
    kubernetes_options,
)
from kueue_dra_ref.simulation.not_considered import InputNotes
from kueue_dra_ref.simulation.run import SimulationResult

OPTIONS = (
    cluster_options,
    from_scratch_option,
    configuration_option,
    behaviour_option,
    gates_option,
    allow_missing_option,
    kubernetes_options,
    cel_option,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """Manifests that were simulated, and what was not considered."""

    simulation: Simulation
    result: SimulationResult
    notes: InputNotes
    allow_missing: bool

    def report_problems(self) -> int:
        """Print what is wrong with the input and what was not considered; give the exit code."""
        return report_problems(
            self.simulation,
            self.result,
            self.notes,
            allow_missing=self.allow_missing,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationOptions:
    """The values of `simulation_options`."""

    context: str
    kubeconfig: Path | None
    from_scratch: bool
    configuration: Path | None
    behaviour: str
    gates: Mapping[str, bool]
    allow_missing: bool
    kubernetes: str
    kubernetes_gates: Mapping[str, bool]
    only_served: bool

    @property
    def has_cluster(self) -> bool:
        """Whether a running cluster is named."""
        return bool(self.context or self.kubeconfig)

    def read(self, files: Sequence[Path]) -> Simulation:
        """Read the files, after the cluster if one is named.

        Raises:
            CliError: a file or the cluster cannot be read, or holds something else.

        """
        return simulation_of(
            files,
            self.configuration,
            self.behaviour,
            self.gates,
            from_scratch=self.from_scratch,
            cluster_dump=cluster_documents(self.context, self.kubeconfig),
        )

    def run(self, simulation: Simulation) -> SimulationResult:
        """Run a simulation on the API server that the options select.

        Raises:
            CliError: the Configuration is rejected, or the API server has no such gate.

        """
        server = api_server(
            simulation, self.kubernetes, self.kubernetes_gates, self.only_served
        )
        return simulation.run(server, allow_missing=self.allow_missing)

    def simulated(self, simulation: Simulation) -> Simulated:
        """Run a simulation, and find what it does not consider.

        Raises:
            CliError: as `run`.

        """
        result = self.run(simulation)
        return Simulated(
            simulation=simulation,
            result=result,
            notes=simulation.notes(result),
            allow_missing=self.allow_missing,
        )


def simulation_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a simulation; the command gets one `SimulationOptions`, named ``options``."""

    @wraps(command)
    def called(**values: Any) -> None:
        own = {each.name: values.pop(each.name) for each in fields(SimulationOptions)}
        command(options=SimulationOptions(**own), **values)

    for option in reversed(OPTIONS):
        called = option(called)
    return called
