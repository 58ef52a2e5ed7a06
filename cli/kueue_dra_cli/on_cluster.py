"""``kueue-dra run --on-cluster N``: an Indexed Job of N pods runs the cases, and their reports are joined here."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.decorators import FC

from kueue_dra_cli.errors import CliError
from kueue_dra_cli.repeat import arguments_of
from kueue_dra_reports.document import Report

if TYPE_CHECKING:
    from kueue_dra_clusters.indexed_job import PodRun
    from kueue_dra_clusters.pod_results import PodResults

IMAGE_VARIABLE = "KUEUE_DRA_IMAGE"
WORKER = ("python3", "-m", "kueue_dra_cli.pod_worker")
"""What each pod runs."""
MOST_PODS = 1000
REQUESTS = "cpu=1,memory=2Gi"
REQUEST = re.compile(r"([a-z0-9./-]+)=([0-9.]+[A-Za-z]*)")
KNOWN_FAILURES = "known-failures.yaml"
OF_THE_CLUSTER = (
    "on_cluster",
    "image",
    "queue",
    "pod_requests",
    "context",
    "kubeconfig",
)
"""Parameters that the pods do not get."""
ONLY_HERE = {
    "own_cases": "--cases",
    "catalogue": "--catalogue",
    "rerun_failed": "--rerun-failed",
    "durations_of": "--durations-of",
    "shard": "--shard",
    "against": "--against",
    "preflight": "--preflight",
    "roles": "--roles",
    "kueue_namespace": "--kueue-namespace",
    "kueue_deployment": "--kueue-deployment",
    "kueue_configmap": "--kueue-configmap",
}
"""Parameters that name something of this machine, or of a Kueue that runs already."""


def _requests(_: click.Context, __: click.Parameter, value: str) -> Mapping[str, str]:
    found = {}
    for pair in value.split(","):
        matched = REQUEST.fullmatch(pair.strip())
        if not matched:
            raise click.BadParameter(
                f"found {pair!r}; expected NAME=QUANTITY, as in cpu=1"
            )
        found[matched[1]] = matched[2]
    return found


_pods = click.option(
    "--on-cluster",
    type=click.IntRange(1, MOST_PODS),
    metavar="N",
    help="Run in N pods of the cluster of --context, each with a part of the cases and a Kueue of its own.",
)
_image = click.option(
    "--image",
    default="",
    envvar=IMAGE_VARIABLE,
    metavar="REF",
    help="With --on-cluster: the image of the pods; --target kueue needs the one with Kueue.",
)
_queue = click.option(
    "--queue",
    default="",
    metavar="NAME",
    help="With --on-cluster: the ClusterQueue whose quota admits the pods.",
)
_pod_requests = click.option(
    "--pod-requests",
    default=REQUESTS,
    show_default=True,
    metavar="NAME=QUANTITY,...",
    callback=_requests,
    help="With --on-cluster: what each pod requests.",
)


def on_cluster_options(command: FC) -> FC:
    """Add the options of a run in pods."""
    for option in (_pod_requests, _queue, _image, _pods):
        command = option(command)
    return command


def pod_run(run: click.Context) -> PodRun:
    """Give what runs in the cluster, from the options of ``kueue-dra run``.

    Raises:
        CliError: a file cannot be read.
        click.UsageError: an option is missing, or does not go together with pods.

    """
    from kueue_dra_clusters.indexed_job import FILES

    given = run.params
    _check(given)
    arguments = arguments_of(
        run, given["suites"], given["behaviour"], (*OF_THE_CLUSTER, "expected_failures")
    )
    files = {}
    if given["expected_failures"]:
        files[KNOWN_FAILURES] = _text(Path(given["expected_failures"]))
        arguments.append(f"--expected-failures={FILES}/{KNOWN_FAILURES}")
    return a_pod_run(given, WORKER, arguments, files=files)


def a_pod_run(
    given: Mapping[str, Any],
    worker: Sequence[str],
    arguments: Sequence[str],
    **more: Any,
) -> PodRun:
    """Give a run in pods with the options of pods; ``more`` are further fields."""
    from kueue_dra_clusters.indexed_job import PodRun

    return PodRun(
        name=f"kueue-dra-{secrets.token_hex(4)}",
        image=given["image"],
        pods=given["on_cluster"],
        command=worker,
        arguments=arguments,
        requests=given["pod_requests"],
        queue=given["queue"],
        **more,
    )


def _check(given: Mapping[str, object]) -> None:
    """Reject options that the pods cannot have."""
    for name, option in ONLY_HERE.items():
        if given[name]:
            raise click.UsageError(
                f"{option} and --on-cluster exclude each other: the pods have the cases and the Kueue of the image"
            )
    check_image(given)


def check_image(given: Mapping[str, object]) -> None:
    """Reject pods without an image, and options of pods without pods."""
    if given["on_cluster"] and not given["image"]:
        raise click.UsageError(
            f"--on-cluster needs --image REF or {IMAGE_VARIABLE}: an image built from the Containerfile"
        )
    for name in ("queue", "context", "kubeconfig"):
        if given[name] and not given["on_cluster"]:
            raise click.UsageError(f"--{name} needs --on-cluster N")


def pod_words(command: click.Context) -> list[str]:
    """Give the options of pods as they were given, for a ``kueue-dra run`` that runs them."""
    given = command.params
    if not given["on_cluster"]:
        return []
    requests = [f"{name}={amount}" for name, amount in given["pod_requests"].items()]
    words = {
        "on-cluster": given["on_cluster"],
        "image": given["image"],
        "queue": given["queue"],
        "pod-requests": ",".join(requests),
        "context": given["context"],
        "kubeconfig": given["kubeconfig"],
    }
    return [f"--{name}={value}" for name, value in words.items() if value]


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except UnicodeDecodeError:
        raise CliError([f"{file}: found no UTF-8; expected a YAML list"]) from None


def run_in_pods(run: click.Context) -> int:
    """Run the Job, join the reports of its pods, and give the exit code."""
    given = run.params
    pods = collected(pod_run(run), given, "kueue-dra run")
    code, faults = joined(pods, Path(given["report_dir"]))
    for line in faults:
        click.echo(f"kueue-dra: {line}", err=True)
    return code


def collected(wanted: PodRun, given: Mapping[str, Any], command: str) -> PodResults:
    """Run a Job, and give what its pods have left.

    Raises:
        CliError: it cannot run; the one line names the command.

    """
    from kueue_dra_clusters.api_client import RequestRejected
    from kueue_dra_clusters.connection import connect
    from kueue_dra_clusters.errors import ClusterError
    from kueue_dra_clusters.go_tool import progress
    from kueue_dra_clusters.pod_results import pods_of
    from kueue_dra_clusters.waiting import TimedOut, WaitLimits

    try:
        cluster = connect(given["context"], given["kubeconfig"], WaitLimits())
        with pods_of(wanted, cluster.objects, progress) as pods:
            pods.collect()
    except (ClusterError, RequestRejected, TimedOut) as fault:
        raise CliError([f"{command}: {fault}"]) from None
    return pods


def lacking(pods: PodResults) -> list[str]:
    """Say of each part without a log why its last pod failed."""
    lines = []
    for index in range(pods.run.pods):
        if index not in pods.logs:
            why = pods.failures.get(index, "it never ran")
            lines += f"part {index + 1} of {pods.run.pods}: {why}".splitlines()
    return lines


def joined(pods: PodResults, folder: Path) -> tuple[int, list[str]]:
    """Join the reports of the pods; give the exit code, and why a part has no report.

    Raises:
        CliError: no part has a report.

    """
    from kueue_dra_cli.report import join, report_of_log

    reports: dict[str, Report] = {}
    faults = lacking(pods)
    for index, log in sorted(pods.logs.items()):
        shard = f"part {index + 1} of {pods.run.pods}"
        try:
            place = folder / "shards" / str(index + 1)
            reports[shard] = report_of_log(log, shard, place)
        except CliError as fault:
            faults += fault.lines
    if not reports:
        raise CliError(faults)
    return join(reports, folder), faults
