"""The RO-Crate of a report: what it is made from and what it holds, for programs that collect research data.

References
----------
.. [1] RO-Crate Metadata Specification 1.1, https://w3id.org/ro/crate/1.1 (root data entity, data entities,
   provenance of entities: ``CreateAction``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from medgauge_lib.report.hashes import sha256, sorted_json
from medgauge_lib.report.manifest import NAME, RUN, sources

if TYPE_CHECKING:
    from rocrate.model.entity import Entity
    from rocrate.rocrate import ROCrate

    from medgauge_lib.report.shown import Shown

VERSION = "1.1"
"""The version of the specification a crate keeps to; what the library writes by default moves with it."""

_TERMS = {"sha256": "https://schema.org/sha256"}
_FORMATS = {
    ".html": "text/html",
    ".csv": "text/csv",
    ".vl.json": "application/json",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".pdf": "application/pdf",
    ".js": "text/javascript",
    ".ipynb": "application/x-ipynb+json",
}


def crate_json(
    *, inputs: Mapping[str, Any], figures: Mapping[str, Shown], files: Mapping[str, bytes], date: str
) -> bytes:
    """Write the metadata of a report.

    Parameters
    ----------
    inputs : mapping
        The inputs as the manifest has them.
    figures : mapping
        Id to figure.
    files : mapping
        Path in the report to content, manifest, run record and this metadata not among them.
    date : str
        Date of the report, from its records, such as 2026-01-31.

    Returns
    -------
    bytes
        RO-Crate 1.1 as JSON-LD: the same bytes for the same arguments.
    """
    from rocrate.model import ContextEntity
    from rocrate.rocrate import ROCrate

    crate = ROCrate(version=VERSION)
    crate.metadata.extra_terms.update(_TERMS)
    _describe(crate, inputs["params"]["values"], date)
    made = {path: _add_file(crate, path, files[path], figures) for path in sorted(files)}
    _add_bookkeeping(crate)
    software = _add_software(crate, inputs["library"])
    used = _add_inputs(crate, inputs)
    action = ContextEntity(
        crate,
        "#build",
        {
            "@type": "CreateAction",
            "name": "Running the notebooks over the records",
            "description": f"Seed {inputs['method']['seed']}; {inputs['method']['algorithm']}",
        },
    )
    action["instrument"] = software
    action["object"] = used
    action["result"] = [entity for path, entity in made.items() if not path.startswith("assets/")]
    crate.add(action)
    crate.root_dataset["mentions"] = action
    return sorted_json(crate.metadata.generate())


def _describe(crate: ROCrate, values: Mapping[str, Any], date: str) -> None:
    """Say what the report is; the library would date it by the clock."""
    from rocrate.model import ContextEntity

    name = f"{values['benchmark']} {values['benchmark_version']}"
    licence = {
        "@type": "CreativeWork",
        "name": "Not stated",
        "description": "The records state no licence; ask their publisher before using the report elsewhere.",
    }
    root = crate.root_dataset
    root["name"] = values["title"] or name
    subset = f", subset {values['subset']}" if "subset" in values else ""
    root["description"] = f"Report of {name}{subset}: figures, their data, and the notebooks that made them."
    root["datePublished"] = date
    root["license"] = crate.add(ContextEntity(crate, "#licence", licence))
    root["mainEntity"] = {"@id": "index.html"}


def _add_file(crate: ROCrate, path: str, content: bytes, figures: Mapping[str, Shown]) -> Entity:
    """Add one file that the report holds."""
    folder, _, rest = path.rpartition("/")
    stem, dot, ending = rest.partition(".")
    shown = figures.get(stem) if folder == "figures" else None
    about: dict[str, Any] = {
        "name": path if shown is None else f"{shown.title} ({dot}{ending})",
        "sha256": sha256(content),
        "contentSize": str(len(content)),
    }
    known = _FORMATS.get(f".{ending}") or _FORMATS.get("." + ending.rpartition(".")[2])
    return crate.add_file(dest_path=path, properties=about | ({"encodingFormat": known} if known else {}))


def _add_bookkeeping(crate: ROCrate) -> None:
    """Add the two files that cannot be hashed here: one holds this file's hash, one changes each time."""
    for path, name in (
        (NAME, "Inputs, figures and files with their SHA-256"),
        (RUN, "Times of the last run"),
    ):
        crate.add_file(dest_path=path, properties={"name": name, "encodingFormat": "application/json"})


def _add_software(crate: ROCrate, library: Mapping[str, Any]) -> Entity:
    """Add this library and those it stands on, each with its version."""
    from rocrate.model import ContextEntity

    def software(name: str, version: str) -> Entity:
        about = {"@type": "SoftwareApplication", "name": name, "softwareVersion": version}
        return crate.add(ContextEntity(crate, f"#software-{quote(name)}", about))

    own = software("medgauge", library["medgauge"])
    own["softwareRequirements"] = [software(name, version) for name, version in library["uses"].items()]
    return own


def _add_inputs(crate: ROCrate, inputs: Mapping[str, Any]) -> list[Entity]:
    """Add what the report is made from; none of it lies in the report, so each is told by name and hash."""
    from rocrate.model import ContextEntity

    def source(kind: str, name: str, known: str | None, type_: str = "CreativeWork") -> Entity:
        about = {"@type": type_, "name": name} | ({"sha256": known} if known else {})
        return crate.add(ContextEntity(crate, f"#{kind}-{quote(name, safe='')}", about))

    used = [source("params", inputs["params"]["file"], inputs["params"]["sha256"])]
    used += [
        source(key, name, known) for key, files in sources(inputs).items() for name, known in files.items()
    ]
    used += [
        source("notebook", f"{name}.ipynb", known, "SoftwareSourceCode")
        for name, known in inputs["notebooks"].items()
    ]
    if "labels" in inputs:
        used.append(source("labels", inputs["labels"]["file"], inputs["labels"].get("sha256")))
    return used
