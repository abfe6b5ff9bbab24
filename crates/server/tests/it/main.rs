//! One program of tests over the wire: to link one is quicker than six. What needs a process of its own has a file beside
//! this folder.

#[path = "../support/mod.rs"]
mod support;

mod audits;
mod login;
mod mars;
mod moving;
mod permissions;
mod recovery;
mod requests;
