//! A rival as `--target` knows it, without the lab.

use crate::error::RivalError;
use crate::rival::{Rival, Start};

/// A rival that is up, or why there is none.
pub type Made = Result<Box<dyn Rival>, RivalError>;

/// What a rival is called, and how one comes to be.
pub struct RivalKind {
    /// How it is spelt and what it is.
    pub help: (&'static str, &'static str),
    /// The target's name in documents, and the word that starts one of the lab's own.
    pub name: &'static str,
    /// Other words for it.
    pub aliases: &'static [&'static str],
    /// Of addresses, as `postgres` of `postgres://`; empty: it cannot run elsewhere.
    pub schemes: &'static [&'static str],
    /// The engine runs in this process.
    pub in_process: bool,
    /// Looks whether it could be started with these options: installed, port free.
    pub check: fn(&str) -> Result<(), RivalError>,
    /// Starts one of the lab's own; what stood behind the question mark.
    pub start: fn(&str, &Start) -> Made,
    /// Goes to one that runs already; the whole address.
    pub connect: fn(&str) -> Made,
}
