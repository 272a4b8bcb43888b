"""The benchmarks' data: what there is, where it comes from, getting it, and checking it."""
