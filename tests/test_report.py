"""Reports are built whole or not at all, the same bytes every time, and nothing twice."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import nbformat
import pytest
from beside import ANOTHER_USER, MAY_BE_ANOTHER
from make_records import ONE_TASK, record
from make_reports import figure_data, files_of, notebook, params, project, showing

from medgauge_lib import __version__, demo
from medgauge_lib.errors import InputError
from medgauge_lib.report import make
from medgauge_lib.report.build import Built, build
from medgauge_lib.report.execute import CellFailed
from medgauge_lib.report.hashes import file_sha256, sha256, sorted_json
from medgauge_lib.report.params import read_params
from medgauge_lib.report.plan import notebook_files, plan
from medgauge_lib.report.site import site_page

ROOT = Path(__file__).parents[1]
TWO_PAGES = {
    "summary": notebook(showing(figure_data("bars"))),
    "groups": notebook("print(benchmark_version, seed)", title=None),
}


def making(file: Path, **how: Any) -> list[Built]:
    """Build the project of a params file, silently."""
    root = file.parents[1]
    return build(
        [file], **{"out": root / "reports", "notebooks": root / "notebooks", "progress": False} | how
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Params file of a project whose report is built; tests copy what they change."""
    file = project(tmp_path_factory.mktemp("built"), TWO_PAGES, title="Made for tests")
    assert [made.status for made in making(file)] == ["built"]
    return file


@pytest.fixture
def copied(built: Path, tmp_path: Path) -> Path:
    """Params file of a copy of the built project."""
    shutil.copytree(built.parents[1], tmp_path / "project")
    return tmp_path / "project" / "params" / built.name


def report_of(file: Path) -> Path:
    """Folder of the project's report."""
    return file.parents[1] / "reports" / "bm-made" / "1.0.0"


def test_a_report_holds_what_it_should(built: Path) -> None:
    """A report has a page a notebook, figures, executed notebooks, a manifest and a run record."""
    files = files_of(report_of(built))
    bundle = next(path for path in files if path.startswith("assets/"))
    assert sorted(files) == sorted(
        [
            "index.html", "groups.html", "figures/bars.csv", "figures/bars.svg", "figures/bars.vl.json",
            bundle, "notebooks/summary.ipynb", "notebooks/groups.ipynb", "manifest.json",
            "ro-crate-metadata.json", "run.json",
        ]
    )  # fmt: skip
    assert "1.0.0 20260101" in files["groups.html"].decode()
    assert ">Groups</h1>" in files["groups.html"].decode()
    assert "medgauge reproduce reports/bm-made/1.0.0" in files["index.html"].decode()
    for page in ("index.html", "groups.html"):
        for words in ("Made for tests", "bm-made", 'href="../../index.html"', 'href="manifest.json"'):
            assert words in files[page].decode()


def test_the_manifest_says_what_went_in_and_what_came_out(built: Path) -> None:
    """Every input and every output is there with its SHA-256; times are in the run record alone."""
    root, folder = built.parents[1], report_of(built)
    manifest, files = json.loads((folder / "manifest.json").read_bytes()), files_of(folder)
    assert manifest["outputs"] == {
        path: sha256(content) for path, content in files.items() if path not in ("manifest.json", "run.json")
    }
    inputs = manifest["inputs"]
    assert inputs["records"] == {
        path: sha256(content) for path, content in files_of(root / "records").items()
    }
    assert inputs["notebooks"] == {
        path.removesuffix(".ipynb"): sha256(content) for path, content in files_of(root / "notebooks").items()
    }
    assert inputs["params"]["sha256"] == sha256(built.read_bytes())
    assert inputs["params"]["values"] == read_params(built).values()
    assert inputs["method"] == {
        "algorithm": "HF7; bca-1 (philox4x64-10 key=seed, hi32, half ties, 6 decimals)",
        "level": 0.95,
        "resamples": 10_000,
        "seed": 20260101,
    }
    assert inputs["library"]["medgauge"] == __version__
    uses = inputs["library"]["uses"]
    assert {"numpy", "pandas", "scipy"} <= uses.keys()
    assert uses == {name: metadata.version(name) for name in uses}
    pages = json.loads(files["run.json"])["pages"]
    assert sorted(pages) == ["groups", "summary"]
    assert all(page["duration"] > 0 for page in pages.values())


