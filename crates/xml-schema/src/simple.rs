//! Simple types: what their facets let pass, and the text that is kept of a value.

use crate::error::Result;
use crate::facets::{Facets, Shape, SimpleType, Variety, Whitespace};
use crate::ids::TypeId;
use crate::model::{Schema, Type};
use crate::value::{ONE, Primitive, Value, is_ncname};
use std::cmp::Ordering;
use xml::AtomType;

/// A value that a type took.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    pub value: Value,
    pub text: String,
    pub ty: AtomType,
}

/// Why a type does not take a text.
pub(crate) enum Refused {
    /// 6926: it is no value of it.
    NoValue,
    /// 6937: the form in which it would be kept is none.
    Canonical,
}

/// A text with its whitespace as a type wants it.
pub(crate) fn spaced(text: &str, white: Whitespace) -> String {
    match white {
        Whitespace::Preserve => text.to_owned(),
        Whitespace::Replace => text.replace(['\t', '\n', '\r'], " "),
        Whitespace::Collapse => {
            let words = text.split([' ', '\t', '\n', '\r']).filter(|word| !word.is_empty());
            words.collect::<Vec<_>>().join(" ")
        }
    }
}

impl Schema {
    /// What a type makes of a text.
    pub(crate) fn take(
        &self,
        id: TypeId,
        text: &str,
        names: &dyn Fn(&str) -> Option<String>,
    ) -> Result<std::result::Result<Taken, Refused>> {
        let Type::Simple(ty) = self.ty(id) else { return Ok(Err(Refused::NoValue)) };
        let text = spaced(text, ty.facets.white);
        let taken = match &ty.variety {
            Variety::Any => Taken {
                value: Value::Text(text.clone()),
                text: text.clone(),
                ty: AtomType::Untyped,
            },
            Variety::Atomic(primitive) => {
                if !shaped(&text, ty.facets.shape) {
                    return Ok(Err(Refused::NoValue));
                }
                match Value::read(*primitive, &text, names) {
                    Some((value, kept)) => {
                        Taken { value, text: kept, ty: atom_type(ty, *primitive) }
                    }
                    None => return Ok(Err(Refused::NoValue)),
                }
            }
            Variety::List(item) => {
                let (mut values, mut kept) = (Vec::new(), Vec::new());
                for word in text.split_ascii_whitespace() {
                    match self.take(*item, word, names)? {
                        Ok(taken) => {
                            values.push(taken.value);
                            kept.push(taken.text);
                        }
                        Err(refused) => return Ok(Err(refused)),
                    }
                }
                Taken { value: Value::List(values), text: kept.join(" "), ty: AtomType::Untyped }
            }
            Variety::Union(members) => {
                let mut found = None;
                for member in members {
                    if let Ok(taken) = self.take(*member, &text, names)? {
                        found = Some(taken);
                        break;
                    }
                }
                match found {
                    Some(taken) => taken,
                    None => return Ok(Err(Refused::NoValue)),
                }
            }
        };
        if !self.within(&ty.facets, &taken.value, &text)? {
            return Ok(Err(Refused::NoValue));
        }
        if taken.text != text && !matches(&ty.facets, &taken.text)? {
            return Ok(Err(Refused::Canonical));
        }
        Ok(Ok(taken))
    }

    /// Do the facets let a value pass that was read from this text?
    fn within(&self, facets: &Facets, value: &Value, text: &str) -> Result<bool> {
        let length = match value {
            Value::Text(text) => Some(text.encode_utf16().count()),
            Value::Bytes(bytes) => Some(bytes.len()),
            Value::List(items) => Some(items.len()),
            _ => None,
        };
        if let Some(length) = length {
            let fits = facets.length.is_none_or(|wanted| length == wanted as usize)
                && facets.min_length.is_none_or(|least| length >= least as usize)
                && facets.max_length.is_none_or(|most| length <= most as usize);
            if !fits {
                return Ok(false);
            }
        }
        if let Value::Decimal(number) = value {
            let (total, fraction) = digits(*number);
            let fits = facets.total_digits.is_none_or(|most| total <= most)
                && facets.fraction_digits.is_none_or(|most| fraction <= most);
            if !fits {
                return Ok(false);
            }
        }
        if let Some((least, allowed)) = &facets.min
            && !match value.compare(least) {
                Some(Ordering::Greater) => true,
                Some(Ordering::Equal) => *allowed,
                _ => false,
            }
        {
            return Ok(false);
        }
        if let Some((most, allowed)) = &facets.max
            && !match value.compare(most) {
                Some(Ordering::Less) => true,
                Some(Ordering::Equal) => *allowed,
                _ => false,
            }
        {
            return Ok(false);
        }
        if let Some(all) = &facets.enumeration
            && !all.iter().any(|one| one == value)
        {
            return Ok(false);
        }
        matches(facets, text)
    }
}

/// Does a text match the patterns of each step?
fn matches(facets: &Facets, text: &str) -> Result<bool> {
    for step in &facets.patterns {
        let mut found = false;
        for pattern in step.iter() {
            if pattern.matches(text)? {
                found = true;
                break;
            }
        }
        if !found {
            return Ok(false);
        }
    }
    Ok(true)
}

fn shaped(text: &str, shape: Shape) -> bool {
    let name = |text: &str, colon: bool| {
        let ok = |c: char| xml::is_name_char(c) || colon && c == ':';
        text.starts_with(|c| xml::is_name_start(c) || colon && c == ':') && text.chars().all(ok)
    };
    match shape {
        Shape::Any => true,
        Shape::Whole => text.bytes().all(|b| b.is_ascii_digit() || b == b'-' || b == b'+'),
        Shape::Token => !text.is_empty() && text.chars().all(|c| xml::is_name_char(c) || c == ':'),
        Shape::Name => name(text, true),
        Shape::NcName => is_ncname(text),
        Shape::Language => {
            let mut parts = text.split('-');
            let fits = |part: &str, digits: bool| {
                (1..=8).contains(&part.len())
                    && part.bytes().all(|b| b.is_ascii_alphabetic() || digits && b.is_ascii_digit())
            };
            parts.next().is_some_and(|part| fits(part, false)) && parts.all(|part| fits(part, true))
        }
    }
}

/// Digits of a number, and those behind the point.
pub(crate) fn digits(number: i128) -> (u32, u32) {
    let (mut part, mut fraction) = (number.unsigned_abs() % ONE as u128, 10);
    while fraction > 0 && part.is_multiple_of(10) {
        part /= 10;
        fraction -= 1;
    }
    let whole = number.unsigned_abs() / ONE as u128;
    let whole_digits = if whole == 0 { 0 } else { whole.to_string().len() as u32 };
    ((whole_digits + fraction).max(1), fraction)
}

pub(crate) fn atom_type(ty: &SimpleType, primitive: Primitive) -> AtomType {
    match primitive {
        Primitive::Boolean => AtomType::Bool,
        // Whole numbers of more than 18 digits are decimals to a query.
        Primitive::Decimal if ty.facets.shape == Shape::Whole => AtomType::Int,
        Primitive::Decimal => AtomType::Decimal,
        Primitive::Float | Primitive::Double => AtomType::Double,
        Primitive::DateTime | Primitive::Time | Primitive::Date => AtomType::Moment,
        Primitive::Hex => AtomType::Hex,
        Primitive::Base64 => AtomType::Base64,
        _ => AtomType::Text,
    }
}
