"""The aggregator: takes contributions in rounds and merges them into one snapshot with a conflict log."""
