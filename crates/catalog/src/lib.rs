//! Databases, tables, columns, procedures: what exists, kept in tables of its own.
