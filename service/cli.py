"""The command line: every command imports what it needs when it runs, so that ``--help`` is there at once."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from .asking import context, recall, relations, trace, window
from .options import (
    FOUND,
    Actor,
    Engine,
    Json,
    Lang,
    Namespace,
    NoNer,
    NoPacks,
    Note,
    Rules,
    Seen,
    Store,
    later,
)

app = typer.Typer(
    name="recordari",
    help="Rule-engine-first memory for AI agents: dialogue in, typed and explained memory out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # its frames cost more than all the rest of `--help`
    context_settings={"max_content_width": 120},
)
AUDIT = "The ledger of decisions: verify it, sign a checkpoint."
app.add_typer(later(".audit_commands", help=AUDIT), name="audit")
app.add_typer(
    later(".check_commands", help="Tests of a memory: can it be read back, do its indexes agree?"), name="check"
)
app.add_typer(later(".hold_commands", help="Legal holds: what must not be erased."), name="hold")
app.add_typer(later(".index_commands", help="What items are found by: made anew, or brought up to date."), name="index")
app.add_typer(later(".restrict_commands", help="Restrictions: what stays stored and is not answered."), name="restrict")
app.add_typer(later(".rule_commands", help="Rule files: write, check, test, try and compare them."), name="rules")


@app.command()
def demo(
    keep: Annotated[Path | None, typer.Option("--keep", help="Keep the demo's store in this file.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Only the first dialogue.")] = False,
) -> None:
    """Three dialogues become memory before your eyes: what was kept, what was refused and why, and the proof."""
    from .demo import run

    raise typer.Exit(run(keep, quick=quick))


@app.command()
def init(folder: Annotated[Path, typer.Argument(help="Folder to make, e.g. my-rules.")]) -> None:
    """A folder for rules of your own: add, override and retire, an example of each."""
    from .rulework import begin

    raise typer.Exit(begin(folder))


@app.command()
def extract(
    file: Annotated[str, typer.Argument(help="JSONL file, or - for standard input.")] = "-",
    rules: Rules = None,
    no_packs: NoPacks = False,
    no_ner: NoNer = False,
) -> None:
    """Texts in, mentions and cues out; nothing is remembered."""
    from .batch import extract_lines

    raise typer.Exit(extract_lines(file, rules or (), packs=not no_packs, ner=not no_ner))


@app.command()
def rehearse(
    file: Annotated[str, typer.Argument(help="JSONL file, or - for standard input.")] = "-",
    rules: Rules = None,
    no_packs: NoPacks = False,
    no_ner: NoNer = False,
    engine: Annotated[Engine | None, typer.Option(help="Which engine judges; default: the best here.")] = None,
) -> None:
    """Dialogues in, decisions and items out; each dialogue in a throw-away store of its own."""
    from .batch import rehearse_lines

    raise typer.Exit(rehearse_lines(file, rules or (), packs=not no_packs, ner=not no_ner, engine=engine))


@app.command()
def observe(
    file: Annotated[str, typer.Argument(help="JSONL file, or - for standard input.")] = "-",
    store: Store = None,
    namespace: Namespace = None,
    rules: Rules = None,
    no_packs: NoPacks = False,
    no_ner: NoNer = False,
    readback: Annotated[
        bool, typer.Option("--readback", help="Ask for what was written, and print what is not found and why.")
    ] = False,
    embed: Annotated[
        bool, typer.Option("--embed", help="At the end give vectors to the items that wait for one.")
    ] = False,
) -> None:
    """Remember a JSONL dialogue; each turn's receipt is printed once it is safely stored."""
    from .batch import observe_lines
    from .opening import memory_of

    with memory_of(store, namespace, rules, packs=not no_packs, ner=not no_ner) as memory:
        if readback:
            memory.settings = memory.settings.model_copy(update={"readback": True})
        status = observe_lines(file, memory)
        if embed:
            from .worker import embed_written

            embed_written(memory)
        raise typer.Exit(status)


@app.command()
def items(
    store: Store = None,
    namespace: Namespace = None,
    entity: Annotated[str | None, typer.Option(help="Only what is about this entity.")] = None,
    slot: Annotated[str | None, typer.Option(help="Only this slot.")] = None,
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", help="What was true at this time (ISO 8601), and what had been announced by then."),
    ] = None,
    known_at: Annotated[str | None, typer.Option("--known-at", help="What was known at this time (ISO 8601).")] = None,
    history: Annotated[bool, typer.Option("--history", help="Superseded and withdrawn versions too.")] = False,
    json: Json = False,
) -> None:
    """What is remembered: now, as of a time, as known at a time, or with its history."""
    from .opening import reading
    from .show import show_items

    with reading(store, namespace) as memory:
        found = memory.items(entity=entity, slot=slot, as_of=as_of, known_at=known_at, history=history)
        show_items(found, as_json=json)


