"""The RO-Crate of a report is valid, describes every file and input, and is the same bytes every time."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from make_records import record
from make_reports import figure_data, notebook, project, showing
from rocrate.rocrate import ROCrate

from medgauge_lib.report.build import build
from medgauge_lib.report.crate import VERSION, crate_json
from medgauge_lib.report.hashes import sha256

INPUTS: dict[str, Any] = {
    "params": {
        "file": "x.yaml",
        "sha256": "1" * 64,
        "values": {
            "benchmark": "bm-x", "benchmark_version": "1.0.0", "subset": "dev", "title": None, "records": "r",
        },
    },
    "records": {"a b.json": "2" * 64, "../<c>.json": "3" * 64},
    "notebooks": {"summary": "4" * 64},
    "labels": {"file": "x.labels.json"},
    "method": {"algorithm": "bca-1", "seed": 7},
    "library": {"medgauge": "1.2.3", "sha256": "5" * 64, "uses": {"numpy": "2.0"}},
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built report, whose latest record is of 2026-03-04."""
    root = tmp_path_factory.mktemp("crate")
    records = [
        record("res-2026-01-01-a"),
        record("res-2026-01-01-b", created_at="2026-03-04T05:06:07Z"),
    ]
    pages = {"summary": notebook(showing(figure_data("bars", "<b>"))), "groups": notebook("1")}
    file = project(root, pages, records=records, title="Made for tests")
    (made,) = build([file], out=root / "reports", notebooks=root / "notebooks", progress=False)
    return made.folder


def graph(content: bytes) -> dict[str, dict[str, Any]]:
    """Return the entities of a crate by their ids, each of which may be there once."""
    entities = json.loads(content)["@graph"]
    found = {entity["@id"]: entity for entity in entities}
    assert len(found) == len(entities)
    return found


def references(value: Any) -> list[str]:
    """Return every id that a value refers to."""
    if isinstance(value, dict):
        return [value["@id"]] if set(value) == {"@id"} else [i for v in value.values() for i in references(v)]
    return [i for v in value for i in references(v)] if isinstance(value, list) else []


def made() -> bytes:
    """Return a crate of made-up inputs."""
    files = {"index.html": b"x", "figures/a.svg": b"<svg/>", "assets/b.js": b""}
    return crate_json(inputs=INPUTS, figures={}, files=files, date="2026-01-31")


def test_a_crate_has_what_the_specification_requires(folder: Path) -> None:
    """Descriptor and root entity are as RO-Crate 1.1 and 1.2 require; the date is the records'.

    Of the specification: "Root Data Entity", there "RO-Crate Metadata Descriptor" and "Direct properties of
    the Root Data Entity".
    """
    content = (folder / "ro-crate-metadata.json").read_bytes()
    entities = graph(content)
    assert sorted(json.loads(content)) == ["@context", "@graph"]
    context = json.loads(content)["@context"]
    assert context[0] == f"https://w3id.org/ro/crate/{VERSION}/context"
    descriptor, root = entities["ro-crate-metadata.json"], entities["./"]
    assert descriptor["@type"] == "CreativeWork"
    assert descriptor["about"] == {"@id": "./"}
    assert descriptor["conformsTo"] == {"@id": f"https://w3id.org/ro/crate/{VERSION}"}
    assert root["@type"] == "Dataset"
    assert (root["name"], root["datePublished"]) == ("Made for tests", "2026-03-04")
    assert root["description"]
    assert set(root["license"]) == {"@id"}
    assert entities[root["license"]["@id"]]["description"]


def test_a_crate_is_flat_and_compact(folder: Path) -> None:
    """Entities hold texts and references, and one value is no list (appendix "RO-Crate JSON-LD")."""
    for entity in graph((folder / "ro-crate-metadata.json").read_bytes()).values():
        for value in entity.values():
            assert not isinstance(value, list) or len(value) > 1
            for one in value if isinstance(value, list) else [value]:
                assert isinstance(one, str) or set(one) == {"@id"}


