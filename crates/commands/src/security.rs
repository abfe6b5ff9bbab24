//! Principals, permissions and who acts as whom.

mod grants;
mod masking;
mod needs;
mod ownership;
mod permission;
pub mod principals;
mod reached;
mod runs_as;

pub use runs_as::{Defined, RunsAs};
