"""``kueue-dra run``: run the conformance suites with pytest, from a checkout or from an installed package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click
import pytest
from click.core import ParameterSource

from kueue_dra_cli.against import compare, pinned_minor
from kueue_dra_cli.api_server_option import (
    choose_api_server,
    gates_option,
    minor_option,
)
from kueue_dra_cli.errors import CliError
from kueue_dra_cli.existing_cluster import (
    check_cluster_options,
    existing_cluster_options,
    named_behaviour,
    preflight_of,
)
from kueue_dra_cli.on_cluster import on_cluster_options, run_in_pods
from kueue_dra_cli.options import (
    expression_option,
    target_behaviour_option,
    target_option,
    workers_option,
)
from kueue_dra_cli.own_kueue import source_option
from kueue_dra_cli.repeat import command_of
from kueue_dra_cli.report import report_in
from kueue_dra_ref.api.suggest import nearest
from kueue_dra_reports.ending import Ending
from kueue_dra_suites.wiring import HOME, pytest_options

EPILOG = """\
\b
Examples
  kueue-dra run                                   every suite, against the reference in memory
  kueue-dra run quota status -k flavor            some cases of two suites
  kueue-dra run --behaviour kep-2025-09           what the September 2025 text asks
  kueue-dra run --target kueue --core -n 4        only what the KEP asks for: a minute
  kueue-dra run --target kueue                    a real Kueue, started as local processes
  kueue-dra run --target kueue --context kind-a --preflight   what a run on a cluster of yours would do
  kueue-dra run --target kueue --context kind-a   the cases that its mapping can serve; production is not changed
  kueue-dra run --target kueue --context kind-a --roles roles.yaml   with the classes that you choose
  kueue-dra run --target kueue --kueue-src ../kueue --against kueue-0.19   your checkout of Kueue, next to a release
  kueue-dra run --citing COUNT-006,QUOTA-004      the cases of two requirements
  kueue-dra run quota/test_fits::test_devices_are_admitted_up_to_the_quota   one case, as reports name it
  kueue-dra run --gate must --expected-failures known.yaml   red only for what the text demands
  kueue-dra run --rerun-failed out/report.json    what did not pass in that run
  kueue-dra run --shard 2/4                       the second of four parts, for one of four machines
  kueue-dra run --target kueue --on-cluster 4 --image REGISTRY/kueue-dra:0.2.0-kueue   in four pods of a cluster
  kueue-dra run --cases acme --catalogue acme/requirements.toml   cases of your own too, in the same report

\b
Exit codes
  0  every planned case ran, and none failed that counts for --gate and is not expected to fail
  1  a case failed or did not run; an expected failure passed, is out of date, or is unknown;
     with --against: a row is red that the release passes
  2  the run could not start: an unknown suite, no case matches, no target, a checkout that does not build