def test_every_reference_of_a_crate_resolves(folder: Path) -> None:
    """Every entity has a type and a name, is referred to, and refers to entities that are there."""
    entities = graph((folder / "ro-crate-metadata.json").read_bytes())
    named = {
        i for entity in entities.values() for i in references({**entity, "@id": None, "conformsTo": None})
    }
    assert named <= set(entities)
    assert set(entities) - named == {"ro-crate-metadata.json"}
    for identity, entity in entities.items():
        assert entity["@type"]
        assert entity.get("name") or identity == "ro-crate-metadata.json"
        assert re.fullmatch(r"\./|#?[A-Za-z0-9._/%-]+", identity)


def test_a_crate_lists_every_file_with_its_hash(folder: Path) -> None:
    """The parts of the report are its files; each but the two that cannot be hashed has size and SHA-256."""
    entities = graph((folder / "ro-crate-metadata.json").read_bytes())
    parts = references(entities["./"]["hasPart"])
    files = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    assert sorted(parts) == sorted(set(files) - {"ro-crate-metadata.json"})
    for part in parts:
        assert entities[part]["@type"] == "File"
        assert entities[part]["encodingFormat"]
        if part not in ("manifest.json", "run.json"):
            content = files[part].read_bytes()
            assert entities[part]["sha256"] == sha256(content)
            assert entities[part]["contentSize"] == str(len(content))


def test_a_crate_says_how_the_report_was_made(folder: Path) -> None:
    """One action takes records, params and notebooks, uses this library, and gives pages and figures."""
    entities = graph((folder / "ro-crate-metadata.json").read_bytes())
    (action,) = [entity for entity in entities.values() if entity["@type"] == "CreateAction"]
    inputs = json.loads((folder / "manifest.json").read_bytes())["inputs"]
    used = {entities[i]["name"]: entities[i].get("sha256") for i in references(action["object"])}
    assert used == {
        "made.yaml": inputs["params"]["sha256"],
        **inputs["records"],
        **{f"{name}.ipynb": known for name, known in inputs["notebooks"].items()},
    }
    assert {"index.html", "groups.html", "figures/bars.csv", "figures/bars.vl.json"} <= set(
        references(action["result"])
    )
    software = entities[action["instrument"]["@id"]]
    assert software["softwareVersion"] == inputs["library"]["medgauge"]
    uses = {
        entities[i]["name"]: entities[i]["softwareVersion"]
        for i in references(software["softwareRequirements"])
    }
    assert uses == inputs["library"]["uses"]


def test_a_crate_can_be_read_by_the_library_of_its_makers(folder: Path) -> None:
    """Reading the report folder as a crate finds every file and warns of nothing."""
    crate = ROCrate(str(folder))
    assert crate.root_dataset["datePublished"].startswith("2026-03-04")
    assert crate.dereference("figures/bars.csv")["name"] == "Title <b> (.csv)"
    assert len(crate.data_entities) == len(references(crate.root_dataset.properties()["hasPart"]))


def test_a_crate_is_the_same_bytes_every_time() -> None:
    """Nothing in it is random, and no time but the date it is given."""
    assert made() == made()
    assert re.findall(rb"\d{4}-\d\d-\d\d", made()) == [b"2026-01-31"]


def test_hidden_labels_have_no_hash_in_a_crate() -> None:
    """The labels of a public report are named alone; file names cannot leave the crate."""
    entities = graph(made())
    assert entities["#labels-x.labels.json"] == {
        "@id": "#labels-x.labels.json",
        "@type": "CreativeWork",
        "name": "x.labels.json",
    }
    assert entities["#records-..%2F%3Cc%3E.json"]["sha256"] == "3" * 64
    assert entities["./"]["name"] == "bm-x 1.0.0"
    assert "assets/b.js" not in references(entities["#build"]["result"])
