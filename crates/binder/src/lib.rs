//! Names and types resolved: tree to typed IR.
