"""Benchmarks: figures on public data, each beside the command that makes it and the bound it must meet."""
