"""Who may say what, and how anyone can check it: keys, actors, proof of what the ledger says."""
