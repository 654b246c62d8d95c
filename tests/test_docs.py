"""The pages of the repository: links, indexes, examples and names hold; no file has a machine's address."""

from __future__ import annotations

import doctest
import pkgutil
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from medgauge_lib import __version__, demo
from medgauge_lib.cli import main

ROOT = Path(__file__).parents[1]
DECISIONS = ROOT / "docs/decisions"
FOLDERS = (".ci", "benchmarks", "docs", "medgauge_lib", "notebooks", "params", "tests")
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
NUMBERED = sorted(DECISIONS.glob("[0-9]*.md"))
PARTS = ["Question", "Options", "Choice", "What would change our mind"]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`[^`\n]*`")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MACHINE = re.compile(rb"(?<![\w.*-])/(?:root|home|work|Users)/")
REGISTRY = re.compile(rb"https?://\S*/simple\b|pypi\.org|pythonhosted\.org|npmjs\.org")


def name(path):
    """Path as it is written in the repository."""
    return path.relative_to(ROOT).as_posix()


def prose(page):
    """A page's text without its fenced blocks."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def anchors(page):
    """Anchors of a page's headings, as a forge makes them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def python_blocks(page):
    """Fenced Python blocks of a page."""
    return [text for kind, text in FENCE.findall(page.read_text(encoding="utf-8")) if kind == "python"]


def links(text):
    """Targets of the links and pictures of a text, those inside code left out."""
    return LINK.findall(CODE.sub("", text))


def targets(page):
    """Links of a page that lead into the repository, each as path and anchor."""
    for link in links(prose(page)):
        if "://" not in link:
            path, _, anchor = link.partition("#")
            yield (page.parent / path).resolve() if path else page, anchor


def shipped():
    """Every file of the repository, and nothing that the commands make."""
    files = [path for path in ROOT.iterdir() if path.is_file() and path.name != ".git"] + [
        ROOT / "reports/README.md"
    ]
    for folder in FOLDERS:
        files += [path for path in (ROOT / folder).rglob("*") if path.is_file()]
    return [path for path in sorted(files) if not {"__pycache__", ".ipynb_checkpoints"} & set(path.parts)]


README = ROOT / "README.md"
SHOWING = [page for page in PAGES if page == README or any(">>> " in block for block in python_blocks(page))]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_between_pages_resolve(page):
    """Every relative link leads to a file or folder of the repository, and its anchor to a heading."""
    for path, anchor in targets(page):
        assert path.is_relative_to(ROOT), f"{path} lies outside the repository"
        assert path.exists(), f"{name(page)} links to {name(path)}, which is not there"
        assert not anchor or anchor in anchors(path), f"{name(path)} has no heading for #{anchor}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see [a](b.md), ![c](d/e.png) and [f](g.md#h)", ["b.md", "d/e.png", "g.md#h"]),
        ("[`a` (b)](c.md), not `x[0](y)`", ["c.md"]),
        ("no [link] (here)", []),
    ],
)
def test_links_are_found(text, found):
    """The scan sees links and pictures, with their anchors."""
    assert links(text) == found


def test_decision_index_lists_every_page():
    """The index of decisions links to each page beside it exactly once."""
    listed = [path.name for path, _ in targets(DECISIONS / "README.md")]
    present = [path.name for path in DECISIONS.glob("*.md") if path.name != "README.md"]
    assert sorted(listed) == sorted(present)


def test_decision_index_shows_number_and_title_of_each_page():
    """Numbers run from 1 without a gap, and file, heading and index agree."""
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")
    assert [int(page.name[:4]) for page in NUMBERED] == list(range(1, len(NUMBERED) + 1))
    for page in NUMBERED:
        number, title = page.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ").split(". ", 1)
        assert int(number) == int(page.name[:4])
        assert f"| {number} | [{title}]({page.name}) |" in index


@pytest.mark.parametrize("page", NUMBERED, ids=name)
def test_decision_has_its_four_parts(page):
    """A decision states question, options, choice, and what would change our mind, in this order."""
    assert re.findall(r"^## (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE) == PARTS


def test_links_to_numbered_decisions_name_the_right_number():
    """Where a text says "decision 14" with a link, the page linked to is number 14."""
    named = [
        (name(page), int(number), int(Path(target).name[:4]))
        for page in PAGES
        for number, target in re.findall(r"\[decision\s+(\d+)\]\(([^)#\s]+)\)", prose(page))
    ]
    assert named
    assert [entry for entry in named if entry[1] != entry[2]] == []


def test_every_dependency_has_its_reason():
    """Each dependency of the project, of tests and of development is named on the page of dependencies."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = [
        *project["dependencies"],
        *(r for extra in project["optional-dependencies"].values() for r in extra),
    ]
    names = {re.split(r"[<>=~!;\[ ]", requirement)[0] for requirement in required}
    page = (DECISIONS / "0026-dependencies.md").read_text(encoding="utf-8")
    assert sorted(package for package in names if f"`{package}`" not in page) == []


def test_pages_name_what_exists():
    """Files and names of the library, commands and targets of make that a page mentions are there."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for path in re.findall(r"`(medgauge_lib/[\w./-]+)`", text):
            assert (ROOT / path).exists(), f"{name(page)} names {path}"
        for dotted in re.findall(r"`(medgauge_lib(?:\.\w+)+)`", text):
            assert pkgutil.resolve_name(dotted), f"{name(page)} names {dotted}"
        for command in re.findall(r"`medgauge ([a-z]+)", text):
            assert command in main.commands, f"{name(page)} names medgauge {command}"
        for target in re.findall(r"`make ([a-z]+)", text):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"{name(page)} names make {target}"


