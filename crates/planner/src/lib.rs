//! Typed IR to physical plan.
