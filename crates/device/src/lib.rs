//! Aligned direct I/O: io_uring, I/O threads, simulated, failing.