@pytest.mark.parametrize("page", SHOWING, ids=name)
def test_examples_of_pages_print_what_they_show(page, tmp_path, monkeypatch):
    """Python blocks with prompts run from a folder that holds the demo set; those of the README all do."""
    examples = python_blocks(page)
    if page == README:
        assert examples, "README.md needs an example with the table it prints"
        assert [block for block in examples if ">>> " not in block] == []
    text = "\n".join(block for block in examples if ">>> " in block)
    test = doctest.DocTestParser().get_doctest(text, {}, name(page), name(page), 0)
    demo.write(tmp_path / "demo")
    monkeypatch.chdir(tmp_path)
    report = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert result.failed == 0, "".join(report)


def test_citation_is_complete_and_of_this_version():
    """CITATION.cff has the required keys, the package's version and licence, and no date or DOI."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["cff-version"] == "1.2.0"
    assert citation["title"] == project["name"]
    assert citation["version"] == __version__
    assert citation["license"] == project["license"]
    assert citation["authors"] == project["authors"]
    assert not {"doi", "identifiers", "date-released"} & set(citation)


def test_changelog_opens_with_this_version_and_its_numbers():
    """The newest entry is the package's version, and it first says what moved a published number."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^##+ (.+)$", text, re.MULTILINE)
    assert headings[0].split()[0] == __version__
    assert headings[1] == "Published numbers"


def test_no_file_names_a_machine_or_a_registry():
    """No file of the repository holds an absolute path of a machine or the address of a package registry."""
    found = [
        (name(path), hit.decode())
        for path in shipped()
        for pattern in (MACHINE, REGISTRY)
        for hit in pattern.findall(path.read_bytes())
    ]
    assert found == []


@pytest.mark.parametrize(
    ("pattern", "text", "hit"),
    [
        (MACHINE, f"open('{Path('/') / 'home' / 'x' / 'a.json'}')", True),
        (MACHINE, f"FILE={Path('/') / 'root' / 'a'}", True),
        (MACHINE, f"docs/home/a.md and {Path('..') / 'work' / 'b'}", False),
        (REGISTRY, "https://" + "example.org/simple", True),
        (REGISTRY, "files.pythonhosted" + ".org", True),
        (REGISTRY, "https://" + "example.org/simpler", False),
    ],
)
def test_scan_tells_addresses_from_other_text(pattern, text, hit):
    """The scan sees absolute home paths and registries, and no relative path or other address."""
    assert bool(pattern.search(text.encode())) == hit
