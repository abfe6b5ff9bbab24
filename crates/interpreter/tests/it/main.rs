//! One program of tests of the machine: to link one is quicker than five.

mod administration;
mod language;
mod machine_code;
mod queries;
#[path = "../support/mod.rs"]
mod support;
mod transactions;
