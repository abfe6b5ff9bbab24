//! Wait, spinlock, latch and counter statistics: recording only.
