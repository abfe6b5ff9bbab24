//! The types: one row for each.

use crate::{ClrError, hierarchy_id};
use std::borrow::Cow;

/// The assembly that they all are of, with its version and key.
pub const ASSEMBLY: &str =
    "Microsoft.SqlServer.Types, Version=16.0.0.0, Culture=neutral, PublicKeyToken=89845dcd8080cc91";

/// A type of the CLR that the system brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClrType {
    HierarchyId,
}

impl ClrType {
    /// Every type.
    pub const ALL: &[ClrType] = &[ClrType::HierarchyId];

    /// The one of that name, in any case of letters.
    pub fn from_name(name: &str) -> Option<ClrType> {
        ClrType::ALL.iter().copied().find(|ty| ty.name().eq_ignore_ascii_case(name))
    }

    /// The one of that user_type_id.
    pub fn from_user_type(id: u8) -> Option<ClrType> {
        ClrType::ALL.iter().copied().find(|ty| ty.user_type() == id)
    }

    /// Its name as in sys.types.
    pub const fn name(self) -> &'static str {
        match self {
            ClrType::HierarchyId => "hierarchyid",
        }
    }

    /// user_type_id in sys.types; system_type_id is 240 of them all.
    pub const fn user_type(self) -> u8 {
        match self {
            ClrType::HierarchyId => 128,
        }
    }

    /// Its class in [`ASSEMBLY`].
    pub const fn class(self) -> &'static str {
        match self {
            ClrType::HierarchyId => "Microsoft.SqlServer.Types.SqlHierarchyId",
        }
    }

    /// Bytes of its longest value; `None` where 2 GB are the limit.
    pub const fn bytes_max(self) -> Option<u16> {
        match self {
            ClrType::HierarchyId => Some(hierarchy_id::BYTES_MAX as u16),
        }
    }

    /// Values compare, and by their bytes.
    pub const fn is_byte_ordered(self) -> bool {
        match self {
            ClrType::HierarchyId => true,
        }
    }

    /// Are these the bytes of a value? 6522 if not.
    pub fn check(self, bytes: &[u8]) -> Result<(), ClrError> {
        match self {
            ClrType::HierarchyId => hierarchy_id::check(bytes),
        }
    }

    /// The value that a text is; 6522 of one that is none.
    pub fn parse(self, text: &str) -> Result<Vec<u8>, ClrError> {
        match self {
            ClrType::HierarchyId => hierarchy_id::parse(text),
        }
    }

    /// The text of a value.
    pub fn text(self, bytes: &[u8]) -> Result<Cow<'static, str>, ClrError> {
        match self {
            ClrType::HierarchyId => hierarchy_id::text(bytes),
        }
    }
}
