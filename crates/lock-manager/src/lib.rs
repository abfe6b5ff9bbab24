//! Row, table and transaction waits; deadlocks.
