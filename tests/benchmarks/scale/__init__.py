"""The parts of `bench_scale`: a cluster of real processes, load on it, faults in it, and the check of its answers."""