def test_the_same_inputs_give_the_same_bytes(tmp_path: Path, built: Path) -> None:
    """Another folder, time zone, locale, hash seed and number of jobs change the run record alone."""
    file = project(tmp_path / "elsewhere", TWO_PAGES, title="Made for tests")
    program = (
        "import sys\nfrom medgauge_lib.report.build import build\n"
        "build([sys.argv[1]], out='out', notebooks='notebooks', jobs=1, progress=False)"
    )
    changes = {
        "TZ": "Asia/Kathmandu",
        "LC_ALL": "C",
        "PYTHONHASHSEED": "7",
        "HOME": str(tmp_path),
        "COLUMNS": "40",
    }
    root = file.parents[1]
    subprocess.run([sys.executable, "-c", program, file], cwd=root, env=os.environ | changes, check=True)
    one, two = files_of(report_of(built)), files_of(root / "out" / "bm-made" / "1.0.0")
    assert sorted(one) == sorted(two)
    assert [path for path in one if one[path] != two[path]] == ["run.json"]
    for content in two.values():
        assert str(tmp_path).encode() not in content


@pytest.fixture
def places() -> Iterator[tuple[Path, Path]]:
    """Two project folders with the demo set, of which one has a longer name than the other."""
    with tempfile.TemporaryDirectory(prefix="mg-") as one, tempfile.TemporaryDirectory(prefix="mg-b-") as two:
        made = (Path(one), Path(two) / "a folder")
        for place in made:
            demo.write(place / "demo")
            (place / "params").mkdir()
            for name in ("demo-lab-0.1.0.yaml", "demo-findings.yaml"):
                shutil.copy(ROOT / "params" / name, place / "params")
        yield made


CLOCK = """\
import datetime, os, sys, time_machine
time_machine.travel(datetime.datetime(2039, 7, 8, 9, 10, tzinfo=datetime.UTC), tick=True).start()
with open(os.environ["CLOCKS"], "a") as told:
    print(os.getuid(), datetime.date.today().year, *sys.orig_argv, file=told)
"""


def built_at(place: Path, jobs: str, *before: str, **changes: str) -> None:
    """Build the reports of a place by the command line, in another environment."""
    home = place / "home"
    home.mkdir()
    # Only a program whose PYTHONPATH says so loads it: the library and each of its kernels.
    (home / "sitecustomize.py").write_text(CLOCK)
    subprocess.run(
        [*before, sys.executable, "-m", "medgauge", "report", "--jobs", jobs],
        cwd=place,
        env=os.environ | {"HOME": str(home), "TMPDIR": str(home), "CLOCKS": str(home / "clocks")} | changes,
        capture_output=True,
        check=True,
    )


def test_the_demo_reports_are_the_same_bytes_anywhere(places: tuple[Path, Path]) -> None:
    """Pages of both systems: another folder, year, zone, locale, hash seed, home, user, number of jobs."""
    here, there = places
    another = ANOTHER_USER if MAY_BE_ANOTHER else ()
    built_at(
        here, "1", TZ="UTC", LC_ALL="C.UTF-8", PYTHONHASHSEED="0", USER="ann", LOGNAME="ann", COLUMNS="80"
    )
    built_at(
        there, "3", *another,
        TZ="Asia/Kathmandu", LC_ALL="C", PYTHONHASHSEED="4711", USER="bob", LOGNAME="bob", COLUMNS="33",
        PYTHONPATH=str(there / "home"),
    )  # fmt: skip
    one, two = (files_of(place / "reports") for place in places)
    assert {path.partition("/")[0] for path in one} == {"bm-demo-findings", "bm-demo-lab", "index.html"}
    assert len(one) > 50
    assert sorted(one) == sorted(two)
    differing = [path for path in one if one[path] != two[path]]
    assert differing == ["bm-demo-findings/synthetic-1.0/run.json", "bm-demo-lab/0.1.0/run.json"]
    for place in places:
        assert [path for path, content in two.items() if str(place).encode() in content] == []
    told = [line.split() for line in (there / "home" / "clocks").read_text().splitlines()]
    assert {year for _, year, *_ in told} == {"2039"}
    assert sum("ipykernel_launcher" in command for _, _, *command in told) >= len(
        [path for path in two if path.endswith(".ipynb")]
    )
    if not MAY_BE_ANOTHER:
        pytest.skip("the same bytes, but for one user: this system lets nobody appear as another")
    assert {user for user, *_ in told} == {"4711"}


