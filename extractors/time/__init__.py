"""What time words mean: a small tree of periods, shifts and ranges, and how it is read on a calendar."""
