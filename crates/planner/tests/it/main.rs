//! One program of tests of plans: to link one is quicker than three.

mod depth;
mod estimates;
#[path = "../../../binder/tests/fixture/mod.rs"]
mod fixture;
mod orders;
mod plans;
mod spools;