def test_nothing_to_do_costs_little(copied: Path) -> None:
    """An unchanged report loads no library that builds one and starts no process."""
    program = (
        "import sys\nfrom medgauge_lib.report.build import build\n"
        "sys.addaudithook(lambda event, _: event == 'subprocess.Popen' and print(event))\n"
        "made = build([sys.argv[1]], out='reports', notebooks='notebooks', progress=False)\n"
        "heavy = {'papermill', 'nbclient', 'nbconvert', 'nbformat', 'rocrate', 'jinja2'} & set(sys.modules)\n"
        "print(made[0].status, sorted(heavy))"
    )
    command = [sys.executable, "-c", program, copied]
    making(copied)
    done = subprocess.run(command, cwd=copied.parents[1], capture_output=True, text=True, check=True)
    assert done.stdout == "unchanged []\n"


def test_a_changed_record_makes_its_own_version_anew(tmp_path: Path) -> None:
    """Of several versions, the one whose record changed is built and the others are left to the byte."""
    file = project(tmp_path, {"summary": notebook("1")})
    (tmp_path / "two").mkdir()
    other = record("res-2026-01-01-c", benchmark_version="2.0.0")
    (tmp_path / "two" / "c.json").write_text(json.dumps(other))
    second = params(tmp_path / "params" / "two.yaml", benchmark_version="2.0.0", records="../two")

    def statuses() -> list[str]:
        made = build(
            [file, second], out=tmp_path / "reports", notebooks=tmp_path / "notebooks", progress=False
        )
        return [one.status for one in made]

    assert statuses() == ["built", "built"]
    before = files_of(tmp_path / "reports" / "bm-made" / "1.0.0")
    (tmp_path / "two" / "c.json").write_text(json.dumps(other) + "\n")
    assert statuses() == ["unchanged", "built"]
    assert files_of(tmp_path / "reports" / "bm-made" / "1.0.0") == before


def test_a_changed_notebook_changes_its_page_alone(copied: Path) -> None:
    """Beside what tells of inputs, one changed notebook changes its own page and nothing else."""
    before = files_of(report_of(copied))
    changed_notebook(copied.parents[1])
    making(copied)
    after = files_of(report_of(copied))
    assert [path for path in before if before[path] != after[path]] == [
        "groups.html", "manifest.json", "notebooks/groups.ipynb", "ro-crate-metadata.json", "run.json",
    ]  # fmt: skip


def test_what_a_record_says_is_never_rewritten(tmp_path: Path) -> None:
    """Folders of the machine leave what a notebook prints; the words of a figure stay, whatever they are."""
    words = f"{os.path.expanduser('~')}/x 0x1234567890 {tempfile.gettempdir()}"
    cells = [showing(figure_data("bars", words)), f"print({words!r})"]
    file = project(tmp_path, {"summary": notebook(*cells)})
    making(file)
    executed = nbformat.read(report_of(file) / "notebooks" / "summary.ipynb", as_version=4)
    figure, printed = (cell.outputs[0] for cell in executed.cells[-2:])
    assert words in figure.data["application/vnd.medgauge.figure+json"]["title"]
    assert printed.text == "<home>/x 0x… <tmp>\n"


def test_unchanged_inputs_are_not_built_again(copied: Path) -> None:
    """Where nothing changed nothing is done, and the report keeps even its times."""
    before = files_of(report_of(copied))
    assert [made.status for made in making(copied)] == ["unchanged"]
    assert files_of(report_of(copied)) == before


def changed_records(root: Path) -> None:
    """Change one record."""
    file = root / "records" / "res-2026-01-01-a.json"
    file.write_text(file.read_text() + "\n")


def changed_params(root: Path) -> None:
    """Change the seed."""
    params(root / "params" / "made.yaml", title="Made for tests", seed=3)


def changed_notebook(root: Path) -> None:
    """Change one notebook."""
    nbformat.write(notebook("print('new')"), root / "notebooks" / "groups.ipynb")


def damaged(root: Path) -> None:
    """Remove a page of the report."""
    (root / "reports" / "bm-made" / "1.0.0" / "groups.html").unlink()


