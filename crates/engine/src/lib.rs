//! The storage engine's front door.
