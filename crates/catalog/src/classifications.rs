//! Sensitivity classifications: what tools note of a column's data, without any effect on it.
//!
//! Each field is kept as a property of a class of its own (`properties.rs`), so that it goes along with what becomes of the
//! column: renamed, moved to a lower number, dropped, backed up.
//!
//! Promise: a column has one classification or none; who changes it holds the table.
//!
//! Source: SQL Server's documentation of ADD SENSITIVITY CLASSIFICATION and sys.sensitivity_classifications.

use crate::catalog::Catalog;
use crate::properties::{PropertyChange, PropertyClass, PropertyDef, PropertyTarget};
use crate::scope::DdlScope;
use crate::{CatalogError, Txn};
use std::collections::BTreeMap;
use types::{Len, SqlType, Value, Variant};

/// sysname.
const FIELD: SqlType = SqlType::NVarChar(Len::N(128));

/// What is said of a column. Texts of at most 128 characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classification {
    pub label: Option<Box<str>>,
    pub label_id: Option<Box<str>>,
    pub information_type: Option<Box<str>>,
    pub information_type_id: Option<Box<str>>,
    /// NONE, LOW, MEDIUM, HIGH or CRITICAL.
    pub rank: Option<Box<str>>,
}

impl Classification {
    fn fields(&mut self) -> [(&'static str, &mut Option<Box<str>>); 5] {
        [
            ("information_type", &mut self.information_type),
            ("information_type_id", &mut self.information_type_id),
            ("label", &mut self.label),
            ("label_id", &mut self.label_id),
            ("rank", &mut self.rank),
        ]
    }
}

impl Catalog {
    /// Those of all columns, by object and column.
    pub fn classifications(
        &self,
        scope: Option<&DdlScope>,
    ) -> BTreeMap<(i32, i32), Classification> {
        let mut found: BTreeMap<(i32, i32), Classification> = BTreeMap::new();
        for ((of, _), property) in self.properties_in(scope).iter() {
            if of.class != PropertyClass::Classification {
                continue;
            }
            let one = found.entry((of.major, of.minor)).or_default();
            for (name, field) in one.fields() {
                if *name == *property.name
                    && let Value::Variant(held) = &property.value
                {
                    *field = held.value().as_str().map(Box::from);
                }
            }
        }
        found
    }

    /// Says of a column that and nothing else; None: nothing at all. Its table is held ([`Catalog::hold_object`]). Suspends.
    pub fn classify(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        object: i32,
        column: i32,
        said: Option<Classification>,
    ) -> Result<(), CatalogError> {
        let target =
            PropertyTarget { class: PropertyClass::Classification, major: object, minor: column };
        let mut said = said.unwrap_or_default();
        for (name, field) in said.fields() {
            let value = match field {
                Some(text) => Variant::wrap(Value::str(text), FIELD)?,
                None => Value::Null,
            };
            let mut change = |change| {
                let property = PropertyDef { name: name.into(), value: value.clone(), part: None };
                self.change_property(txn, scope, target, property, change)
            };
            // The row says whether it is there: the memory may lag behind who has just committed.
            if field.is_none() {
                change(PropertyChange::Drop)?;
            } else if !change(PropertyChange::Update)? {
                change(PropertyChange::Add)?;
            }
        }
        Ok(())
    }
}
