//! Numbers of components, and how types come from each other.

/// A type by its number; those of XML Schema itself come first (`builtin.rs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TypeId(pub u32);

/// An element declaration by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ElementId(pub u32);

/// anyType.
pub(crate) const ANY_TYPE: TypeId = TypeId(0);
/// anySimpleType.
pub(crate) const ANY_SIMPLE: TypeId = TypeId(1);

/// How one type comes from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Derivation {
    Extension,
    Restriction,
}

/// Ways of derivation that are forbidden.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Blocked {
    pub extension: bool,
    pub restriction: bool,
    pub substitution: bool,
}

impl Blocked {
    pub fn has(self, derivation: Derivation) -> bool {
        match derivation {
            Derivation::Extension => self.extension,
            Derivation::Restriction => self.restriction,
        }
    }
}
