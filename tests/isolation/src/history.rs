//! Histories: see `main.rs`.