@app.command()
def history(item: str, store: Store = None, namespace: Namespace = None, json: Json = False) -> None:
    """All versions of the thing an item is a version of, oldest first."""
    from .opening import reading
    from .show import show_items

    with reading(store, namespace) as memory:
        show_items(memory.history(item), as_json=json, title="History")


for command in (recall, relations, context, window, trace):
    app.command()(command)


@app.command()
def explain(
    item: str, lang: Lang = "en", store: Store = None, namespace: Namespace = None, json: Json = False
) -> None:  # fmt: skip
    """Why an item is remembered: from the characters of the sentence to the rule that decided."""
    from .opening import reading
    from .show import show_explanation

    with reading(store, namespace) as memory:
        found = memory.explain(item, language=lang)
        show_explanation(found, as_json=json)
    if not found:
        print(f"no decision is about item {item!r}: `recordari audit verify` tells more", file=sys.stderr)
        raise typer.Exit(FOUND)


@app.command("why-not")
def why_not(
    turn: str, lang: Lang = "en", store: Store = None, namespace: Namespace = None, json: Json = False
) -> None:  # fmt: skip
    """Why nothing (or not more) was remembered from a turn."""
    from .opening import reading
    from .show import show_explanation

    with reading(store, namespace) as memory:
        show_explanation(memory.why_not(turn, language=lang), as_json=json)


@app.command()
def review(
    store: Store = None,
    namespace: Namespace = None,
    entity: Annotated[str | None, typer.Option(help="Only what is about this entity.")] = None,
    json: Json = False,
) -> None:
    """What waits for a person: held items, why they are held, and the version to name when you decide."""
    from .opening import reading
    from .show import show_review

    with reading(store, namespace) as memory:
        show_review(memory.review(entity=entity), as_json=json)


@app.command()
def correct(
    item: str,
    value: Annotated[str, typer.Argument(help="The right value, written as one would say it: 8万元, May 3.")],
    actor: Actor,
    seen: Seen,
    since: Annotated[str | None, typer.Option(help="It changed at this time (ISO 8601); none: never was true.")] = None,
    store: Store = None,
    namespace: Namespace = None,
    rules: Rules = None,
    json: Json = False,
) -> None:
    """Put another value in an item's place; the old version becomes history."""
    from .opening import editing
    from .show import show_edit

    with editing(store, namespace, rules) as memory:
        show_edit(memory.correct(item, value, actor=actor, seen_version=seen, since=since), as_json=json)


@app.command()
def confirm(
    item: str, actor: Actor, seen: Seen, note: Note = "", store: Store = None, namespace: Namespace = None,
    rules: Rules = None, json: Json = False,
) -> None:  # fmt: skip
    """Say that an item is right."""
    from .opening import editing
    from .show import show_edit

    with editing(store, namespace, rules) as memory:
        show_edit(memory.confirm(item, actor=actor, seen_version=seen, note=note), as_json=json)


@app.command()
def reject(
    item: str, actor: Actor, seen: Seen, note: Note = "", store: Store = None, namespace: Namespace = None,
    rules: Rules = None, json: Json = False,
) -> None:  # fmt: skip
    """Take an item back, or refuse one that is held."""
    from .opening import editing
    from .show import show_edit

    with editing(store, namespace, rules) as memory:
        show_edit(memory.reject(item, actor=actor, seen_version=seen, note=note), as_json=json)


@app.command()
def approve(
    item: str, actor: Actor, seen: Seen, note: Note = "", store: Store = None, namespace: Namespace = None,
    rules: Rules = None, json: Json = False,
) -> None:  # fmt: skip
    """Let a held item in; it takes the place of what contradicts it."""
    from .opening import editing
    from .show import show_edit

    with editing(store, namespace, rules) as memory:
        show_edit(memory.approve(item, actor=actor, seen_version=seen, note=note), as_json=json)


