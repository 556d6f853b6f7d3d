"""Checking rules: their inline tests and the checks of form and meaning, under one name."""

from __future__ import annotations

from .inline_tests import Failure, Report, check
from .lint import CHECKS, LintCheck, lint
from .trying import Trial

__all__ = ["CHECKS", "Failure", "LintCheck", "Report", "Trial", "check", "lint"]
