//! The types of XML Schema itself: each has a fixed number.

use crate::facets::*;
use crate::ids::{ANY_SIMPLE, ANY_TYPE, Blocked, Derivation, TypeId};
use crate::model::*;
use crate::names::{QName, XSD};
use crate::value::{ONE, Primitive, Value};
use std::sync::Arc;

/// How a type comes from the one before it.
enum How {
    First(Primitive, Whitespace),
    Spaced(Whitespace),
    Shaped(Shape),
    /// Whole numbers between two bounds.
    Between(Option<i128>, Option<i128>),
    ListOf,
}

use How::{Between, First, ListOf, Shaped, Spaced};

const TYPES: &[(&str, &str, How)] = &[
    ("string", "anySimpleType", First(Primitive::String, Whitespace::Preserve)),
    ("boolean", "anySimpleType", First(Primitive::Boolean, Whitespace::Collapse)),
    ("decimal", "anySimpleType", First(Primitive::Decimal, Whitespace::Collapse)),
    ("float", "anySimpleType", First(Primitive::Float, Whitespace::Collapse)),
    ("double", "anySimpleType", First(Primitive::Double, Whitespace::Collapse)),
    ("duration", "anySimpleType", First(Primitive::Duration, Whitespace::Collapse)),
    ("dateTime", "anySimpleType", First(Primitive::DateTime, Whitespace::Collapse)),
    ("time", "anySimpleType", First(Primitive::Time, Whitespace::Collapse)),
    ("date", "anySimpleType", First(Primitive::Date, Whitespace::Collapse)),
    ("gYearMonth", "anySimpleType", First(Primitive::YearMonth, Whitespace::Collapse)),
    ("gYear", "anySimpleType", First(Primitive::Year, Whitespace::Collapse)),
    ("gMonthDay", "anySimpleType", First(Primitive::MonthDay, Whitespace::Collapse)),
    ("gDay", "anySimpleType", First(Primitive::Day, Whitespace::Collapse)),
    ("gMonth", "anySimpleType", First(Primitive::Month, Whitespace::Collapse)),
    ("hexBinary", "anySimpleType", First(Primitive::Hex, Whitespace::Collapse)),
    ("base64Binary", "anySimpleType", First(Primitive::Base64, Whitespace::Collapse)),
    ("anyURI", "anySimpleType", First(Primitive::AnyUri, Whitespace::Collapse)),
    ("QName", "anySimpleType", First(Primitive::Name, Whitespace::Collapse)),
    ("normalizedString", "string", Spaced(Whitespace::Replace)),
    ("token", "normalizedString", Spaced(Whitespace::Collapse)),
    ("language", "token", Shaped(Shape::Language)),
    ("NMTOKEN", "token", Shaped(Shape::Token)),
    ("Name", "token", Shaped(Shape::Name)),
    ("NCName", "Name", Shaped(Shape::NcName)),
    ("ID", "NCName", Shaped(Shape::NcName)),
    ("IDREF", "NCName", Shaped(Shape::NcName)),
    ("ENTITY", "NCName", Shaped(Shape::NcName)),
    ("NMTOKENS", "NMTOKEN", ListOf),
    ("IDREFS", "IDREF", ListOf),
    ("ENTITIES", "ENTITY", ListOf),
    ("integer", "decimal", Between(None, None)),
    ("nonPositiveInteger", "integer", Between(None, Some(0))),
    ("negativeInteger", "nonPositiveInteger", Between(None, Some(-1))),
    ("long", "integer", Between(Some(i64::MIN as i128), Some(i64::MAX as i128))),
    ("int", "long", Between(Some(i32::MIN as i128), Some(i32::MAX as i128))),
    ("short", "int", Between(Some(i16::MIN as i128), Some(i16::MAX as i128))),
    ("byte", "short", Between(Some(-128), Some(127))),
    ("nonNegativeInteger", "integer", Between(Some(0), None)),
    ("unsignedLong", "nonNegativeInteger", Between(Some(0), Some(u64::MAX as i128))),
    ("unsignedInt", "unsignedLong", Between(Some(0), Some(u32::MAX as i128))),
    ("unsignedShort", "unsignedInt", Between(Some(0), Some(u16::MAX as i128))),
    ("unsignedByte", "unsignedShort", Between(Some(0), Some(255))),
    ("positiveInteger", "nonNegativeInteger", Between(Some(1), None)),
];

/// The number of a type by its name.
pub(crate) fn by_name(local: &str) -> Option<TypeId> {
    match local {
        "anyType" => Some(ANY_TYPE),
        "anySimpleType" => Some(ANY_SIMPLE),
        _ => {
            let at = TYPES.iter().position(|(name, ..)| *name == local)?;
            Some(TypeId(at as u32 + 2))
        }
    }
}

/// All of them, in the order of their numbers.
pub(crate) fn types() -> Vec<Type> {
    let any = Wildcard { namespaces: Namespaces::Any, process: Process::Lax };
    let content = Particle { min: 0, max: None, term: Term::Any(any.clone()) };
    let mut all = vec![
        Type::Complex(Arc::new(ComplexType {
            name: Some(QName::new(XSD, "anyType")),
            base: ANY_TYPE,
            derivation: Derivation::Restriction,
            is_abstract: false,
            blocked: Blocked::default(),
            is_final: Blocked::default(),
            is_mixed: true,
            content: Content::Model(Arc::new(content)),
            attributes: Vec::new(),
            any_attribute: Some(any),
        })),
        Type::Simple(Arc::new(SimpleType {
            name: Some(QName::new(XSD, "anySimpleType")),
            base: None,
            variety: Variety::Any,
            facets: Facets::default(),
            id: IdKind::None,
            is_final: Blocked::default(),
        })),
    ];
    for (name, base, how) in TYPES {
        let base = by_name(base).unwrap_or(ANY_SIMPLE);
        let (mut variety, mut facets, id) = match &all[base.0 as usize] {
            Type::Simple(ty) => (ty.variety.clone(), ty.facets.clone(), ty.id),
            Type::Complex(_) => (Variety::Any, Facets::default(), IdKind::None),
        };
        let mut base_id = base;
        match how {
            First(primitive, white) => {
                variety = Variety::Atomic(*primitive);
                facets.white = *white;
            }
            Spaced(white) => facets.white = *white,
            Shaped(shape) => facets.shape = *shape,
            Between(least, most) => {
                facets.shape = Shape::Whole;
                facets.fraction_digits = Some(0);
                let bound = |n: &i128| (Value::Decimal(n * ONE), true);
                facets.min = least.as_ref().map(bound).or(facets.min);
                facets.max = most.as_ref().map(bound).or(facets.max);
            }
            ListOf => {
                variety = Variety::List(base);
                facets = Facets {
                    white: Whitespace::Collapse,
                    min_length: Some(1),
                    ..Facets::default()
                };
                base_id = ANY_SIMPLE;
            }
        }
        let id = match *name {
            "ID" => IdKind::Id,
            "IDREF" => IdKind::Ref,
            _ => id,
        };
        all.push(Type::Simple(Arc::new(SimpleType {
            name: Some(QName::new(XSD, name)),
            base: Some(base_id),
            variety,
            facets,
            id,
            is_final: Blocked::default(),
        })));
    }
    all
}
