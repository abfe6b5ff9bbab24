//! Row visibility as pure functions.
