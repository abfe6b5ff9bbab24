//! Trees on a simulated disk, with a log in memory that can be replayed.

mod kit;
mod model;
mod pages;
mod replay;
mod stress;
