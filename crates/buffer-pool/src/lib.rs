//! Page number to frame: latches, eviction, write-back.