@pytest.mark.parametrize(
    ("change", "ran"),
    [
        (changed_records, ["groups", "summary"]),
        (changed_params, ["groups", "summary"]),
        (changed_notebook, ["groups"]),
        (damaged, []),
    ],
)
def test_what_changed_is_made_again(copied: Path, change: Callable[[Path], None], ran: list[str]) -> None:
    """A changed input runs the notebooks that depend on it and no others; the report is whole afterwards."""
    change(copied.parents[1])
    assert [made.status for made in making(copied)] == ["built"]
    files = files_of(report_of(copied))
    assert sorted(json.loads(files["run.json"])["pages"]) == ran
    assert {"index.html", "groups.html"} <= set(files)
    assert [made.status for made in making(copied)] == ["unchanged"]


def test_an_executed_notebook_that_was_changed_is_not_used_again(copied: Path) -> None:
    """What a report keeps of the old one is what was made then, to the byte."""
    executed = report_of(copied) / "notebooks" / "groups.ipynb"
    executed.write_text(executed.read_text().replace("20260101", "20260102"))
    making(copied)
    assert "20260102" not in executed.read_text()


@pytest.mark.parametrize("name", ["manifest.json", "run.json"])
@pytest.mark.parametrize(
    "content",
    ["[]", "[" * 100_000, '{"inputs": []}', '{"inputs": {"notebooks": 1}}', '{"outputs": [1]}', None],
)
def test_a_report_whose_own_files_are_broken_is_made_anew(
    copied: Path, name: str, content: str | None
) -> None:
    """Whatever lies in the place of what a build reads of the old report, the report is built over it."""
    file = report_of(copied) / name
    file.unlink()
    if content is None:
        os.mkfifo(file)
    else:
        file.write_text(content)
    root = copied.parents[1]
    (planned,) = plan([copied], root=root / "reports", notebooks=root / "notebooks")
    assert planned.unchanged == (name == "run.json")
    if name == "manifest.json":
        assert planned.kept == {}


def test_a_pipe_has_no_hash_and_is_not_waited_for(tmp_path: Path) -> None:
    """Where a pipe lies in the place of a record, its name is told."""
    os.mkfifo(tmp_path / "a.json")
    with pytest.raises(InputError, match=r"a\.json: is not a file"):
        file_sha256(tmp_path / "a.json")


def test_force_builds_although_nothing_changed(copied: Path) -> None:
    """With force every notebook runs."""
    assert [made.status for made in making(copied, force=True)] == ["built"]
    assert sorted(json.loads((report_of(copied) / "run.json").read_bytes())["pages"]) == ["groups", "summary"]


@pytest.mark.parametrize(
    ("pages", "order"),
    [
        ({"summary": {"duration": 1.5}, "groups": {"duration": 2}}, ["groups", "summary"]),
        ({"groups": {"duration": 0.5}}, ["groups", "summary"]),
        ({"summary": {"duration": 1.5}, "groups": {"duration": 10**400}}, ["groups", "summary"]),
        ({"summary": {"duration": "long"}, "groups": 3}, ["summary", "groups"]),
        ([], ["summary", "groups"]),
        (None, ["summary", "groups"]),
    ],
)
def test_what_took_long_before_starts_first(
    copied: Path, monkeypatch: pytest.MonkeyPatch, pages: Any, order: list[str]
) -> None:
    """A long notebook that starts last ends alone; times that nobody can read change nothing."""
    started: list[str] = []

    def watched(jobs: list[Any], **how: Any) -> None:
        started.extend(job.name for job in jobs)

    (report_of(copied) / "run.json").write_text(json.dumps({} if pages is None else {"pages": pages}))
    monkeypatch.setattr(make, "run_all", watched)
    making(copied, force=True)
    assert started == order


def test_only_runs_the_named_notebooks(copied: Path, tmp_path: Path) -> None:
    """With unchanged inputs the other pages are kept; without a report they are left out."""
    making(copied, only=["groups"])
    files = files_of(report_of(copied))
    assert list(json.loads(files["run.json"])["pages"]) == ["groups"]
    assert {"index.html", "groups.html"} <= set(files)
    making(copied, only=["groups"], out=tmp_path / "new")
    files = files_of(tmp_path / "new" / "bm-made" / "1.0.0")
    assert "groups.html" not in files
    assert "1.0.0 20260101" in files["index.html"].decode()


def test_only_names_the_near_notebook(copied: Path) -> None:
    """A notebook that is not there is an error that names the one it resembles."""
    with pytest.raises(InputError, match="did you mean 'groups'"):
        making(copied, only=["group"])
    with pytest.raises(InputError, match="there are summary, groups"):
        making(copied, only=["zzz"])


