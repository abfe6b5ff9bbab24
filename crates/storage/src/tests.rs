//! Trees on a simulated disk, with a log in memory that can be replayed.

mod compact;
mod kit;
mod measure;
mod model;
mod pages;
mod replay;
mod stress;
