"""A project: items, features and a ledger in one folder; people are given items and answer."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from aced._errors import InvalidInput
from aced._types import Float32, Float64
from aced.ledger import Event, Ledger, LedgerDamaged, LedgerError, Settings, State, Transaction
from aced.pool import Pool
from aced.project._brief import (
    brief_of,
    fitting,
    recalled,
    round_is_due,
    store_memory,
)
from aced.project._classes import active_names, check_chosen, code_of, listed
from aced.project._create import make_files
from aced.project._files import (
    EMBEDDING,
    FEATURES,
    ITEMS,
    MEMORY,
    OPENED,
    Savable,
    check_files,
    find_ledger,
    hash_files,
    pool_of,
    read_features,
    read_items,
)
from aced.project._goal import Goals
from aced.project._history import check_return
from aced.project._item import USED, Item, KeyTaken, Undone, check_same
from aced.project._people import check_name, hash_of, holder_of, new_token
from aced.project._proposals import read_proposals, standing
from aced.project._round import Brief, PlannedRound, train_classifier
from aced.project._spare import spare_row
from aced.project._tally import Tally
from aced.project._votes import Opinions, opinions

MOST_HELD = 5
"""The most items that one person may hold at a time."""


class Project:
    """An open project. Every answer is on disk before the call returns.

    ``folder`` is what :meth:`create` or ``aced init`` made; ``clock`` gives the seconds since 1970.
    """

    def __init__(
        self, folder: str | os.PathLike[str], *, clock: Callable[[], float] = time.time
    ) -> None:
        self.folder = Path(folder)
        self.ledger = Ledger(find_ledger(self.folder), clock=clock)
        if not self.ledger.state.seq:
            raise InvalidInput(
                "project", f"{self.folder} was never finished; delete it and repeat aced init"
            )
        known = self.ledger.state.files
        if known:
            check_files(self.folder, {name: known[name] for name in OPENED if name in known})
        elif self.ledger.writable:
            self._seal()

    def _seal(self) -> None:
        """Write the hashes of its files into the ledger of a project that has none."""
        if not self.items or self.pool is None:  # both are checked as they are read
            return
        hashes = hash_files(self.folder)
        try:
            with self.ledger.writing() as writing:
                if not writing.state.files:
                    writing.append("sealed", "", body={"files": hashes})
        except LedgerDamaged:
            raise
        except LedgerError:  # there is no room, say; it can be read, and is sealed another time
            return

    @classmethod
    def create(
        cls,
        folder: str | os.PathLike[str],
        *,
        ids: Sequence[str],
        contents: Sequence[Any],
        kind: Literal["text", "image", "row"],
        features: Float32,
        classes: Sequence[str],
        rows: Sequence[int] | None = None,
        root: str | os.PathLike[str] | None = None,
        strategy: str = "blend",
        seed: int = 0,
        batch: int | None = None,
        check: float = 0.1,
        overlap: float = 0.0,
        lease: float = 600.0,
        l2: float | None = None,
        representation: str | None = None,
        combine: str = "dawid-skene",
        embedding: Savable | None = None,
        audit: Mapping[str, float] | None = None,
        stop: Mapping[str, Any] | None = None,
        cost_per_label: float | None = None,
        proposals: tuple[Any, Any] | None = None,
        shown: Sequence[Mapping[str, Any]] | None = None,
        reading: Mapping[str, Any] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> Project:
        """Make a project in ``folder``, which is empty or absent.

        ``ids`` and ``contents`` are the items, of one ``kind``; ``classes`` are 2 to 100 names. ``rows``
        has for each item its row of ``features`` (default: 0, 1, …); duplicates share one. ``root`` is
        the folder of images. ``strategy`` draws ``batch`` items for a round, from ``seed``. ``check`` is
        the share of uniform draws, from which accuracy follows, ``overlap`` that of second opinions.
        An item is kept for a person for ``lease`` seconds. ``representation`` ("auto", "linear" or
        "rbf") says in which columns the classifier is linear (default: the labels choose); ``l2`` makes
        it a logistic regression of the features as they are. ``combine`` ("dawid-skene" or "majority")
        is how several opinions become one label.
        ``embedding`` is what computed the features; it is saved beside them. With ``audit`` the features
        are predictions (:mod:`._audit`), and the project says how accurate they are. ``stop`` says when
        labelling may stop: ``of`` ("accuracy", or "recall" of the class with this ``code``), ``wanted``
        and ``confidence``. ``cost_per_label`` is what a label costs, from which savings in money follow.
        ``proposals`` are the proposed code of each row and how sure it is (None: nothing is known).
        ``shown`` is what people see of each item besides its content; nothing is learned from it.
        ``reading`` says how the table of the items was read (:func:`aced.items.reading_of`).
        """
        make_files(
            Path(folder),
            ids,
            contents,
            kind,
            features,
            classes,
            rows=rows,
            root=root,
            batch=batch,
            embedding=embedding,
            proposals=proposals,
            shown=shown,
            reading=reading,
            clock=clock,
            audit=audit,
            stop=stop,
            cost_per_label=cost_per_label,
            strategy=strategy,
            seed=seed,
            check=check,
            overlap=overlap,
            lease=lease,
            l2=l2,
            representation=representation,
            combine=combine,
        )
        return cls(folder, clock=clock)

    def close(self) -> None:
        self.ledger.close()

    # -- what there is ----------------------------------------------------------------

    @property
    def state(self) -> State:
        """The state, up to date with what other processes wrote."""
        return self.ledger.catch_up()

    @cached_property
    def id(self) -> str:
        """What tells this project from all others: 16 digits of the hash of its ledger's first event."""
        with self.ledger.reading():
            return next(self.ledger.events())[1][:16]

    @property
    def settings(self) -> Settings:
        return self.ledger.state.settings

    @property
    def classes(self) -> list[str]:
        """The names of the classes that people may choose, in the order of their codes."""
        return active_names(self.ledger.state)

    @property
    def codes(self) -> list[int]:
        """The codes of these classes. They stay for ever, so a merge leaves a gap."""
        return self.ledger.state.codes

    @property
    def names(self) -> list[str]:
        """By code, the name of the class that a label with this code counts as."""
        return self.ledger.state.names

    @cached_property
    def features(self) -> Float32:
        return read_features(self.folder / FEATURES)

    @cached_property
    def pool(self) -> Pool:
        return pool_of(self.features, self.folder / FEATURES, self.settings)

    @cached_property
    def proposed(self) -> Float64 | None:
        """A proposed code of every row, and how sure it is; None without proposals."""
        return read_proposals(self.folder, self.settings.rows)

    @cached_property
    def items(self) -> list[dict[str, Any]]:
        """Every item, duplicates included: id, content, row, and what is shown besides, if anything."""
        return read_items(self.folder / ITEMS, self.settings)

    @property
    def embedding(self) -> Path | None:
        """The file that says how features of new items are computed, checked; None if there is none."""
        known = self.ledger.state.files.get(EMBEDDING)
        if known is not None:
            check_files(self.folder, {EMBEDDING: known})
        path = self.folder / EMBEDDING
        return path if path.exists() else None

    @cached_property
    def _first(self) -> dict[int, int]:
        first: dict[int, int] = {}
        for place, item in enumerate(self.items):
            first.setdefault(item["row"], place)
        return first

    def item(self, row: int) -> Item:
        """The item shown for a row of the pool."""
        if row not in self._first:
            raise InvalidInput("row", f"there is no row {row}")
        found = self.items[self._first[row]]
        return Item(row, found["id"], self.settings.kind, found["content"], found.get("shown"))

    def opinions(self, state: State | None = None) -> Opinions:
        """The rows that have labels, with their combined labels, in ``state`` (default: now)."""
        if state is not None:
            return opinions(state, self.settings.combine)
        with self.ledger.reading() as state:
            return opinions(state, self.settings.combine)

    @cached_property
    def goals(self) -> Goals:
        """After how many labels it may be enough, as rounds come in."""
        return Goals()

    @cached_property
    def tally(self) -> Tally:
        """Counts that follow the ledger."""
        return Tally(self.ledger)

    # -- people -----------------------------------------------------------------------

    def add_person(self, name: str, role: str = "annotator", *, token: bool = True) -> str | None:
        """Let ``name`` label; return an access ``token`` if one is wanted. Only its hash is kept."""
        check_name(name)
        if role not in ("annotator", "lead"):
            raise InvalidInput("role", f"must be annotator or lead, got {role!r}")
        secret = new_token() if token else None
        with self.ledger.writing() as writing:
            known = writing.state.people.get(name)
            kept = None if known is None or token or not known.active else known.token
            if known is not None and known.active and not token and known.role in (role, "lead"):
                return None
            body = {"name": name, "role": role, "token": kept if secret is None else hash_of(secret)}
            writing.append("annotator", name, body=body)
        return secret

    def revoke(self, name: str) -> None:
        with self.ledger.writing() as writing:
            if name not in writing.state.people:
                raise InvalidInput("name", f"nobody is called {name!r} here")
            writing.append("revoked", name, body={"name": name})

    def who_is(self, token: str) -> tuple[str, str] | None:
        """Name and role of a token's holder."""
        with self.ledger.reading() as state:
            return holder_of(token, state.people)

    # -- the loop ---------------------------------------------------------------------

    def give(self, who: str, count: int = 1, *, late: bool = False) -> list[Item]:
        """The next ``count`` items for ``who`` to label: first those they hold, then new ones.

        If the next round is ``late``, somebody who would have nothing gets an item out of turn.
        """
        count = min(count, MOST_HELD)
        with self.ledger.reading() as state:
            held = state.held_by(who, self.ledger.now)
        if len(held) < count:
            with self.ledger.writing() as writing:
                held = self._lease(writing, who, count, late)
        return [self.item(row) for row in held[:count]]

    def _lease(self, writing: Transaction, who: str, count: int, late: bool) -> list[int]:
        self._known(writing.state, who)
        held = writing.state.held_by(who, writing.now)
        fresh = list(islice(writing.state.ready(who, writing.now), max(0, count - len(held))))
        if late and not held and not fresh:
            spare = spare_row(writing.state)
            if spare is not None:
                writing.append("spare", "", body={"rows": [spare[0]], "probabilities": [spare[1]]})
                fresh = [spare[0]]
        for row in fresh:
            writing.append("lease", who, row, {"until": writing.now + self.settings.lease})
        return held + fresh

    def answer(
        self,
        who: str,
        row: int,
        kind: str,
        label: str | None = None,
        *,
        seconds: float = 0.0,
        key: str | None = None,
        source: str = "page",
        then: int = 0,
        late: bool = False,
    ) -> tuple[Event, list[Item]]:
        """Take the answer of ``who`` about a ``row`` that they were given; it is on disk on return.

        ``kind`` is label, skip or unsure; ``label`` is a class. The answer took ``seconds`` and came
        from ``source``. The same answer sent twice with the same ``key`` counts once; another answer
        with this key is refused. ``then`` more items are given (``late``: see :meth:`give`).
        """
        if kind not in ("label", "skip", "unsure"):
            raise InvalidInput("kind", f"must be label, skip or unsure, got {kind!r}")
        if not (isinstance(row, int) and 0 <= row < self.settings.rows):
            raise InvalidInput("row", f"there is no row {row}")
        if not 0 <= seconds < 1e7:
            raise InvalidInput("seconds", f"must be from 0 up, got {seconds}")
        with self.ledger.writing() as writing:
            self._known(writing.state, who)
            event = None if key is None else self.ledger.find(key)
            code = code_of(writing.state, label) if kind == "label" else None
            if kind == "label" and code is None:
                known = listed(self.classes)
                raise InvalidInput("label", f"must be one of {known}, got {str(label)[:80]!r}")
            if event is not None:
                check_same(event, who, row, kind, code)
            else:
                if code is not None:
                    check_chosen(writing.state, code, label)
                if not writing.state.was_given(who, row):
                    raise InvalidInput("row", f"item {row} was not given to you; ask for the next one")
                body: dict[str, Any] = {"seconds": round(float(seconds), 3), "source": source}
                if code is not None:
                    body["label"] = code
                event = writing.append(kind, who, row, body, key)
            held = self._lease(writing, who, min(then, MOST_HELD), late) if then else []
        return event, [self.item(row) for row in held]

    def undo(self, who: str, *, key: str | None = None, again: bool = True) -> Undone | None:
        """Take back the last answer of ``who``, or the last return to the queue; None without any.

        An answer's item is given to ``who`` again. Without ``again`` it is only if they have no answer
        about it now; otherwise the answer before stands, and nobody is asked.
        """
        with self.ledger.writing() as writing:
            state = writing.state
            self._known(state, who)
            event = None if key is None else self.ledger.find(key)
            if event is None:
                done = state.people[who].done
                if not done:
                    return None
                of = done[-1]
                body: dict[str, Any] = {"of": of}
                if of not in state.returned and (again or state.before[of] == (None, None)):
                    body["until"] = writing.now + self.settings.lease
                event = writing.append("undo", who, state.given[of][1], body, key)
            elif event.kind != "undo" or event.who != who:
                raise KeyTaken("key", USED)
            kind = state.given[event.body["of"]][0]
        assert event.row is not None
        return Undone(kind, self.item(event.row))

    def put_back(self, who: str, answer: int, *, key: str | None = None) -> Item:
        """Bring the item of a skip or an unsure, event ``answer``, back into its person's queue.

        ``who`` gave that answer or is a lead. The item is drawn, wanted and counted as before: it only
        stops being passed. The same call sent twice with the same ``key`` counts once.
        """
        with self.ledger.writing() as writing:
            self._known(writing.state, who)
            event = None if key is None else self.ledger.find(key)
            if event is None:
                row = check_return(writing.state, who, answer)
                event = writing.append("returned", who, row, {"of": answer}, key)
            elif (event.kind, event.who, event.body.get("of")) != ("returned", who, answer):
                raise KeyTaken("key", USED)
        assert event.row is not None
        return self.item(event.row)

    def _known(self, state: State, who: str) -> None:
        person = state.people.get(who)
        if person is None or not person.active:
            raise InvalidInput("name", f"{who!r} may not label here; let them in with aced invite")

    # -- rounds -----------------------------------------------------------------------

    def round_is_due(self, *names: str) -> bool:
        """Whether the next round should be planned: less than half a round is left to give.

        It is due, too, if less is left for one of ``names``, who are not given a row twice.
        """
        with self.ledger.reading() as state:
            return round_is_due(state, self.ledger.now, names)

    def brief(self) -> Brief:
        """The next round's brief, from the present state."""
        with self.ledger.reading() as state:
            brief, last = brief_of(state), state.rounds[-1] if state.rounds else None
            brief = replace(brief, proposals=standing(self.proposed, state))
        memory = recalled(
            self.folder, self.ledger, lambda: self.pool, last, brief.based_on, self.proposed
        )
        return replace(brief, memory=fitting(memory, last or {}, self.ledger.state))

    def record(self, brief: Brief, planned: PlannedRound) -> bool:
        """Record a planned round; False if another process recorded that round first."""
        with self.ledger.writing() as writing:
            if len(writing.state.rounds) + 1 != brief.round:
                return False
            writing.append("draw", "", body=planned.body(brief))
        with suppress(OSError, InvalidInput):  # a full disk, say; the memory follows from the ledger
            store_memory(self.folder / MEMORY, brief, planned)
        return True

    def refill(self, threads: int | None = None) -> bool:
        """Plan and record the next round at once if one is due; return whether it was."""
        from aced.project._driver import Driver, Inline

        return Driver(self, Inline(threads)).wait()

    def classifier(self) -> Any:
        """A classifier trained on all combined labels; None if there are none.

        It is the one that the next round would begin with: in the representation of the last round, or
        in another if the labels since then speak clearly for it.
        """
        if self.settings.audit:
            raise InvalidInput("project", "it audits predictions and trains no classifier")
        brief = self.brief()
        return train_classifier(self.pool, brief) if len(brief.rows) else None
