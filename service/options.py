"""What commands share: their options, their exit codes, and groups of commands that are imported when asked for."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperGroup
from typer.main import get_command

# Exit codes: 0 done; 1 the check found something; 2 wrong use; 3 unreadable or corrupt input.
FOUND, WRONG_USE, UNREADABLE = 1, 2, 3

Engine = Literal["durable", "reference"]
Rules = Annotated[
    list[Path] | None,
    typer.Option("--rules", help="Folder of rule files layered over the shipped packs; may be repeated."),
]
NoPacks = Annotated[bool, typer.Option("--no-packs", help="Leave the shipped packs out.")]
NoNer = Annotated[bool, typer.Option("--no-ner", help="Run without name-recognition models.")]
Store = Annotated[str | None, typer.Option("--store", help="File or URL of the store (default: RECORDARI_STORE).")]
Namespace = Annotated[str | None, typer.Option("--namespace", help="Whose memory (default: RECORDARI_NAMESPACE).")]
Actor = Annotated[str, typer.Option("--actor", envvar="RECORDARI_ACTOR", help="Who does it; stands in the log.")]
Seen = Annotated[int, typer.Option("--seen", min=1, help="The version you looked at; a later one refuses the edit.")]
Note = Annotated[str, typer.Option("--note", help="Why; kept with the decision.")]
Lang = Annotated[Literal["en", "zh"], typer.Option("--lang", help="Language of the explanation.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON lines instead of a table.")]


def later(module: str, *, help: str) -> typer.Typer:
    """A group whose commands stand in a neighbouring module (its ``app``), imported once somebody asks for them."""

    class Later(TyperGroup):
        """The group, empty until it is looked into."""

        def list_commands(self, ctx: Any) -> list[str]:
            """The names of its commands."""
            self.fill()
            return super().list_commands(ctx)

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            """One of its commands, None when there is none of that name."""
            self.fill()
            return super().get_command(ctx, cmd_name)

        def fill(self) -> None:
            """Import the module once."""
            if not self.commands:
                found = get_command(import_module(module, __package__).app)
                self.commands.update(found.commands)  # type: ignore[attr-defined]

    return typer.Typer(help=help, no_args_is_help=True, cls=Later)
