//! Simple types as they are kept: where they come from, and what restricts them.

use crate::ids::{Blocked, TypeId};
use crate::names::QName;
use crate::pattern::Pattern;
use crate::value::{Primitive, Value};
use std::sync::Arc;

/// Is a value an identifier, or does it name one?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum IdKind {
    #[default]
    None,
    Id,
    Ref,
}

/// What becomes of whitespace before a text is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Whitespace {
    #[default]
    Preserve,
    Replace,
    Collapse,
}

/// What the text of a derived string has to look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Shape {
    #[default]
    Any,
    Language,
    Token,
    Name,
    NcName,
    /// Digits without a point.
    Whole,
}

#[derive(Clone, Debug)]
pub(crate) enum Variety {
    /// anySimpleType: any text.
    Any,
    Atomic(Primitive),
    List(TypeId),
    Union(Vec<TypeId>),
}

/// Restrictions: those of a type and of all that it is derived from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facets {
    pub white: Whitespace,
    pub length: Option<u32>,
    pub min_length: Option<u32>,
    pub max_length: Option<u32>,
    /// Of each step of derivation those of which one must match.
    pub patterns: Vec<Arc<[Pattern]>>,
    pub enumeration: Option<Arc<[Value]>>,
    /// The bound, and whether it is itself allowed.
    pub min: Option<(Value, bool)>,
    pub max: Option<(Value, bool)>,
    pub total_digits: Option<u32>,
    pub fraction_digits: Option<u32>,
    pub shape: Shape,
}

#[derive(Clone, Debug)]
pub(crate) struct SimpleType {
    pub name: Option<QName>,
    pub base: Option<TypeId>,
    pub variety: Variety,
    pub facets: Facets,
    /// What it is derived from of ID and IDREF; of a list what its items are.
    pub id: IdKind,
    pub is_final: Blocked,
}

impl SimpleType {
    pub fn is_union_of(&self, ty: TypeId) -> bool {
        matches!(&self.variety, Variety::Union(members) if members.contains(&ty))
    }
}