@pytest.mark.parametrize("publish", ["public", "internal"])
def test_changed_labels_make_a_report_anew(tmp_path: Path, publish: str) -> None:
    """A public report holds no hash of the task labels, and is made again when they change all the same."""
    labels = tmp_path / "1.0.0.labels.json"
    labels.write_text('{"tk-000000000001": 2}')
    file = project(tmp_path, {"summary": notebook("1")}, labels="../1.0.0.labels.json", publish=publish)
    assert [made.status for made in making(file)] == ["built"]
    assert [made.status for made in making(file)] == ["unchanged"]
    known = sha256(labels.read_bytes()).encode()
    found = [path for path, content in files_of(report_of(file)).items() if known in content]
    assert found == ([] if publish == "public" else ["manifest.json", "ro-crate-metadata.json"])
    labels.write_text('{"tk-000000000001": 3}')
    os.utime(labels, ns=(1, 1))
    assert [made.status for made in making(file)] == ["built"]


@pytest.mark.parametrize("error", ["1 / 0", "import os; os._exit(1)"])
def test_a_failed_cell_leaves_the_old_report(copied: Path, error: str) -> None:
    """When a notebook fails the old report stays as it was, the failed notebook is kept, and nothing else."""
    before = files_of(report_of(copied))
    nbformat.write(notebook(error), copied.parents[1] / "notebooks" / "groups.ipynb")
    with pytest.raises(CellFailed) as raised:
        making(copied)
    aside = copied.parents[1] / "reports" / "failed" / "bm-made-1.0.0-groups.ipynb"
    assert str(aside) in str(raised.value)
    assert aside.is_file()
    assert files_of(report_of(copied)) == before
    assert sorted(path.name for path in report_of(copied).parent.iterdir()) == ["1.0.0"]
    changed_notebook(copied.parents[1])
    making(copied)
    assert not aside.exists()


def test_a_failure_does_not_keep_other_reports_from_being_built(tmp_path: Path) -> None:
    """Reports are independent: one that fails is told, the others are built and listed."""
    cell = "assert benchmark_version == '1.0.0', 'no such version'"
    file = project(tmp_path, {"summary": notebook(cell)})
    (tmp_path / "two").mkdir()
    other = record("res-2026-01-01-c", benchmark_version="2.0.0")
    (tmp_path / "two" / "c.json").write_text(json.dumps(other))
    second = params(tmp_path / "params" / "two.yaml", benchmark_version="2.0.0", records="../two")
    with pytest.raises(CellFailed, match="no such version"):
        build([second, file], out=tmp_path / "reports", notebooks=tmp_path / "notebooks", progress=False)
    assert report_of(file).is_dir()
    assert not (tmp_path / "reports" / "bm-made" / "2.0.0").exists()
    assert "bm-made/1.0.0/index.html" in (tmp_path / "reports" / "index.html").read_text()


def test_records_are_checked_before_anything_runs(tmp_path: Path) -> None:
    """Records of another benchmark or version, or ones that cannot be used, are refused at once."""
    file = project(tmp_path, {"summary": notebook("1 / 0")}, benchmark="bm-other")
    with pytest.raises(InputError, match=r"records: holds bm-made 1\.0\.0, not bm-other 1\.0\.0"):
        making(file)
    params(file, benchmark_version="2.0.0")
    with pytest.raises(InputError, match=r"records: holds bm-made 1\.0\.0, not bm-made 2\.0\.0"):
        making(file)
    params(file)
    made = record("res-2026-01-01-a", {1: ONE_TASK[1], 2: ONE_TASK[1]})
    (tmp_path / "records" / "res-2026-01-01-a.json").write_text(json.dumps(made))
    with pytest.raises(InputError) as raised:
        making(file)
    assert not isinstance(raised.value, CellFailed)
    assert not (tmp_path / "reports").exists()


def test_two_params_files_of_one_version_are_refused(copied: Path) -> None:
    """A benchmark version has one report, so two params files of it are an error that names both."""
    twin = params(copied.parent / "twin.yaml")
    with pytest.raises(InputError, match=r"twin\.yaml: is about bm-made 1\.0\.0, and so is .*made\.yaml"):
        build([copied, twin], out=copied.parents[1] / "reports", notebooks=copied.parents[1] / "notebooks")


