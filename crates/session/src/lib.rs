//! A user's session and the instance it belongs to.
