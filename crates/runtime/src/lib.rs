//! The one door to threads, clock, randomness, waiting and sockets.
