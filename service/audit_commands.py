"""The commands `recordari audit …`; imported when one of them is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import Json, Namespace, Store

app = typer.Typer()


Doer = Annotated[str | None, typer.Option("--actor", help="Who does it: leaves a record of it in the log.")]


@app.command()
def verify(
    store: Store = None,
    namespace: Namespace = None,
    public_key: Annotated[
        str | None,
        typer.Option("--public-key", help="Public key to check signatures with: its line, PEM, or a file of either."),
    ] = None,
    witness: Annotated[
        Path | None, typer.Option("--witness", help="File of signed notes from outside (default: RECORDARI_WITNESS).")
    ] = None,
    actors: Annotated[
        Path | None, typer.Option("--actors", help="List of actors from outside, to hold their signatures against.")
    ] = None,
    replay: Annotated[bool, typer.Option("--replay", help="Decide everything again as well, and compare.")] = False,
    actor: Doer = None,
    json: Json = False,
) -> None:
    """Hold the log against itself, its checkpoints and the witness, and all that is stored against the log."""
    from .answers import show_replay
    from .auditwork import note_act
    from .opening import editing, reading
    from .show import show_report

    with editing(store, namespace, None) if actor else reading(store, namespace) as memory:
        report = memory.verify(public_key=public_key, witness=witness, actors=actors)
        status = show_report(report, as_json=json)
        if replay:
            status = max(status, show_replay(memory.replay(), as_json=json))
        if actor:
            note_act(memory, "verify", actor, {"findings": len(report.findings), "size": report.size})
        raise typer.Exit(status)


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="New folder for the records, proofs, report and verifier.")],
    store: Store = None,
    namespace: Namespace = None,
    proofs: Annotated[bool, typer.Option(help="The proof of each record beside it.")] = True,
    actor: Doer = None,
) -> None:
    """Write a bundle that an auditor checks and reads without Recordari: JSONL, CSV, one HTML page, a verifier."""
    from .auditwork import write_bundle
    from .opening import editing, reading

    with editing(store, namespace, None) if actor else reading(store, namespace) as memory:
        raise typer.Exit(write_bundle(memory, folder, proofs=proofs, actor=actor))


@app.command()
def prove(record: int, store: Store = None, namespace: Namespace = None) -> None:
    """Print one record with its proof of inclusion, as JSON: it can be shown without the rest of the log."""
    from .auditwork import proof_of
    from .opening import reading

    with reading(store, namespace) as memory:
        raise typer.Exit(proof_of(memory, record))


@app.command()
def attack(
    store: Store = None,
    namespace: Namespace = None,
    json: Json = False,
) -> None:
    """Falsify a throw-away copy of the ledger in every way we know, and say which is found, and by what."""
    from .attacks import run
    from .opening import reading

    with reading(store, namespace) as memory:
        raise typer.Exit(run(memory, as_json=json))


# ---------------------------------------------------------------- questions
@app.command()
def decisions(
    store: Store = None,
    namespace: Namespace = None,
    rule: Annotated[
        str | None, typer.Option("--rule", help="Of this rule (a cue, too): id, or id@3 for version 3 and later ones.")
    ] = None,
    kind: Annotated[str | None, typer.Option("--kind", help="Of this kind: ignore, add, hold, approve …")] = None,
    reason: Annotated[str | None, typer.Option("--reason", help="With this reason code.")] = None,
    slot: Annotated[str | None, typer.Option("--slot", help="About this slot.")] = None,
    rule_set: Annotated[str | None, typer.Option("--rule-set", help="Under this rule set: its digest.")] = None,
    since: Annotated[str | None, typer.Option("--since", help="Recorded on this day or later (UTC).")] = None,
    until: Annotated[str | None, typer.Option("--until", help="Recorded on this day or earlier (UTC).")] = None,
    json: Json = False,
) -> None:
    """Every decision, refusals included: of a rule since a version, of a kind, with a reason, of some days."""
    from ..evidence import questions
    from .answers import show_decisions
    from .opening import reading

    with reading(store, namespace) as memory:
        for ground in filter(None, (rule, rule_set)):
            questions.check_ground(memory, ground)
        found = questions.decisions(
            memory, rule=rule, kind=kind, reason=reason, slot=slot, ruleset=rule_set, since=since, until=until
        )
        show_decisions(found, as_json=json)


@app.command()
def holds(store: Store = None, namespace: Namespace = None, json: Json = False) -> None:
    """Everything that ever waited for a person, and who approved or rejected it."""
    from ..evidence import questions
    from .answers import show_holds
    from .opening import reading

    with reading(store, namespace) as memory:
        show_holds(questions.holds(memory), as_json=json)


@app.command()
def changes(
    item: Annotated[str | None, typer.Argument(help="This item alone, and whoever changed it, clients too.")] = None,
    store: Store = None,
    namespace: Namespace = None,
    json: Json = False,
) -> None:
    """Who changed what: every act of a person, and whose signature it bears; of one item everything that changed it."""
    from ..evidence import questions
    from .answers import show_changes
    from .opening import reading

    with reading(store, namespace) as memory:
        show_changes(questions.changes(memory, item), as_json=json)


@app.command()
def wordings(store: Store = None, namespace: Namespace = None, json: Json = False) -> None:
    """Every wording that an LLM was asked for, and what was refused."""
    from ..evidence import questions
    from .answers import show_wordings
    from .opening import reading

    with reading(store, namespace) as memory:
        show_wordings(questions.wordings(memory), as_json=json)


@app.command()
def resting(
    ground: Annotated[str, typer.Argument(help="A rule (id or id@version), or the digest of a rule set.")],
    store: Store = None,
    namespace: Namespace = None,
    json: Json = False,
) -> None:
    """The items that rest on a rule or a rule set: what to look at when it is taken back."""
    from ..evidence import questions
    from .answers import show_resting
    from .opening import reading

    with reading(store, namespace) as memory:
        questions.check_ground(memory, ground)
        show_resting(questions.resting_on(memory, ground), as_json=json)


# ---------------------------------------------------------------- keys
@app.command()
def actor(
    name: Annotated[str, typer.Argument(help="The name under which the person will act.")],
    role: Annotated[str, typer.Option("--role", help="What the person is here: compliance, lawyer …")],
    key_file: Annotated[Path | None, typer.Option("--key-file", help="Where the private key goes.")] = None,
    store: Store = None,
) -> None:
    """Put a person on the list of actors and make them a key; from then on only people of the list can act."""
    from .auditwork import new_actor

    raise typer.Exit(new_actor(name, role, key_file, store))


@app.command()
def rotate(store: Store = None, namespace: Namespace = None) -> None:
    """Give the store a new signing key; every log names it, and the old key vouches for it."""
    from .auditwork import new_key
    from .opening import editing

    with editing(store, namespace, None) as memory:
        raise typer.Exit(new_key(memory))


@app.command()
def checkpoint(store: Store = None, namespace: Namespace = None) -> None:
    """Sign the present root of the log, once it verifies, and copy it to the witness file."""
    from .auditwork import sign
    from .opening import editing

    with editing(store, namespace, None) as memory:
        raise typer.Exit(sign(memory))


@app.command()
def key(store: Store = None, namespace: Namespace = None) -> None:
    """Print the public key of the log as the line that an auditor gives to `audit verify --public-key`."""
    from .auditwork import verifier
    from .opening import reading

    with reading(store, namespace) as memory:
        print(verifier(memory))


@app.command()
def reindex(store: Store = None, namespace: Namespace = None) -> None:
    """Build the search index again from what is remembered."""
    from .opening import editing

    with editing(store, namespace, None) as memory:
        print(f"{memory.reindex()} items indexed")
