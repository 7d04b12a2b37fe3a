"""Checks as a JUnit file: a test case for each check. An undecided check that counts as passed is a skipped test."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .. import __version__
from ..files.untrusted_text import terminal_text
from ..files.writing import write_whole
from .checks import Check, counts_of

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


def write_junit(path: Path, checks: Sequence[Check], suite: str) -> None:
    """Writes a JUnit file atomically."""
    write_whole(path, junit_xml(checks, suite))


def junit_xml(checks: Sequence[Check], suite: str) -> bytes:
    """A JUnit file, valid against the schemas of Ant and Jenkins; characters that XML forbids are escaped."""
    from xml.etree.ElementTree import Element, SubElement, indent, tostring

    cases = [_case(check, suite) for check in checks]
    tags = [child.tag for case in cases for child in case]
    counts = {"errors": tags.count("error"), "failures": tags.count("failure")}
    root = Element("testsuites")
    of_suite = SubElement(
        root,
        "testsuite",
        {
            "id": "0",
            "package": "pfgen_fast",
            "name": suite,
            "timestamp": _now(),
            "hostname": terminal_text(platform.node()) or "localhost",
            "tests": str(len(cases)),
            **{name: str(n) for name, n in counts.items()},
            "skipped": str(tags.count("skipped")),
            "time": "0",
        },
    )
    properties = SubElement(of_suite, "properties")
    SubElement(properties, "property", {"name": "pfgen-fast", "value": __version__})
    of_suite.extend(cases)
    lines = [f"{check.outcome}: {check.sentence}" for check in checks]
    SubElement(of_suite, "system-out").text = "\n".join([counts_of(checks), *map(terminal_text, lines)])
    SubElement(of_suite, "system-err")
    indent(root)
    content: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _case(check: Check, suite: str) -> Element:
    from xml.etree.ElementTree import Element, SubElement

    case = Element(
        "testcase", {"classname": terminal_text(f"{suite}.{check.about}"), "name": terminal_text(check.name)}
    )
    case.set("time", "0")
    sentence = terminal_text(check.sentence)
    if check.outcome == "error":
        SubElement(case, "error", {"type": "error", "message": sentence}).text = sentence
    elif not check.passes:
        SubElement(case, "failure", {"type": check.outcome, "message": sentence}).text = sentence
    elif check.outcome == "undecided":
        SubElement(case, "skipped", {"message": sentence})
    return case


def _now() -> str:
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    utc = datetime.timezone.utc
    moment = datetime.datetime.fromtimestamp(int(epoch), utc) if epoch.isdecimal() else datetime.datetime.now(utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S")
