"""Rule files and what reads them: mentions plus what is known become verdicts."""
