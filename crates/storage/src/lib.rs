//! Pages, rows, allocation, B+tree.
