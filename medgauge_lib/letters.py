"""Compact letter display: rows that share a letter are not shown to differ.

Letters are the maximal cliques of the graph whose edges join the rows *not* shown to differ. That set is
unique, so two rows have the same letters exactly when they differ from the same rows. Groups overlap; they
are never made from overlapping intervals, since overlap is not transitive.

References
----------
.. [1] Piepho (2004), Journal of Computational and Graphical Statistics 13:456-466.
.. [2] Bron & Kerbosch (1973), Communications of the ACM 16:575-577 (as implemented in networkx).
.. [3] Methodology 0.1.0, "Groups and order" and decision 4.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations, islice
from string import ascii_lowercase

from medgauge_lib.errors import InputError

MAX_GROUPS = 10_000
"""Groups beyond which no display is made; the number of maximal cliques can grow as 3^(rows / 3)."""


def groups(ranked: Sequence[str], differing: Collection[frozenset[str]]) -> tuple[tuple[str, ...], ...]:
    """Maximal sets of rows of which no two are shown to differ, in the order of their letters.

    Parameters
    ----------
    ranked : sequence of str, length n_rows
        Rows, best first.
    differing : collection of two-element frozensets
        The pairs shown to differ.

    Returns
    -------
    tuple of tuple of str
        Each group lists its rows best first; groups are ordered by their highest row, then by the next
        member.

    Raises
    ------
    InputError
        If there are more than 10,000 groups.

    Examples
    --------
    >>> groups(("x", "y", "z"), {frozenset("xz")})
    (('x', 'y'), ('y', 'z'))
    """
    import networkx as nx  # here, since --help need not wait for it

    place = {row: k for k, row in enumerate(ranked)}
    graph = nx.Graph()
    graph.add_nodes_from(ranked)
    apart = set(differing)
    graph.add_edges_from(pair for pair in combinations(ranked, 2) if frozenset(pair) not in apart)
    cliques = list(islice(nx.find_cliques(graph), MAX_GROUPS + 1))
    if len(cliques) > MAX_GROUPS:
        raise InputError(f"the comparison makes more than {MAX_GROUPS} groups", "compare fewer rows at once")
    ordered = sorted(sorted(place[row] for row in clique) for clique in cliques)
    found = tuple(tuple(ranked[k] for k in clique) for clique in ordered)
    _verify(ranked, apart, found)
    return found


def _verify(ranked: Sequence[str], apart: set[frozenset[str]], found: Sequence[Sequence[str]]) -> None:
    """Every pair shares a group exactly when it is not shown to differ; nothing is printed otherwise."""
    together = {frozenset(pair) for group in found for pair in combinations(group, 2)}
    for pair in map(frozenset, combinations(ranked, 2)):
        if (pair in together) == (pair in apart):
            raise RuntimeError(f"letters contradict the comparison of {' and '.join(sorted(pair))}")


def letter(k: int) -> str:
    """Letter of group k: ``a`` to ``z``, then ``aa``, ``ab`` and on.

    Parameters
    ----------
    k : int
        Group, 0-based.

    Returns
    -------
    str

    Examples
    --------
    >>> [letter(k) for k in (0, 25, 26, 702)]
    ['a', 'z', 'aa', 'aaa']
    """
    text = ""
    k += 1
    while k:
        k, digit = divmod(k - 1, len(ascii_lowercase))
        text = ascii_lowercase[digit] + text
    return text


def letters(ranked: Sequence[str], found: Sequence[Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Letters of every row, from the groups of `groups`.

    Examples
    --------
    >>> letters(("x", "y", "z"), (("x", "y"), ("y", "z")))
    {'x': ('a',), 'y': ('a', 'b'), 'z': ('b',)}
    """
    carried: dict[str, list[str]] = {row: [] for row in ranked}
    for k, group in enumerate(found):
        for row in group:
            carried[row].append(letter(k))
    return {row: tuple(names) for row, names in carried.items()}
