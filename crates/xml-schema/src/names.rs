//! Names of components: a namespace and a local name.

use std::fmt;
use std::sync::Arc;

/// The namespace of XML Schema's own types.
pub const XSD: &str = "http://www.w3.org/2001/XMLSchema";
/// The namespace of `xsi:type`, `xsi:nil` and their like.
pub const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// A qualified name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QName {
    /// Empty for a name in no namespace.
    pub uri: Arc<str>,
    /// The name without a prefix.
    pub local: Arc<str>,
}

impl QName {
    /// A name in a namespace.
    pub fn new(uri: &str, local: &str) -> QName {
        QName { uri: uri.into(), local: local.into() }
    }

    /// Is it this one?
    pub fn is(&self, uri: &str, local: &str) -> bool {
        *self.local == *local && *self.uri == *uri
    }
}

/// As SQL Server's messages have it.
impl fmt::Display for QName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.uri.is_empty() {
            true => f.write_str(&self.local),
            false => write!(f, "{{{}}}{}", self.uri, self.local),
        }
    }
}
