//! Aggregates of shapes: all of a group in one.
//!
//! Values of several reference systems make NULL, values that are NULL do not count. Sources: SQL documentation,
//! "UnionAggregate", "EnvelopeAggregate", "CollectionAggregate", "ConvexHullAggregate".

use super::{value, world};
use crate::{ClrError, ClrType};
use spatial::{Result, Shape, Spatial, bytes, make, overlay};

/// An aggregate, called as `type::Name(value)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Aggregate {
    Union,
    Envelope,
    Collection,
    ConvexHull,
}

impl Aggregate {
    const ALL: [(&'static str, Aggregate); 4] = [
        ("UnionAggregate", Aggregate::Union),
        ("EnvelopeAggregate", Aggregate::Envelope),
        ("CollectionAggregate", Aggregate::Collection),
        ("ConvexHullAggregate", Aggregate::ConvexHull),
    ];

    /// The one of that name, letter by letter.
    pub fn find(ty: ClrType, name: &str) -> Option<Aggregate> {
        let found = Aggregate::ALL.iter().find(|(known, _)| *known == name);
        found.filter(|_| ty.is_spatial()).map(|(_, aggregate)| *aggregate)
    }

    pub fn name(self) -> &'static str {
        Aggregate::ALL.iter().find(|(_, a)| *a == self).map_or("", |(name, _)| name)
    }

    /// All of a group in one; `None`: NULL. May suspend.
    pub fn of(
        self,
        ty: ClrType,
        group: &[impl AsRef<[u8]>],
    ) -> std::result::Result<Option<Vec<u8>>, ClrError> {
        self.made(ty, group).map_err(|e| ClrError::of_shapes(ty, e))
    }

    fn made(self, ty: ClrType, group: &[impl AsRef<[u8]>]) -> Result<Option<Vec<u8>>> {
        let mut all: Vec<Spatial> = Vec::with_capacity(group.len());
        for bytes in group {
            let value = value(world(ty), bytes.as_ref())?;
            value.valid()?;
            all.push(value);
        }
        let Some(first) = all.first() else { return Ok(None) };
        if all.iter().any(|value| value.srid != first.srid) {
            return Ok(None);
        }
        if self == Aggregate::Union {
            let made = overlay::union_all(&all)?;
            return Ok(made.map(|made| bytes::write(&made)));
        }
        let first = first.part(Shape::Collection(Vec::new()));
        let parts: Vec<Shape> = all.into_iter().map(|value| value.shape).collect();
        let together = first.with(Shape::Collection(parts))?;
        let made = match self {
            Aggregate::Envelope if ty == ClrType::Geography => make::round_envelope(&together)?,
            Aggregate::Envelope => together.part(make::envelope(&together)),
            Aggregate::ConvexHull => make::convex_hull(&together)?,
            Aggregate::Collection | Aggregate::Union => together,
        };
        Ok(Some(bytes::write(&made)))
    }
}
