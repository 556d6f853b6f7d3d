"""The lint checks of rule files: one small class each, with an id, a severity and a bad and a good example.

The examples are what docs/rule-checks.md shows and what the tests run: excerpts that stand over a sound file of their
kind. Checks of the folder and of what is read (``Reported``) are found by the loader and the lock, and explained here.
"""
