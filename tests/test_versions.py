"""Reports that other processes and a real Dask cluster build, against those built here."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from dask_cluster import Cluster, cluster
from make_records import record
from make_reports import figure_data, notebook, params, project, showing

from medgauge_lib.cli import main
from medgauge_lib.errors import InputError
from medgauge_lib.parallel import Workers, run
from medgauge_lib.report import versions
from medgauge_lib.report.build import build
from medgauge_lib.report.manifest import RUN

VERSIONS = ("1.0.0", "1.1.0")
PAGES = {
    "summary": notebook(showing(figure_data()), "print(seed)"),
    "groups": notebook("if benchmark_version == '1.1.0':\n    print(1 / int(title == 'whole'))"),
}


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Path]]:
    """Two versions of one benchmark; a notebook of the second fails unless its title is another."""
    folder = tmp_path_factory.mktemp("versions")
    project(folder, PAGES)
    files = []
    for number, version in enumerate(VERSIONS):
        made = record("res-2026-01-01-a", {number: [(0, 1), (1, 1), (1, 1)]}, benchmark_version=version)
        (folder / version).mkdir()
        project(folder / version, {}, records=[made])
        files.append(
            params(
                folder / "params" / f"{version}.yaml",
                records=f"../{version}/records",
                benchmark_version=version,
                title="whole",
            )
        )
    (folder / "params" / "made.yaml").unlink()
    return folder, files


def contents(folder: Path) -> dict[str, bytes]:
    """Content of every file of the reports but the times."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != RUN
    }


def test_a_cluster_builds_the_same_bytes(
    projects: tuple[Path, list[Path]], dask: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two versions that two workers of a cluster build are those of this process, byte for byte."""
    folder, files = projects
    build(files, out=tmp_path / "here", notebooks=folder / "notebooks", progress=False)
    monkeypatch.chdir(tmp_path)  # what is named by a relative path is found by workers elsewhere
    made = build(
        files, out="there", notebooks=folder / "notebooks", progress=False, workers=Workers(dask=dask.address)
    )
    assert [one.status for one in made] == ["built", "built"]
    assert contents(Path("there")) == contents(Path("here"))
    assert len(contents(Path("there"))) > 20

    again = build(
        files, out="there", notebooks=folder / "notebooks", progress=False, workers=Workers(dask=dask.address)
    )
    assert [one.status for one in again] == ["unchanged", "unchanged"]


def test_a_build_whose_scheduler_is_killed_goes_on_with_another(
    projects: tuple[Path, list[Path]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was built stays and is listed; another cluster builds the rest, to the bytes of this process."""
    folder, files = projects
    build(files, out=tmp_path / "here", notebooks=folder / "notebooks", progress=False)

    def built(running: Cluster) -> list[str]:
        workers = Workers(dask=running.address)
        out = tmp_path / "there"
        made = build(files, out=out, notebooks=folder / "notebooks", progress=False, workers=workers)
        return [one.status for one in made]

    with cluster(tmp_path / "first", 1) as first, monkeypatch.context() as patch:
        patch.setattr(versions, "run", partial(_killing, first))
        with pytest.raises(InputError, match=r"lost before the work had ended\n  start it and its workers"):
            built(first)
    listed = (tmp_path / "there" / "index.html").read_text()
    assert (VERSIONS[0] in listed, VERSIONS[1] in listed) == (True, False)
    with cluster(tmp_path / "second", 1) as second:
        assert built(second) == ["unchanged", "built"]
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


def _killing(running: Cluster, *given: Any, **how: Any) -> Iterator[tuple[int, Any]]:
    """Run on a cluster that is killed after its first result."""
    for one in run(*given, **how):
        yield one
        for part in (*running.workers, running.scheduler):
            part.kill()


def test_processes_build_what_can_be_built(projects: tuple[Path, list[Path]], tmp_path: Path) -> None:
    """A version that fails is the error; the other is built, listed, and nothing is left beside it."""
    folder, (good, bad) = projects
    broken = bad.with_name("broken.yaml")
    broken.write_text(bad.read_text().replace("whole", "broken"))
    out = tmp_path / "reports"
    with pytest.raises(InputError, match=r"groups\.ipynb: cell 3: ZeroDivisionError"):
        build(
            [broken, good],
            out=out,
            notebooks=folder / "notebooks",
            progress=False,
            workers=Workers(jobs=2),
        )
    assert sorted(path.name for path in out.iterdir()) == ["bm-made", "failed", "index.html"]
    assert [path.name for path in (out / "bm-made").iterdir()] == ["1.0.0"]
    assert "1.1.0" not in (out / "index.html").read_text()


def test_a_worker_that_sees_other_files_says_so(
    projects: tuple[Path, list[Path]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that a worker does not see, and files that differ there, are errors of two lines."""
    folder, (file, _) = projects
    given: list[versions.Version] = []

    def kept(function: object, items: list[versions.Version], **_: object) -> Iterator[tuple[int, list[str]]]:
        given.extend(items)
        return iter([(0, [])])

    monkeypatch.setattr(versions, "run", kept)
    build(
        [file],
        out=tmp_path / "reports",
        notebooks=folder / "notebooks",
        progress=False,
        workers=Workers(jobs=1),
    )
    (version,) = given
    failure = versions.build_version(version)
    assert f"does not see {tmp_path / 'reports'}\n  put records, params, notebooks and reports" in str(
        failure
    )

    version.mark.touch()
    moved = tmp_path / "elsewhere" / "params" / file.name
    shutil.copytree(folder / "params", moved.parent)
    shutil.copytree(folder / VERSIONS[0], tmp_path / "elsewhere" / VERSIONS[0])
    moved.write_text(moved.read_text() + "seed: 5\n")
    failure = versions.build_version(replace(version, params_file=moved))
    assert f"{moved}: the worker on " in str(failure)
    assert "reads other files than this machine" in str(failure)
    failure = versions.build_version(replace(version, notebooks=tmp_path / "none"))
    assert f"does not see {tmp_path / 'none'}\n" in str(failure)


def test_the_command_says_what_is_wrong_with_an_address(
    projects: tuple[Path, list[Path]], tmp_path: Path
) -> None:
    """A scheduler that is none is two lines on standard error and exit code 2; nothing is built."""
    done = CliRunner().invoke(
        main, ["report", str(projects[1][0]), "--out", str(tmp_path / "reports"), "--dask", "nowhere"]
    )
    assert done.exit_code == 2
    assert "'nowhere' is not the address of a Dask scheduler" in done.stderr
    assert not list((tmp_path / "reports").iterdir())
