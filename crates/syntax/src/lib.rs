//! T-SQL text to tree.
