//! Analysis, redo, undo.
