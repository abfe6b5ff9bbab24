//! The events that DDL triggers are for: which of them a statement makes happen, and what EVENTDATA() tells of one.

mod event;
pub mod event_data;
pub mod occurrence;
pub mod principals;
mod text;

pub use event::Occurrence;
pub use text::element;