"""
INTENTS = ("certify", "ci", "develop")
GATE_LEVELS = ("must", "should", "inferred")
"""As in the plugin; pytest has to import that first, to rewrite its assertions."""
OWN_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
SELECTIONS = ("suites", "expression", "core", "citing", "rerun_failed")
"""Parameters that choose cases, which a certified run may not do."""


@click.command("run", epilog=EPILOG)
@click.argument("suites", nargs=-1, metavar="[SUITE|CASE]...")
@target_option(
    "reference",
    "kueue",
    text="What the cases run against: the reference in memory, or a real Kueue.",
)
@target_behaviour_option
@existing_cluster_options
@on_cluster_options
@click.option(
    "--report-dir",
    default="out",
    show_default=True,
    metavar="DIR",
    help="The folder for the report files.",
)
@source_option
@minor_option
@gates_option
@click.option(
    "--against",
    default="",
    metavar="kueue-0.19",
    help="Run the cases on this release too, and print the rows that changed color, with a scenario for each.",
)
@expression_option
@click.option(
    "--citing",
    multiple=True,
    metavar="ID,...",
    help="Run only cases that cite one of these requirements. Repeatable.",
)
@click.option(
    "--rerun-failed",
    type=click.Path(path_type=Path),
    metavar="REPORT",
    help="Run only the cases that did not pass in this report, for its behaviour unless you name one.",
)
@click.option(
    "--cases",
    "own_cases",
    multiple=True,
    type=OWN_FOLDER,
    metavar="DIR",
    help="A folder with cases of your own, which is one more suite. Repeatable.",
)
@click.option(
    "--catalogue",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="With --cases: a TOML file with the requirements that they cite. Repeatable.",
)
@click.option(
    "--core",
    is_flag=True,
    help="Run only cases that prove what a text asks for: MUST, SHOULD, MAY.",
)
@workers_option("Run")
@click.option(
    "--shard",
    default="",
    metavar="I/N",
    help="Run the I-th of N parts, the same on each machine; report merge joins their reports.",
)
@click.option(
    "--durations-of",
    default="",
    metavar="REPORT",
    help="With --shard: balance the parts by the durations in this report.",
)
@click.option(
    "--gate",
    type=click.Choice(GATE_LEVELS),
    default=GATE_LEVELS[-1],
    show_default=True,
    help="The weakest level of requirements whose failures turn the exit code red.",
)
@click.option(
    "--expected-failures",
    default="",
    metavar="FILE",
    help="Known failures: a YAML list of id (requirement or case), reason, until, and link.",
)
@click.option(
    "--intent",
    type=click.Choice(INTENTS),
    default="ci",
    show_default=True,
    help="certify runs the whole suite; only it may claim conformance.",
)
@click.option("--scenario-dir", default="", hidden=True)
@click.option("-v", "--verbose", is_flag=True, help="Print the name of each case.")
@click.pass_context
def command(
    run: click.Context,
    /,
    suites: tuple[str, ...],
    behaviour: str,
    preflight: bool,
    report_dir: str,
    against: str,
    expression: str,
    rerun_failed: Path | None,
    own_cases: tuple[Path, ...],
    catalogue: tuple[Path, ...],
    core: bool,
    workers: str,
    verbose: bool,
    **_: object,
) -> None:
    """Run the conformance suites against the reference or a real Kueue.

    SUITE is a folder of cases, such as quota, mapping, claims or status; CASE is the ID of a case in a report; the
    default is all. The command writes report.yaml, report.json and junit.xml into the folder of --report-dir.
    """
    _check(run)
    choose_api_server(run)
    if run.params["on_cluster"]:
        raise SystemExit(run_in_pods(run))
    cases = [one for one in suites if "/" in one]
    if rerun_failed:
        failed, behaviour = _failed(rerun_failed, run)
        cases += failed
    chosen = _given(**_passed_on(run, behaviour))
    chosen += _own_options(own_cases, catalogue)
    chosen += _pytest_options(
        {"-v": verbose, "--core": core}, {"-k": expression, "-n": workers}
    )
    if against:
        named = ["run", *(cases or suites), *chosen]
        raise SystemExit(compare(named, pinned_minor(against), Path(report_dir)))
    if preflight:
        raise SystemExit(preflight_of(run, _arguments(chosen, run, cases)))
    repeat = command_of(run, cases or suites, named_behaviour(run, behaviour))
    chosen.append(f"--repeated-by={repeat}")
    raise SystemExit(_run(chosen, run, cases))


def _pytest_options(
    switches: Mapping[str, bool], values: Mapping[str, str]
) -> Iterator[str]:
    for option, on in switches.items():
        if on:
            yield option
    for option, value in values.items():
        if value:
            yield f"{option}{value}"


def _own_options(folders: Sequence[Path], files: Sequence[Path]) -> Iterator[str]:
    for folder in folders:
        yield f"--kueue-dra-cases={folder}"
    for file in files:
        yield f"--kueue-dra-catalogue={file}"


def _run(options: Sequence[str], run: click.Context, cases: Sequence[str]) -> int:
    """Run pytest, and give the exit code as the command line documents it."""
    ending = Ending()
    code = pytest.main(_arguments(options, run, cases), plugins=[ending])
    return ending.exit_code(int(code))


def _arguments(
    options: Sequence[str], run: click.Context, cases: Sequence[str]
) -> list[str]:
    given = run.params
    return [
        *pytest_options(),
        *options,
        *_given(report_dir=given["report_dir"], scenario_dir=given["scenario_dir"]),
        *(f"--case={one}" for one in cases),
        *([] if given["verbose"] else ["-q"]),
        *_paths(
            [one for one in given["suites"] if "/" not in one],
            cases,
            _homes(given["own_cases"]),
        ),
    ]


def _check(run: click.Context) -> None:
    """Reject options that do not go together."""
    _check_target(run)
    given = run.params
    kinds = {"/" in one for one in given["suites"]}
    if len(kinds) > 1 or (kinds == {False} and given["rerun_failed"]):
        raise click.UsageError("found suites and cases; expected one or the other")
    if given["catalogue"] and not given["own_cases"]:
        raise click.UsageError("--catalogue: found no --cases; expected a folder")
    if given["intent"] == "certify" and any(given[name] for name in SELECTIONS):
        raise click.UsageError(
            "--intent certify runs the whole suite; leave the selection of cases out"
        )


def _check_target(run: click.Context) -> None:
    """Reject options that the target does not have; pods have a Kueue of their own."""
    if run.params["on_cluster"]:
        return
    if run.params["queue"]:
        raise click.UsageError("--queue needs --on-cluster N")
    check_cluster_options(run)
    source = run.get_parameter_source("kueue_src")
    given = {
        "--context NAME": bool(run.params["context"]),
        "--against": bool(run.params["against"]),
        "--kueue-src DIR": source is ParameterSource.COMMANDLINE,
    }
    options = [name for name, is_given in given.items() if is_given]
    if options and run.params["target"] != "kueue":
        raise click.UsageError(
            f"{options[0]} needs --target kueue: the reference uses no cluster"
        )
    if given["--context NAME"] and len(options) > 1:
        raise click.UsageError(
            f"{options[1]} and --context exclude each other: that Kueue is in the cluster"
        )


def _failed(file: Path, run: click.Context) -> tuple[list[str], str]:
    """Give the cases of a report that did not pass, and the behaviour to check them for."""
    report = report_in(file)
    cases = [one["id"] for one in report["checks"] if one["outcome"] != "passed"]
    if not cases:
        click.echo(f"{file}: every case passed, so there is nothing to run again")
        run.exit(0)
    chosen = run.get_parameter_source("behaviour")
    if chosen is ParameterSource.DEFAULT:
        return cases, str(report["specification"]["behaviour"])
    return cases, str(run.params["behaviour"])


PASSED_ON = (
    "target",
    "context",
    "roles",
    "kueue_namespace",
    "kueue_deployment",
    "kueue_configmap",
    "shard",
    "durations_of",
    "gate",
    "expected_failures",
    "intent",
)
"""Parameters that are options of the same name for pytest."""


def _passed_on(run: click.Context, behaviour: str) -> dict[str, str]:
    """Give the options for pytest."""
    found = {name: str(run.params[name] or "") for name in PASSED_ON}
    citing = ",".join(run.params["citing"])
    return found | {
        "citing": citing,
        "behaviour": named_behaviour(run, behaviour),
        "cluster_kubeconfig": str(run.params["kubeconfig"] or ""),
    }


def _given(**options: str) -> list[str]:
    given = []
    for name, value in options.items():
        if value:
            option = name.replace("_", "-")
            given.append(f"--{option}={value}")
    return given


def _homes(own: Sequence[Path]) -> Mapping[str, Path]:
    """Give the folder of each suite by its name: the project's, and those of --cases."""
    homes = {path.parent.name: path.parent for path in HOME.glob("*/test_*.py")}
    for folder in own:
        home = folder.resolve()
        if home.name in homes:
            raise CliError(
                [f"{folder}: found a suite with the name {home.name}; expected another"]
            )
        homes[home.name] = home
    return homes


