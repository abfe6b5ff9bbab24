//! Shapes of geometry and geography: what their bytes and texts say, and what is computed of them.
//!
//! The crate promises to read and write values as SQL Server does ([`bytes`], [`wkt`], [`wkb`]), to know which of them are
//! valid, and to answer what methods ask: how shapes lie to each other ([`relate`]), what they make together ([`overlay`]),
//! how long, large and far they are ([`measure`]), what is made of one ([`make`]). Every loop over points breathes, or runs
//! elsewhere on a bounded number of them ([`work`]); readers survive any input, with counts bounded by the bytes at hand.
//!
//! It knows nothing of SQL's types, methods' names or NULL. Overlays and relations on a plane are the `geo` crate's,
//! geodesics geographiclib's.
#![forbid(unsafe_code)]

mod arcs;
pub mod bytes;
mod earth;
mod error;
pub mod make;
pub mod measure;
mod number;
pub mod overlay;
mod plane;
pub mod relate;
mod rules;
mod shape;
pub mod srid;
mod sweep;
mod valid;
pub mod wkb;
pub mod wkt;
pub mod work;

pub use error::{Result, SpatialError};
pub use number::text as number_text;
pub use shape::{Curve, DEPTH_MAX, Piece, Pos, Shape, Spatial, World, check_srid};

#[cfg(test)]
mod tests;
