"""The ledger of decisions: record, prove, explain, replay."""
