//! CPUs, NUMA nodes, distances.
