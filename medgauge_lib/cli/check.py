"""The command ``medgauge check``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from medgauge_lib.cli.options import PATH, SOURCES, as_json, format_option, one_or_many

if TYPE_CHECKING:
    from medgauge_lib.audit import Audit
    from medgauge_lib.checks import Finding, Rule
    from medgauge_lib.records import RecordSet


@click.command("check")
@SOURCES
@click.option("--labels", type=PATH, help="Task labels of the closed side, for strata.")
@format_option("the findings")
@click.pass_context
def check_command(ctx: click.Context, records: Sequence[Path], labels: Path | None, form: str) -> None:
    """Hold RECORDS against the schema, every rule, and every published figure against its recomputation.

    Exit codes: 0 clean, 1 findings, 2 input that cannot be read.
    """
    from medgauge_lib.audit import audit
    from medgauge_lib.checks import checked, unusable
    from medgauge_lib.cli.layout import check_text
    from medgauge_lib.labels import read_labels
    from medgauge_lib.records import read_records

    found = read_records(one_or_many(records))
    known = None if labels is None else read_labels(labels, found)
    outcome = checked(found)
    ranked = set(found.subjects.loc[found.subjects["verified"], "id"])
    held = None if ranked & set(unusable(found)) else audit(found, labels=known)
    outcome += () if held is None else held.checked
    if form == "json":
        click.echo(as_json(_check_json(found, outcome, held)), nl=False)
    else:
        click.echo(check_text(found, outcome, held))
    broken = any(finding.severity != "note" for _, findings in outcome for finding in findings)
    ctx.exit(1 if broken else 0)


def _check_json(
    found: RecordSet, outcome: Sequence[tuple[Rule, Sequence[Finding]]], held: Audit | None
) -> dict[str, Any]:
    made: dict[str, Any] = {
        "rules": [
            {"code": rule.code, "severity": rule.severity, "rule": rule.sentence, "n_findings": len(findings)}
            for rule, findings in outcome
        ],
        "findings": [_finding_json(one) for _, findings in outcome for one in findings],
    }
    if held is None:
        return made | {"figures": None}
    return made | {
        "figures": held.counts(),
        "not_recomputed": [
            {
                "file": found.paths[one.id].name,
                "pointer": one.pointer,
                "outcome": one.outcome,
                "reason": str(one.reason),
            }
            for one in held.figures
            if one.reason
        ],
    }


def _finding_json(finding: Finding) -> dict[str, Any]:
    from medgauge_lib.audit import PREFIX

    made = {
        "code": finding.code,
        "severity": finding.severity,
        "file": finding.file,
        "pointer": finding.pointer,
        "published": finding.published,
        "expected": finding.expected,
        "message": finding.message,
    }
    return made | ({"recomputed": finding.expected} if finding.code.startswith(PREFIX) else {})