@app.command()
def erase(
    items: Annotated[list[str] | None, typer.Argument(help="Items to erase.")] = None,
    entity: Annotated[str | None, typer.Option(help="All that is about this entity, and its conversations.")] = None,
    slot: Annotated[str | None, typer.Option(help="Of the entity, only this field.")] = None,
    qualifier: Annotated[str | None, typer.Option(help="Of the field, only what has this label.")] = None,
    conversation: Annotated[str | None, typer.Option(help="Everything said in this conversation.")] = None,
    ground: Annotated[str, typer.Option("--ground", help="On what ground: gdpr-17-1-b …; stands in the log.")] = "",
    actor: Annotated[str, typer.Option("--actor", envvar="RECORDARI_ACTOR", help="Who does it.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    certificate: Annotated[Path | None, typer.Option("--certificate", help="File for the certificate.")] = None,
    export: Annotated[
        list[Path] | None, typer.Option("--export", help="An exported bundle to be made anew without it; repeatable.")
    ] = None,
    reapply: Annotated[
        list[Path] | None, typer.Option("--reapply", help="After a restore: a certificate to apply again; repeatable.")
    ] = None,
    source: Annotated[
        str | None, typer.Option("--from", help="After a restore: a store whose erasures are applied again.")
    ] = None,
    public_key: Annotated[
        str | None,
        typer.Option("--public-key", help="Key to check certificates with, if not the one beside the store."),
    ] = None,
    store: Store = None,
    namespace: Namespace = None,
    json: Json = False,
) -> None:
    """Destroy what is remembered, so that no byte of it is left; the log keeps the proof, not the value."""
    from ..erasure.erasing import Target
    from . import erasure

    asked = erasure.Asked(ground, actor, dry_run=dry_run, yes=yes, certificate=certificate, exports=export or [])
    target = Target(tuple(items or ()), entity, slot, qualifier, conversation)
    again = erasure.Again(reapply or [], source, public_key)
    raise typer.Exit(erasure.run(store, namespace, target, asked, again, as_json=json))


@app.command()
def sweep(
    at: Annotated[str | None, typer.Option("--at", help="What is due at this time (ISO 8601; default: now).")] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many items and turns of each class.")] = 1000,
    actor: Annotated[str | None, typer.Option("--actor", help="Who does it, if a person does.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what is due.")] = False,
    store: Store = None, namespace: Namespace = None, rules: Rules = None, json: Json = False,
) -> None:  # fmt: skip
    """Erase what has been kept for as long as its retention class says; what is on hold stays."""
    from .erasure import show_swept
    from .opening import editing, reading

    with (reading if dry_run else editing)(store, namespace, rules) as memory:
        show_swept(memory, at, limit, actor, dry_run=dry_run, as_json=json)


@app.command()
def forget(
    at: Annotated[str | None, typer.Option("--at", help="What is due at this time (ISO 8601; default: now).")] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many items.")] = 1000,
    actor: Annotated[str | None, typer.Option("--actor", help="Who does it, if a person does.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what is due, and what is kept from it.")] = False,
    store: Store = None, namespace: Namespace = None, rules: Rules = None, json: Json = False,
) -> None:  # fmt: skip
    """Archive what has ended or is over a budget, and delete what was archived long enough; what is pinned stays."""
    from .forget_commands import show_forgotten
    from .opening import editing, reading

    with (reading if dry_run else editing)(store, namespace, rules) as memory:
        show_forgotten(memory, at, limit, actor, dry_run=dry_run, as_json=json)


@app.command()
def pin(
    item: str, actor: Actor, ground: Annotated[str, typer.Option(help="Why; stands in the log.")] = "pinned",
    store: Store = None, namespace: Namespace = None,
) -> None:  # fmt: skip
    """Keep an item from being forgotten; prints the number of the record."""
    from .opening import editing

    with editing(store, namespace, None) as memory:
        print(memory.pin(item, actor=actor, ground=ground))


@app.command()
def unpin(
    item: str, actor: Actor, ground: Annotated[str, typer.Option(help="Why; stands in the log.")] = "unpinned",
    store: Store = None, namespace: Namespace = None,
) -> None:  # fmt: skip
    """Let an item be forgotten again; prints the number of the record."""
    from .opening import editing

    with editing(store, namespace, None) as memory:
        print(memory.unpin(item, actor=actor, ground=ground))


@app.command()
def replay(store: Store = None, namespace: Namespace = None, json: Json = False) -> None:
    """Decide everything again, from stored features and from stored text, and compare with the record."""
    from .answers import show_replay
    from .opening import reading

    with reading(store, namespace) as memory:
        raise typer.Exit(show_replay(memory.replay(), as_json=json))


@app.command()
def polish(
    store: Store = None,
    namespace: Namespace = None,
    limit: Annotated[int, typer.Option(min=1, help="How many sentences at most.")] = 100,
) -> None:
    """Let the configured LLM reword waiting sentences; the guard keeps the template where a value drifts."""
    from .opening import editing
    from .show import show_polished

    with editing(store, namespace, None) as memory:
        show_polished(memory.polish(limit=limit))


@app.command()
def worker(
    store: Store = None,
    namespace: Namespace = None,
    rules: Rules = None,
    every: Annotated[float, typer.Option(min=0.1, help="Seconds between two looks when nothing waits.")] = 5.0,
    once: Annotated[bool, typer.Option("--once", help="End when nothing is left.")] = False,
    transcript: Annotated[
        bool, typer.Option("--transcript", help="Vectors of what was said, too, for `recordari recall --transcript`.")
    ] = False,
) -> None:
    """Do what writes leave for later, until stopped: vectors, wordings by the configured LLM, cleaning of erasures."""
    from .worker import work

    try:
        work(store, namespace, rules, every=None if once else every, transcript=transcript)
    except KeyboardInterrupt:
        raise typer.Exit from None


def main() -> None:
    """Entry point: known errors become one clear line and an exit code, never a traceback."""
    gc.set_threshold(50_000, 20, 20)  # a command starts by building what it keeps to its end: nothing to collect
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # finding them costs 30 ms
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        app()
    except Exception as error:
        from .faults import told

        sys.exit(told(error))
