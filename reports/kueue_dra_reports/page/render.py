"""Render a report as one self-contained HTML page with jinja2; every value is escaped."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from kueue_dra_reports.document import Report
from kueue_dra_reports.page.view import view

TEMPLATE = "report.html"


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("kueue_dra_reports.page", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(TEMPLATE)


def as_html(report: Report) -> str:
    """Give the page."""
    return _template().render(view(report)) + "\n"