def _paths(
    suites: Sequence[str], cases: Sequence[str], homes: Mapping[str, Path]
) -> list[str]:
    """Give the folders of suites and the files of cases; all suites if none is named."""
    if not suites and not cases:
        own = [home for home in homes.values() if home.parent != HOME]
        return list(map(str, [HOME, *own]))
    if unknown := [name for name in suites if name not in homes]:
        known = sorted(homes)
        raise CliError(
            f"unknown suite {name}; {nearest(name, known)}" for name in unknown
        )
    return [*(str(homes[name]) for name in suites), *_files(cases, homes)]


def _files(cases: Sequence[str], homes: Mapping[str, Path]) -> list[str]:
    files = {case.partition("::")[0]: case for case in cases}
    known = _known_files(homes)
    if unknown := [case for file, case in files.items() if file not in known]:
        raise CliError(
            f"the suite has no case {case}; {nearest(case.partition('::')[0], sorted(known))}"
            for case in unknown
        )
    return [known[file] for file in files]


def _known_files(homes: Mapping[str, Path]) -> Mapping[str, str]:
    """Give the path of each file of cases by its name in reports."""
    found = {}
    for home in homes.values():
        for path in home.rglob("test_*.py"):
            inside = path.relative_to(home.parent).with_suffix("")
            found[inside.as_posix()] = str(path)
    return found
