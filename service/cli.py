"""The command line: every command imports what it needs when it runs, so that ``--help`` is there at once."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

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
app.add_typer(later(".check_commands", help="Tests of a memory that is there: can it be read back?"), name="check")
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


@app.command()
def recall(
    question: str,
    store: Store = None,
    namespace: Namespace = None,
    entity: Annotated[str | None, typer.Option(help="Only what is about this entity.")] = None,
    slot: Annotated[list[str] | None, typer.Option(help="Only this slot; may be repeated.")] = None,
    without: Annotated[
        list[str] | None, typer.Option("--without", help="Class of personal data not to be shown; may be repeated.")
    ] = None,
    at: Annotated[str | None, typer.Option("--at", help="When it is asked (ISO 8601; default: now).")] = None,
    as_of: Annotated[str | None, typer.Option("--as-of", help="What was true at this time (ISO 8601).")] = None,
    known_at: Annotated[
        str | None, typer.Option("--known-at", help="What we knew at this time (ISO 8601); default: all we know.")
    ] = None,
    history: Annotated[bool, typer.Option("--history", help="What was superseded or ended, too.")] = False,
    top: Annotated[int, typer.Option(min=1, max=100, help="How many at most.")] = 10,
    transcript: Annotated[
        bool, typer.Option("--transcript", help="Turns that bear on it, too: what was said, not what is remembered.")
    ] = False,
    json: Json = False,
) -> None:
    """What is remembered that answers a question; one Chinese character is enough."""
    from .opening import reading
    from .recalled import show_answer

    with reading(store, namespace) as memory:
        answer = memory.answer(
            question, entity=entity, slots=slot, without=without or (), history=history, at=at, as_of=as_of,
            known_at=known_at, top=top, transcript=transcript,
        )  # fmt: skip
        show_answer(answer, as_json=json)


@app.command()
def relations(
    name: str,
    store: Store = None,
    namespace: Namespace = None,
    hops: Annotated[int, typer.Option(min=1, max=3, help="Steps at most.")] = 1,
    relation: Annotated[str | None, typer.Option(help="Only this relation (works_at, supplies …).")] = None,
    as_of: Annotated[str | None, typer.Option("--as-of", help="What was true at this time (ISO 8601).")] = None,
    known_at: Annotated[str | None, typer.Option("--known-at", help="What we knew at this time (ISO 8601).")] = None,
    json: Json = False,
) -> None:
    """Whom and what a name is joined to, over one to three steps, how surely, and by which items."""
    from .opening import reading
    from .relation_commands import show_related

    with reading(store, namespace) as memory:
        show_related(memory, name, as_json=json, hops=hops, relation=relation, as_of=as_of, known_at=known_at)


@app.command()
def context(
    question: str,
    budget: Annotated[int, typer.Option(min=1, help="Tokens at most.")] = 2000,
    turn: Annotated[str | None, typer.Option(help="What was just said (default: the question).")] = None,
    store: Store = None,
    namespace: Namespace = None,
    entity: Annotated[str | None, typer.Option(help="Only what is about this entity.")] = None,
    at: Annotated[str | None, typer.Option("--at", help="When it is asked (ISO 8601; default: now).")] = None,
    transcript: Annotated[
        bool, typer.Option("--transcript", help="Turns that bear on it, too, above what is remembered.")
    ] = False,
    window: Annotated[
        str | None, typer.Option("--window", help="What left the window of this conversation, and holds for it, too.")
    ] = None,
    json: Json = False,
) -> None:
    """What to put before a model that answers a question: quoted sentences within a budget, the best last."""
    from .opening import reading
    from .recalled import show_context

    with reading(store, namespace) as memory:
        if window is not None:
            from .window_commands import expect

            expect(memory, window)
        found = memory.context(
            question, budget=budget, turn=turn, entity=entity, at=at, transcript=transcript, window=window
        )
        show_context(found, as_json=json)


@app.command()
def window(
    conversation: str,
    turns: Annotated[int | None, typer.Option(min=0, help="How many turns at most (default: the setting, 10).")] = None,
    minutes: Annotated[float | None, typer.Option(min=0, help="Only turns of the last minutes before --at.")] = None,
    at: Annotated[str | None, typer.Option("--at", help="When it is asked (ISO 8601; default: now).")] = None,
    summarise: Annotated[
        bool, typer.Option("--summarise", help="Let the configured LLM word the summary; the guard keeps the values.")
    ] = False,
    store: Store = None,
    namespace: Namespace = None,
    json: Json = False,
) -> None:
    """The last turns of a conversation, what still holds of those before, and what holds for it alone."""
    from .window_commands import show

    show(store, namespace, conversation, turns=turns, minutes=minutes, at=at, summarise=summarise, as_json=json)


@app.command()
def trace(
    number: Annotated[int | None, typer.Argument(metavar="[ID]", help="One trace by its number.")] = None,
    last: Annotated[int, typer.Option("--last", min=1, help="How many at most, the newest first.")] = 20,
    empty: Annotated[bool, typer.Option("--empty", help="Only questions that found nothing, and how many.")] = False,
    item: Annotated[str | None, typer.Option(help="Only questions that this item (or turn) answered.")] = None,
    hits: Annotated[bool, typer.Option("--hits", help="How often items and turns were answers.")] = False,
    by: Annotated[
        Literal["day", "month"] | None,
        typer.Option(help="How many were asked and found nothing, by day or month (UTC)."),
    ] = None,
    since: Annotated[str | None, typer.Option(help="Only those written from this time on (ISO 8601).")] = None,
    until: Annotated[str | None, typer.Option(help="Only those written before this time (ISO 8601).")] = None,
    store: Store = None,
    namespace: Namespace = None,
    json: Json = False,
) -> None:
    """What was asked, and how its answer came about; RECORDARI_TRACE says which share of the questions is kept."""
    from .trace_commands import show

    show(
        store, namespace, number=number, last=last, empty=empty, item=item, hits=hits, by=by, since=since, until=until,
        as_json=json,
    )  # fmt: skip


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
    from .opening import editing

    with editing(store, namespace, rules) as memory:
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
    from .opening import editing

    with editing(store, namespace, rules) as memory:
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
    """Do what writes leave for later, until stopped: vectors, wordings by the configured LLM, cleaning after erasures."""
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
