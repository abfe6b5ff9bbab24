//! Physical plans, executed.
