//! The types: one row for each.

use crate::{ClrError, hierarchy_id, shapes};
use std::borrow::Cow;

/// The assembly that they all are of, with its version and key.
pub const ASSEMBLY: &str =
    "Microsoft.SqlServer.Types, Version=16.0.0.0, Culture=neutral, PublicKeyToken=89845dcd8080cc91";

/// A type of the CLR that the system brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClrType {
    HierarchyId,
    Geometry,
    Geography,
}

impl ClrType {
    /// Every type.
    pub const ALL: &[ClrType] = &[ClrType::HierarchyId, ClrType::Geometry, ClrType::Geography];

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
            ClrType::Geometry => "geometry",
            ClrType::Geography => "geography",
        }
    }

    /// user_type_id in sys.types; system_type_id is 240 of them all.
    pub const fn user_type(self) -> u8 {
        match self {
            ClrType::HierarchyId => 128,
            ClrType::Geometry => 129,
            ClrType::Geography => 130,
        }
    }

    /// Its class in [`ASSEMBLY`].
    pub const fn class(self) -> &'static str {
        match self {
            ClrType::HierarchyId => "Microsoft.SqlServer.Types.SqlHierarchyId",
            ClrType::Geometry => "Microsoft.SqlServer.Types.SqlGeometry",
            ClrType::Geography => "Microsoft.SqlServer.Types.SqlGeography",
        }
    }

    /// Bytes of its longest value; `None` where 2 GB are the limit.
    pub const fn bytes_max(self) -> Option<u16> {
        match self {
            ClrType::HierarchyId => Some(hierarchy_id::BYTES_MAX as u16),
            ClrType::Geometry | ClrType::Geography => None,
        }
    }

    /// Values compare, and by their bytes.
    pub const fn is_byte_ordered(self) -> bool {
        match self {
            ClrType::HierarchyId => true,
            ClrType::Geometry | ClrType::Geography => false,
        }
    }

    /// It is a type of shapes: their bytes say nothing of their order, and equal shapes may differ in them.
    pub const fn is_spatial(self) -> bool {
        matches!(self, ClrType::Geometry | ClrType::Geography)
    }

    /// The value that bytes from elsewhere are, which may be other bytes; `None` of NULL. 6522 of what is no value.
    pub fn admit(self, bytes: &[u8]) -> Result<Option<Cow<'_, [u8]>>, ClrError> {
        match self {
            ClrType::HierarchyId => hierarchy_id::check(bytes).map(|()| Some(Cow::Borrowed(bytes))),
            ClrType::Geometry | ClrType::Geography => {
                let admitted = shapes::admit(self, bytes)?;
                Ok(admitted.map(Cow::Owned))
            }
        }
    }

    /// The value that a text is, `None` of NULL; 6522 of one that is none.
    pub fn parse(self, text: &str) -> Result<Option<Vec<u8>>, ClrError> {
        match self {
            ClrType::HierarchyId => hierarchy_id::parse(text).map(Some),
            ClrType::Geometry | ClrType::Geography => shapes::parse(self, text),
        }
    }

    /// The text of a value.
    pub fn text(self, bytes: &[u8]) -> Result<Cow<'static, str>, ClrError> {
        match self {
            ClrType::HierarchyId => hierarchy_id::text(bytes),
            ClrType::Geometry | ClrType::Geography => shapes::text(self, bytes).map(Cow::Owned),
        }
    }
}
