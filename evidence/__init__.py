"""What an auditor takes away: answers to questions, and a bundle that proves itself."""
