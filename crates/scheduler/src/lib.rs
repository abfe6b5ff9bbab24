//! One OS thread per CPU of the mask; tasks are stackful coroutines.
