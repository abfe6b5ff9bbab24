//! One program of tests of isolation: to link one is quicker than three.

mod hermitage;
mod indexes;
mod locks;
mod memory;
