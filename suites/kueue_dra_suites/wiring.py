"""Run the cases with pytest from a checkout or an installed package: our plugins, no settings of the user."""

from __future__ import annotations

from pathlib import Path

from kueue_dra_suites import conformance

HOME = Path(conformance.__file__).resolve().parent
"""The folder of the conformance suite."""


def pytest_options() -> list[str]:
    """Give the options that every run of the suite from a program needs."""
    plugins = (
        "kueue_dra_reports.plugin",
        "kueue_dra_fixtures.plugin",
        "no:cacheprovider",
        "no:hypothesispytest",
    )
    options = [f"--rootdir={HOME.parent.parent}", "--confcutdir", str(HOME)]
    options += ["-c", str(Path(__file__).with_name("settings.ini"))]
    # Pytest cannot rewrite the assertions of what the command line has imported already.
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    for plugin in plugins:
        options += ["-p", plugin]
    return [*options, "--import-mode=importlib", "-ra", "--no-header"]
