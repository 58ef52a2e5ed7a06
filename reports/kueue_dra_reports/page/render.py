"""Render a report as one self-contained HTML page; every value is escaped."""

from __future__ import annotations

from kueue_dra_reports.document import Report
from kueue_dra_reports.page.environment import template
from kueue_dra_reports.page.view import view

TEMPLATE = "report.html"


def as_html(report: Report) -> str:
    """Give the page."""
    return template(TEMPLATE).render(view(report)) + "\n"
