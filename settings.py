"""Settings of a deployment, from ``RECORDARI_…`` variables or a ``.env`` file; none changes a decision."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Where things lie and how patient the system is. Decisions depend on rules, never on these."""

    model_config = SettingsConfigDict(env_prefix="RECORDARI_", env_file=".env", extra="ignore", frozen=True)

    store: str = Field("recordari.db", description="File or SQLAlchemy URL of the store.")
    namespace: str = Field("default", description="Tenant or agent whose memory this is.")
    rules: tuple[Path, ...] = Field((), description="Folders of rule files layered over the shipped packs.")
    witness: Path | None = Field(None, description="File outside the database that receives signed checkpoints.")
    signing_key: Path | None = Field(None, description="Ed25519 key of the checkpoints; made on first use.")

    max_turn_chars: int = Field(200_000, ge=1, description="Longer turns are refused with a clear error.")

    llm_url: str | None = Field(None, description="Base URL of an OpenAI-compatible endpoint; none: templates only.")
    llm_model: str = Field("", description="Model name sent to the endpoint.")
    llm_key: SecretStr = Field(SecretStr(""), description="API key of the endpoint.")
    llm_timeout: float = Field(20.0, gt=0, description="Seconds to wait for one rewriting.")