def test_two_pages_with_figures_of_one_id_are_refused(tmp_path: Path) -> None:
    """A figure id names one figure of a report."""
    pages = {
        "summary": notebook(showing(figure_data("bars"))),
        "groups": notebook(showing(figure_data("bars", "b"))),
    }
    with pytest.raises(
        InputError, match=r"groups\.ipynb: another page has a figure bars too|summary\.ipynb: another"
    ):
        making(project(tmp_path, pages))


def test_notebooks_come_in_the_order_of_the_report(tmp_path: Path) -> None:
    """Known notebooks are pages in a fixed order, others are none, and a folder without any is an error."""
    for name in ("groups", "summary", "zzz", "integrity"):
        (tmp_path / f"{name}.ipynb").write_text("")
    assert [path.stem for path in notebook_files(tmp_path)] == ["summary", "groups", "integrity"]
    with pytest.raises(InputError, match="holds no notebook of a report"):
        notebook_files(tmp_path / "nowhere")


def test_progress_is_plain_lines_where_there_is_no_terminal(
    copied: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each notebook and each report is a line on standard error; silence is silent."""
    making(copied, force=True, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert sorted(line.split(" (")[0] for line in lines[:2]) == [
        "bm-made 1.0.0: groups",
        "bm-made 1.0.0: summary",
    ]
    assert [line.split(" (")[1] for line in lines[:2]] == ["1 of 2)", "2 of 2)"]
    assert lines[2:] == [f"bm-made 1.0.0: {report_of(copied) / 'index.html'}"]
    making(copied, progress=True)
    assert capsys.readouterr().err == "bm-made 1.0.0: unchanged\n"
    making(copied, force=True)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("finished", "said"), [(True, "1 of 1"), (False, "0 of 1")])
def test_an_interrupt_says_what_is_built(
    copied: Path, monkeypatch: pytest.MonkeyPatch, finished: bool, said: str
) -> None:
    """Ctrl-C keeps the reports that are whole, and says how many of them are."""
    run_all = make.run_all

    def stopped(*arguments: Any, **named: Any) -> None:
        if finished:
            run_all(*arguments, **named)
        raise KeyboardInterrupt

    monkeypatch.setattr(make, "run_all", stopped)
    with pytest.raises(KeyboardInterrupt, match=f"{said} report built, the rest as before"):
        making(copied, force=True)
    assert (report_of(copied) / "index.html").is_file()


def test_progress_is_a_bar_on_a_terminal(
    copied: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a terminal a bar counts the notebooks."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    making(copied, force=True, progress=True)
    assert "2/2" in capsys.readouterr().err


def test_the_index_lists_versions_newest_first(tmp_path: Path) -> None:
    """Benchmarks are by name, versions newest first, with the words that they are not comparable."""
    for benchmark, version, title in (
        ("bm-b", "1.9.0", None),
        ("bm-b", "1.10.0", "<b>"),
        ("bm-a", "1.0.0", None),
    ):
        target = tmp_path / benchmark / version
        target.mkdir(parents=True)
        values = {"benchmark": benchmark, "benchmark_version": version, "title": title, "subset": "dev"}
        values |= {"publish": "public"}
        inputs = {"params": {"values": values}, "records": {"a.json": ""}}
        (target / "manifest.json").write_text(json.dumps({"inputs": inputs}))
    (tmp_path / "bm-b" / ".1.10.0.building-x").mkdir()
    (tmp_path / "failed").mkdir()
    (tmp_path / "failed" / "groups.ipynb").write_text("{}")
    page = site_page(tmp_path)
    order = ["bm-a/1.0.0/index.html", "bm-b/1.10.0/index.html", "bm-b/1.9.0/index.html"]
    assert sorted(order, key=page.index) == order
    assert page.count("href=") == len(order) + 1
    assert page.count("not comparable") == 1
    assert "&lt;b&gt;" in page
    assert "There is no report here yet" in site_page(tmp_path / "failed")


def test_a_page_that_cannot_be_made_costs_its_own_report(tmp_path: Path) -> None:
    """A figure that is wrong fails its report, with its notebook named and kept; others are built."""
    shown = showing(figure_data("Not a word"))
    cell = "if benchmark_version == '1.0.0':\n" + "".join(f"    {line}\n" for line in shown.splitlines())
    file = project(tmp_path, {"summary": notebook(cell)})
    (tmp_path / "two").mkdir()
    other = record("res-2026-01-01-c", benchmark_version="2.0.0")
    (tmp_path / "two" / "c.json").write_text(json.dumps(other))
    second = params(tmp_path / "params" / "two.yaml", benchmark_version="2.0.0", records="../two")
    with pytest.raises(InputError, match=r"summary\.ipynb: figure id 'Not a word'"):
        build([file, second], out=tmp_path / "reports", notebooks=tmp_path / "notebooks", progress=False)
    assert (tmp_path / "reports" / "bm-made" / "2.0.0" / "index.html").is_file()
    assert (tmp_path / "reports" / "failed" / "bm-made-1.0.0-summary.ipynb").is_file()
    assert not report_of(file).exists()


def test_two_builds_into_one_folder_both_end_well(copied: Path) -> None:
    """Two builds at once leave one whole report."""
    statuses: list[str] = []

    def run() -> None:
        statuses.extend(made.status for made in making(copied, force=True))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == ["built", "built"]
    assert [made.status for made in making(copied)] == ["unchanged"]


def test_a_place_that_cannot_be_written_is_named(copied: Path, tmp_path: Path) -> None:
    """A file where the folder of reports should be is told in one message."""
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"file.*cannot be written"):
        making(copied, out=tmp_path / "file")


def test_importing_the_report_room_is_cheap() -> None:
    """Notebooks import the library; none of the libraries that drive them comes with it."""
    costly = ("papermill", "nbclient", "nbconvert", "nbformat", "yaml", "scipy.stats")
    program = (
        "import sys, medgauge_lib, medgauge_lib.report.params\n"
        f"print([name for name in {costly} if name in sys.modules])"
    )
    assert (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        == "[]\n"
    )


def test_a_page_that_is_no_list_of_reports_is_not_written_over(copied: Path) -> None:
    """An index.html of somebody else, in whatever encoding, stays; one of ours is written anew."""
    reports = copied.parents[1] / "reports"
    ours = (reports / "index.html").read_bytes()
    (reports / "index.html").write_bytes(b"\xff<!-- " + b"0" * 64 + b" -->\n")
    making(copied)
    assert (reports / "index.html").read_bytes() == ours
    for foreign in (b"<p>caf\xe9</p>\n", b""):
        (reports / "index.html").write_bytes(foreign)
        with pytest.raises(InputError, match=r"index\.html: is no list of reports, and stays as it is"):
            making(copied, force=True)
        assert (reports / "index.html").read_bytes() == foreign


def test_only_a_report_is_replaced_by_a_report(copied: Path) -> None:
    """A file, a link, a pipe or a folder of other things where a report would lie is named and kept."""
    place = report_of(copied)
    kept = files_of(place)
    shutil.rmtree(place)
    elsewhere = copied.parents[1] / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine").write_bytes(b"1")
    for put in (
        lambda: place.write_bytes(b"mine"),
        lambda: place.symlink_to(elsewhere),
        lambda: os.mkfifo(place),
        lambda: shutil.copytree(elsewhere, place),
    ):
        put()
        with pytest.raises(InputError, match=r"1\.0\.0: (is no folder that can|holds something, and is no)"):
            making(copied)
        assert place.exists()
        shutil.rmtree(place) if place.is_dir() and not place.is_symlink() else place.unlink()
    assert files_of(elsewhere) == {"mine": b"1"}
    making(copied)
    assert files_of(place).keys() == kept.keys()


def test_a_kept_notebook_that_is_no_text_is_run_again(copied: Path) -> None:
    """A manifest that vouches for bytes that are no UTF-8 costs a run and no error."""
    place = report_of(copied)
    file, known = place / "notebooks" / "groups.ipynb", json.loads((place / "manifest.json").read_bytes())
    before = file.read_bytes()
    file.write_bytes(before + b"\xe9")
    known["outputs"]["notebooks/groups.ipynb"] = sha256(file.read_bytes())
    (place / "manifest.json").write_bytes(sorted_json(known))
    assert making(copied)[0].status == "built"
    assert file.read_bytes() == before


def test_what_only_left_out_is_built_later(copied: Path) -> None:
    """A new report of one page is no whole report: the next build of all pages makes the others."""
    whole = files_of(report_of(copied)).keys()
    shutil.rmtree(report_of(copied))
    making(copied, only=["summary"])
    assert not (report_of(copied) / "groups.html").exists()
    assert making(copied)[0].status == "built"
    assert files_of(report_of(copied)).keys() == whole
    assert making(copied)[0].status == "unchanged"
