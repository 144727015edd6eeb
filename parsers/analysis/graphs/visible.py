"""Computes the visible part of a graph when some scopes are open: boxes, links between them, and small items beside them.

Boxes are named by keys: n5 is the node of row 5, s3 scope number 3, f5 an aggregate and k3 a stack that begin with those.
An open scope, aggregate or stack is a frame around its boxes. The page only keeps a list of open keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import overload

import numpy as np

from parsers.analysis.graphs.levels import GraphBox, Level, level
from parsers.analysis.graphs.network import KINDS, OPERATOR, PARAMETER, Ints, Network
from parsers.analysis.graphs.scopes import Scopes, scopes

PAGE = 300
"""Maximum boxes of one frame that are drawn at a time."""
CAP = 2_000
"""Maximum elements drawn: boxes, links and items beside boxes."""
HUB = 20
"""A box with more links than this on one side keeps only the nearest KEPT of them."""
KEPT = 4
BESIDE = 4
"""Maximum parameters, or constants, drawn one by one beside a node."""


@dataclass(frozen=True, slots=True)
class OpenScopes:
    """The state of the view: what is open.

    opened: keys, the latest last. pages: for the key of a frame ("" for the top) how many of its boxes come before the drawn.
    """

    opened: tuple[str, ...] = ()
    pages: Mapping[str, int] = field(default_factory=dict)
    parameters: bool = True
    constants: bool = True

    def toggled(self, key: str) -> OpenScopes:
        """Return the state with one box opened or closed. The state of its contents is kept."""
        opened = tuple(one for one in self.opened if one != key)
        return replace(self, opened=opened if len(opened) < len(self.opened) else (*opened, key))

    def turned(self, key: str, by: int) -> OpenScopes:
        """Return the state with the page of a frame moved by this many boxes; key is that of the frame."""
        return replace(self, pages={**self.pages, key: max(0, self.pages.get(key, 0) + by)})

    def also(self, other: OpenScopes) -> OpenScopes:
        """Merge another state, whose pages take precedence, such as the result of `GraphView.reveal`."""
        opened = tuple(one for one in self.opened if one not in other.opened)
        return replace(self, opened=(*opened, *other.opened), pages={**self.pages, **other.pages})


@dataclass(frozen=True, slots=True)
class SideNode:
    """Something small beside a box: "parameter" or "constant" that it takes, or "proxy" of a hub that it takes from.

    nodes: the rows it stands for. box: of a proxy, the key of the hub.
    """

    kind: str
    label: str
    nodes: tuple[int, ...] = ()
    box: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """A box.

    kind: "node", "scope", "fold", "stack", "earlier" and "later" (the pages of a frame that are not drawn), "more" (the other
    ends of a hub's links). parent: index of the frame it is in, or -1. opened: it is a frame. count: the operators in it; of
    pages the boxes, of "more" the links. members: rows of a node or fold, numbers of a scope or stack. also: of a scope, the
    later layers that use it too, such as "1–23".
    """

    key: str
    kind: str
    parent: int
    label: str
    count: int
    members: tuple[int, ...] = ()
    type: str = ""
    opened: bool = False
    beside: tuple[SideNode, ...] = ()
    also: str = ""


@dataclass(frozen=True, slots=True)
class BoxLink:
    """Edges between two boxes, which are given by index: how many, and one of them, as a row of the frame or -1.

    kind: "data", "control" or "call" (all of them are), or "proxy" between a hub and its "more".
    """

    source: int
    target: int
    count: int
    kind: str
    edge: int = -1
    type: str = ""
    shape: str = ""


@dataclass(frozen=True, slots=True)
class Visible:
    """items: frames before what is in them. closed: keys that were asked to be open and are not, because of CAP.

    page: how many boxes of a frame are drawn, which is less than PAGE where there are too many. bare: nothing beside boxes.
    """

    items: tuple[Item, ...]
    links: tuple[BoxLink, ...]
    closed: tuple[str, ...] = ()
    page: int = PAGE
    bare: bool = False

    @property
    def elements(self) -> int:
        """Number of elements drawn."""
        return len(self.items) + len(self.links) + sum(len(item.beside) for item in self.items)


class GraphView:
    """A graph whose scopes can be opened and closed. Computed levels are cached."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.scopes: Scopes = scopes(network)
        self._levels: dict[int, Level] = {}
        self._edge_types = [*map(str, network.edges["type"].cat.categories), ""]
        self._edge_shapes = [*map(str, network.edges["shape"].cat.categories), ""]
        self._edge_type = network.edges["type"].cat.codes.to_numpy()
        self._edge_shape = network.edges["shape"].cat.codes.to_numpy()

    def level(self, scope: int) -> Level:
        """Return the direct contents of a scope."""
        if scope not in self._levels:
            self._levels[scope] = level(self.scopes, scope)
        return self._levels[scope]

    def visible(self, shown: OpenScopes) -> Visible:
        """Return what is drawn, at most CAP elements.

        If there are too many, first what is beside boxes is left out, then pages become shorter, then the frames that were
        opened first are closed.
        """
        opened, dropped = list(dict.fromkeys(shown.opened)), []
        drawn = self._visible(shown, opened, PAGE, False)
        if drawn.elements > CAP:
            drawn = self._visible(shown, opened, PAGE, True)
        page = PAGE
        while drawn.elements > CAP and page > 100:
            page //= 2
            drawn = self._visible(shown, opened, page, True)
        while drawn.elements > CAP and opened:
            half = opened[: (len(opened) + 1) // 2]
            wanted = self._above(opened[-1])
            less = [key for key in half if key not in wanted] or half
            dropped.extend(less)
            opened = [key for key in opened if key not in set(less)]
            drawn = self._visible(shown, opened, page, True)
        return replace(drawn, closed=tuple(dropped))

    def reveal(self, row: int) -> tuple[str, OpenScopes]:
        """Return the box that shows a node, and the state in which it is visible.

        A parameter or constant is shown by its first consumer. The key is "" for a node that is not drawn.
        """
        network = self.network
        if network.kind[row] != OPERATOR:
            row = int(network.first_consumer[row])
        if row < 0 or not network.shown[row]:
            return "", OpenScopes()
        chain = [0, *self.scopes.above(int(self.scopes.home[row]))]
        opened, pages = [], {}
        for scope, below in zip(chain, [*chain[1:], -1], strict=True):
            frame = f"s{scope}" if scope else ""
            if scope:
                opened.append(frame)
            wanted = row if below < 0 else below
            kinds = ("node", "fold") if below < 0 else ("scope", "stack")
            units = self.level(scope).units
            place, unit = next((n, u) for n, u in enumerate(units) if u.kind in kinds and wanted in u.members)
            if place >= PAGE:
                pages[frame] = place // PAGE * PAGE
            if unit.kind in ("fold", "stack"):
                inner = unit.members.index(wanted)
                if unit.kind == "fold":
                    opened.append(unit.key)
                if unit.kind == "fold" and inner >= PAGE:
                    pages[unit.key] = inner // PAGE * PAGE
        return f"n{row}", OpenScopes(tuple(opened), pages)

    def _above(self, key: str) -> set[str]:
        """The keys that must be open so that what key names is drawn, itself included."""
        number = int(key[1:]) if key[1:].isdecimal() else -1
        if key[:1] in "sk" and 0 <= number < len(self.scopes):
            return {key, *(f"s{scope}" for scope in self.scopes.above(number))}
        if key[:1] == "f" and 0 <= number < self.network.size:
            return {key, *(f"s{scope}" for scope in self.scopes.above(int(self.scopes.home[number])))}
        return {key}

    def _visible(self, shown: OpenScopes, opened: Sequence[str], page: int, bare: bool) -> Visible:
        boxes = _Boxes(self, opened, shown.pages, page)
        boxes.fill_scope(0, -1)
        links = self._links(boxes)
        items = boxes.items
        links = _without_hubs(items, links, bare)
        if not bare:
            self._put_beside(items, boxes.of, shown)
        return Visible(tuple(items), tuple(links), page=page, bare=bare)

    def _links(self, boxes: _Boxes) -> list[BoxLink]:
        network, size = self.network, len(boxes.items)
        outer = np.append(boxes.outer(), -1)
        source, target = boxes.of[network.source], boxes.of[network.target]
        apart = outer[source] != outer[target]
        source = np.where(apart, outer[source], source)
        target = np.where(apart, outer[target], target)
        kept = np.flatnonzero((source >= 0) & (target >= 0) & (source != target) & (network.kind[network.source] == OPERATOR))
        pair = source[kept] * size + target[kept]
        order = np.argsort(pair, kind="stable")
        pair, kept = pair[order], kept[order]
        begin = np.flatnonzero(np.concatenate(([True], pair[1:] != pair[:-1]))) if pair.size else pair
        count = np.diff(np.append(begin, len(pair)))
        control, call = network.control[kept], network.call[kept]
        if pair.size:
            control, call = np.minimum.reduceat(control, begin), np.minimum.reduceat(call, begin)
        kinds = np.where(control, "control", np.where(call, "call", "data"))
        links = []
        for key, first, many, kind in zip(
            pair[begin].tolist(), kept[begin].tolist(), count.tolist(), kinds.tolist(), strict=True
        ):
            row = int(network.edge[first])
            links.append(
                BoxLink(
                    source=key // size,
                    target=key % size,
                    count=many,
                    kind=kind,
                    edge=row,
                    type=self._edge_types[self._edge_type[row]] if row >= 0 else "",
                    shape=self._edge_shapes[self._edge_shape[row]] if row >= 0 else "",
                )
            )
        return links

    def _put_beside(self, items: list[Item], of: Ints, shown: OpenScopes) -> None:
        network = self.network
        wanted = network.kind[network.source] != OPERATOR
        box = of[network.target]
        wanted &= box >= 0
        if not shown.parameters:
            wanted &= network.kind[network.source] != PARAMETER
        if not shown.constants:
            wanted &= network.kind[network.source] <= PARAMETER
        single = np.array([item.kind == "node" for item in items], np.bool_)
        rows = np.flatnonzero(wanted)
        rows = rows[single[box[rows]]] if len(items) else rows
        rows = rows[np.lexsort((network.input[rows], box[rows]))]
        beside: dict[int, dict[int, list[int]]] = {}
        for index, source in zip(box[rows].tolist(), network.source[rows].tolist(), strict=True):
            given = beside.setdefault(index, {}).setdefault(int(network.kind[source]), [])
            if source not in given[-BESIDE:]:
                given.append(source)
        for index, kinds in beside.items():
            found = [small for kind, nodes in sorted(kinds.items()) for small in self._small(kind, nodes)]
            items[index] = replace(items[index], beside=(*items[index].beside, *found))

    def _small(self, kind: int, nodes: Iterable[int]) -> list[SideNode]:
        rows = tuple(dict.fromkeys(nodes))
        if len(rows) > BESIDE:
            return [SideNode(KINDS[kind], f"{len(rows):,}", rows)]
        return [SideNode(KINDS[kind], self.network.name(row), (row,)) for row in rows]


class _MemberBoxes(Sequence[GraphBox]):
    """The members of an aggregate or a stack as separate boxes, created on demand."""

    def __init__(self, unit: GraphBox) -> None:
        self.kind, self.members = "node" if unit.kind == "fold" else "scope", unit.members

    def __len__(self) -> int:
        return len(self.members)

    @overload
    def __getitem__(self, place: int) -> GraphBox: ...
    @overload
    def __getitem__(self, place: slice) -> list[GraphBox]: ...
    def __getitem__(self, place: int | slice) -> GraphBox | list[GraphBox]:
        if isinstance(place, slice):
            return [GraphBox(self.kind, (member,)) for member in self.members[place]]
        return GraphBox(self.kind, (self.members[place],))


class _Boxes:
    """Collects the boxes that are drawn: frames first."""

    def __init__(self, view: GraphView, opened: Sequence[str], pages: Mapping[str, int], page: int) -> None:
        self.view, self.pages, self.page = view, pages, page
        self.opened = {key: turn for turn, key in enumerate(opened)}
        self.open_scopes = {int(key[1:]) for key in opened if key[:1] == "s" and key[1:].isdecimal()}
        self.items: list[Item] = []
        self.of = np.full(view.network.size, -1, np.int64)

    def fill_scope(self, scope: int, frame: int) -> None:
        """Put the boxes of an open scope into its frame."""
        found = self.view.level(scope)
        split = {place: self._split(found.units[place]) for place in found.stacks}
        split = {place: runs for place, runs in split.items() if len(runs) > 1}
        units: Sequence[GraphBox] = found.units
        places = np.arange(len(units))
        if split:
            units = [run for place, unit in enumerate(found.units) for run in split.get(place, (unit,))]
            places = np.repeat(places, [len(split.get(place, "1")) for place in range(len(found.units))])
        boxes, open_units = self._window(f"s{scope}" if scope else "", units, frame)
        lookup = np.full(len(found.units) + 1, -1, np.int64)
        lookup[places] = boxes
        self.of[self.view.scopes.within(scope)] = lookup[found.place]
        for number in np.flatnonzero(np.isin(places, list(split))).tolist() if split else ():
            self._assign(units[number], int(boxes[number]))
        for unit, box in open_units:
            self._fill(unit, box)

    def outer(self) -> Ints:
        """For each box the one whose links it shares: the frame of an aggregate of many, else itself."""
        shared = [item.opened and item.kind == "fold" and item.count > HUB for item in self.items]
        return np.array([i.parent if i.parent >= 0 and shared[i.parent] else n for n, i in enumerate(self.items)], np.int64)

    def _split(self, unit: GraphBox) -> list[GraphBox]:
        """A folded stack of which some members are open: those by themselves, the rest in runs."""
        if unit.key in self.opened or self.open_scopes.isdisjoint(unit.members):
            return [unit]
        runs: list[list[int]] = [[]]
        for scope in unit.members:
            if scope in self.open_scopes:
                runs += [[scope], []]
            else:
                runs[-1].append(scope)
        return [GraphBox("stack" if len(run) > 1 else "scope", tuple(run)) for run in runs if run]

    def _fill(self, unit: GraphBox, frame: int) -> None:
        if unit.kind == "scope":
            self.fill_scope(unit.members[0], frame)
            return
        units = _MemberBoxes(unit)
        boxes, open_units = self._window(unit.key, units, frame)
        if unit.kind == "fold":
            self.of[list(unit.members)] = boxes
        else:
            self._put(np.array(unit.members), boxes)
        for each, box in open_units:
            self._fill(each, box)

    def _assign(self, unit: GraphBox, box: int) -> None:
        if unit.kind in ("node", "fold"):
            self.of[list(unit.members)] = box
            return
        self._put(np.array(unit.members), np.full(len(unit.members), box))

    def _put(self, scopes: Ints, boxes: Ints) -> None:
        """Everything in each of some scopes is in the box of that."""
        inside, many = self.view.scopes.each_within(scopes)
        operator = self.view.network.kind[inside] == OPERATOR
        self.of[inside[operator]] = np.repeat(boxes, many)[operator]

    def _window(self, key: str, units: Sequence[GraphBox], frame: int) -> tuple[Ints, list[tuple[GraphBox, int]]]:
        """Boxes for one page of units; which box each unit is in, and the units that are open, with their boxes."""
        size = len(units)
        begin = min(max(0, int(self.pages.get(key, 0))), max(0, size - 1))
        if self.page < PAGE and key not in self.pages:
            latest = max(range(size), key=lambda place: self.opened.get(units[place].key, -1), default=0)
            begin = latest // self.page * self.page if size and units[latest].key in self.opened else 0
        end = min(begin + self.page, size)
        # A page of one box less than there are would put two boxes in the place of one.
        if size <= self.page + 1:
            begin, end = 0, size
        boxes = np.empty(size, np.int64)
        open_units = []
        if begin:
            boxes[:begin] = self._add(Item(f"<{key}", "earlier", frame, "", begin))
        for place in range(begin, end):
            unit = units[place]
            item = self._item(unit, frame)
            boxes[place] = self._add(item)
            if item.opened:
                open_units.append((unit, int(boxes[place])))
        if end < size:
            boxes[end:] = self._add(Item(f">{key}", "later", frame, "", size - end))
        return boxes, open_units

    def _add(self, item: Item) -> int:
        self.items.append(item)
        return len(self.items) - 1

    def _item(self, unit: GraphBox, frame: int) -> Item:
        network, tree = self.view.network, self.view.scopes
        first = unit.members[0]
        if unit.kind == "node":
            return Item(unit.key, "node", frame, network.label(first), 1, unit.members, network.types[network.type[first]])
        opened = unit.key in self.opened
        if unit.kind == "fold":
            kind = network.types[network.type[first]]
            return Item(unit.key, "fold", frame, kind, len(unit.members), unit.members, kind, opened)
        many = sum(int(tree.operators[scope]) for scope in unit.members)
        return Item(unit.key, unit.kind, frame, tree.label(first), many, unit.members, "", opened)


def _without_hubs(items: list[Item], links: list[BoxLink], bare: bool) -> list[BoxLink]:
    """Links without most of those of hubs: their other ends are counted in a "more" and have a proxy beside them."""
    for side in ("source", "target"):
        ends: dict[int, list[BoxLink]] = {}
        for link in links:
            ends.setdefault(getattr(link, side), []).append(link)
        cut: set[int] = set()
        added = []
        for hub, mine in ends.items():
            if len(mine) <= HUB:
                continue
            other = "target" if side == "source" else "source"
            far = sorted(mine, key=lambda link: (abs(getattr(link, other) - hub), getattr(link, other)))[KEPT:]
            cut.update(map(id, far))
            items.append(Item(f"{'o' if side == 'source' else 'i'}{items[hub].key}", "more", items[hub].parent, "", len(far)))
            more = len(items) - 1
            many = sum(link.count for link in far)
            added.append(BoxLink(hub, more, many, "proxy") if side == "source" else BoxLink(more, hub, many, "proxy"))
            if side == "source" and not bare:
                proxy = SideNode("proxy", items[hub].label, box=items[hub].key)
                for link in far:
                    items[link.target] = replace(items[link.target], beside=(*items[link.target].beside, proxy))
        links = [link for link in links if id(link) not in cut] + added
    return links
