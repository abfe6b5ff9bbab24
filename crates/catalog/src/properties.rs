//! Extended properties: names with values that scripts and tools hang on what the database has.
//!
//! Kept in system table 21, so they go along with restarts, backups and attached files. A property is of an id, not of a
//! name: it stays through a rename and a transfer, and goes with what it is of. In memory they are one sorted map, which
//! nobody but the views of properties reads.
//!
//! Promises: a property's row is locked until its transaction ends, and whoever changes one waits until the memory shows
//! what the row says, so that publications of one property come in the order of their commits.
//!
//! Source: SQL Server's documentation of sys.extended_properties.

use crate::catalog::{Catalog, PUBLISH_ROUNDS_MAX, behind};
use crate::def::*;
use crate::scope::{Change, DdlScope};
use crate::system::{Cells, text_or_null};
use crate::{CatalogError, Txn};
use std::collections::BTreeMap;
use std::sync::Arc;
use types::Value;

/// What a property is of: class, major_id and minor_id of sys.extended_properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PropertyTarget {
    pub class: PropertyClass,
    pub major: i32,
    pub minor: i32,
}

/// The classes that there can be properties of here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PropertyClass {
    Database = 0,
    /// An object or constraint, or with a minor id one of its columns.
    Object = 1,
    Parameter = 2,
    Schema = 3,
    Principal = 4,
    Type = 6,
    Index = 7,
    /// A column of a table type.
    TypeColumn = 8,
    XmlSchemaCollection = 10,
    /// A filegroup or a partition scheme.
    DataSpace = 20,
    PartitionFunction = 21,
    File = 22,
    /// A field of a column's classification: no property to anyone, and kept as one (`classifications.rs`).
    Classification = 255,
}

impl PropertyClass {
    /// `class_desc`.
    pub fn name(self) -> &'static str {
        match self {
            PropertyClass::Database => "DATABASE",
            PropertyClass::Object => "OBJECT_OR_COLUMN",
            PropertyClass::Parameter => "PARAMETER",
            PropertyClass::Schema => "SCHEMA",
            PropertyClass::Principal => "DATABASE_PRINCIPAL",
            PropertyClass::Type => "TYPE",
            PropertyClass::Index => "INDEX",
            PropertyClass::TypeColumn => "TYPE_COLUMN",
            PropertyClass::XmlSchemaCollection => "XML_SCHEMA_COLLECTION",
            PropertyClass::DataSpace => "DATASPACE",
            PropertyClass::PartitionFunction => "PARTITION_FUNCTION",
            PropertyClass::File => "DATABASE_FILE",
            PropertyClass::Classification => "SENSITIVITY_CLASSIFICATION",
        }
    }

    fn of_number(number: i64) -> Option<PropertyClass> {
        use PropertyClass::*;
        let all = [
            Database,
            Object,
            Parameter,
            Schema,
            Principal,
            Type,
            Index,
            TypeColumn,
            XmlSchemaCollection,
            DataSpace,
            PartitionFunction,
            File,
            Classification,
        ];
        all.into_iter().find(|class| *class as i64 == number)
    }
}

/// A property.
#[derive(Clone, Debug, PartialEq)]
pub struct PropertyDef {
    pub name: Box<str>,
    /// A sql_variant, or NULL.
    pub value: Value,
    /// The name of a parameter, or of a view's or table type's column: the catalog has these as text alone.
    pub part: Option<Box<str>>,
}

/// What is done to a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyChange {
    Add,
    Update,
    Drop,
}

/// Names differ as those of objects do; blanks at the end make no difference.
type PropertyKey = (PropertyTarget, String);

/// All properties of a database.
pub(crate) type Properties = BTreeMap<PropertyKey, Arc<PropertyDef>>;

/// One that is there from here on, or no more.
#[derive(Clone, Debug)]
pub(crate) struct ChangedProperty {
    key: PropertyKey,
    property: Option<Arc<PropertyDef>>,
}

impl ChangedProperty {
    pub(crate) fn apply(self, to: &mut Properties) {
        match self.property {
            Some(property) => to.insert(self.key, property),
            None => to.remove(&self.key),
        };
    }
}

fn key_of(target: PropertyTarget, name: &str) -> PropertyKey {
    (target, fold(name.trim_end()))
}

fn key_values(target: PropertyTarget, name: &str) -> [Value; 4] {
    let class = Value::TinyInt(target.class as u8);
    [class, Value::Int(target.major), Value::Int(target.minor), Value::str(name)]
}

impl Catalog {
    /// All properties, as a transaction sees them, by what they are of and by name.
    pub fn properties(&self, scope: Option<&DdlScope>) -> Vec<(PropertyTarget, Arc<PropertyDef>)> {
        let all = self.properties_in(scope);
        let are = all.iter().filter(|((of, _), _)| of.class != PropertyClass::Classification);
        are.map(|((target, _), property)| (*target, property.clone())).collect()
    }

    pub(crate) fn properties_in(&self, scope: Option<&DdlScope>) -> Arc<Properties> {
        let mut all = self.defs.read().properties.clone();
        for change in scope.iter().flat_map(|scope| &scope.changes) {
            if let Change::Property(change) = change {
                change.clone().apply(Arc::make_mut(&mut all));
            }
        }
        all
    }

    /// Adds, changes or drops a property. False: it is there already, or it is not there. Suspends.
    pub fn change_property(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        target: PropertyTarget,
        property: PropertyDef,
        change: PropertyChange,
    ) -> Result<bool, CatalogError> {
        let name = property.name.trim_end();
        let key = key_of(target, name);
        let stored = &self.tables.properties;
        let row = |property: &PropertyDef| {
            let name = &*property.name;
            let mut row = key_values(target, name.trim_end()).to_vec();
            // Written once where it can be: a large value leaves little room in a row.
            let own = Some(name).filter(|name| name.ends_with(' '));
            let part = text_or_null(property.part.as_deref());
            row.extend([text_or_null(own), property.value.clone(), part]);
            row
        };
        let after = match change {
            PropertyChange::Add => {
                if !stored.insert(txn, &row(&property))? {
                    return Ok(false);
                }
                self.wait_for_property(scope, &key, None)?;
                Some(Arc::new(property))
            }
            PropertyChange::Update | PropertyChange::Drop => {
                let Some(found) = stored.read_locked(txn, &key_values(target, name))? else {
                    return Ok(false);
                };
                let (_, old) = property_of(found)?;
                self.wait_for_property(scope, &key, Some(&old))?;
                if change == PropertyChange::Drop {
                    stored.delete(txn, &key_values(target, name))?;
                    None
                } else {
                    let new = PropertyDef { value: property.value, ..old };
                    stored.update(txn, &row(&new))?;
                    Some(Arc::new(new))
                }
            }
        };
        scope.changes.push(Change::Property(ChangedProperty { key, property: after }));
        Ok(true)
    }

    /// Another session may have committed a change of the property, and be about to publish it.
    fn wait_for_property(
        &self,
        scope: &DdlScope,
        key: &PropertyKey,
        stored: Option<&PropertyDef>,
    ) -> Result<(), CatalogError> {
        let own = |change: &Change| matches!(change, Change::Property(c) if c.key == *key);
        if scope.changes.iter().any(own) {
            return Ok(());
        }
        for _ in 0..PUBLISH_ROUNDS_MAX {
            if self.defs.read().properties.get(key).map(Arc::as_ref) == stored {
                return Ok(());
            }
            self.wait_for_publication();
        }
        Err(behind())
    }

    /// What properties are of is gone. Suspends.
    pub(crate) fn forget_properties(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        gone: impl Fn(PropertyTarget) -> bool,
    ) -> Result<(), CatalogError> {
        self.move_properties(txn, scope, |target| if gone(target) { None } else { Some(target) })
    }

    /// The same of an object that is gone with all that is part of it, by its id.
    pub(crate) fn forget_properties_of(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        object_id: i32,
    ) -> Result<(), CatalogError> {
        self.forget_properties(txn, scope, |target| target.is_part_of(object_id))
    }

    /// What properties are of has other numbers, or is gone. Suspends.
    pub(crate) fn move_properties(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        to: impl Fn(PropertyTarget) -> Option<PropertyTarget>,
    ) -> Result<(), CatalogError> {
        let all = self.properties_in(Some(scope));
        let moved = all.iter().filter(|((target, _), _)| to(*target) != Some(*target));
        // In order: what moves to a lower number finds it free.
        for ((target, _), property) in moved {
            let old = (**property).clone();
            self.change_property(txn, scope, *target, old.clone(), PropertyChange::Drop)?;
            if let Some(target) = to(*target) {
                self.change_property(txn, scope, target, old, PropertyChange::Add)?;
            }
        }
        Ok(())
    }

    /// A column is gone: those behind it, and their DEFAULTs, have lower numbers. Suspends.
    pub(crate) fn forget_properties_of_column(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        table: &TableDef,
        gone: usize,
    ) -> Result<(), CatalogError> {
        let (id, column) = (table.object_id, gone as i32 + 1);
        let (first, last) = (table.default_id(gone), table.default_id(usize::MAX));
        self.move_properties(txn, scope, |target| {
            let is_object = target.class == PropertyClass::Object;
            let is_column = is_object || target.class == PropertyClass::Classification;
            let (major, minor) = (target.major, target.minor);
            if is_column && major == id && minor >= column {
                return (minor > column).then_some(PropertyTarget { minor: minor - 1, ..target });
            }
            if is_object && (first..=last).contains(&major) {
                return (major > first).then_some(PropertyTarget { major: major - 1, ..target });
            }
            Some(target)
        })
    }

    /// Locks an object's row, so that it neither changes nor goes until the transaction ends. False: it is gone. Suspends.
    pub fn hold_object(
        &self,
        txn: &mut Txn,
        scope: &DdlScope,
        object: &ObjectRef,
    ) -> Result<bool, CatalogError> {
        let (schema, name) = match object {
            ObjectRef::Table(table) => (&table.schema, table.name.to_string()),
            ObjectRef::Procedure(module) => (&module.schema, module.kind.key(&module.name)),
        };
        for _ in 0..PUBLISH_ROUNDS_MAX {
            let Some(entry) = self.entry(Some(scope), Some(schema), &name) else {
                return Ok(false);
            };
            let id = entry.object.object_id();
            if id != object.object_id() {
                return Ok(false);
            }
            if self.stored_modified(txn, id)? == Some(entry.modified) {
                return Ok(true);
            }
            self.wait_for_publication();
        }
        Err(behind())
    }

    pub(crate) fn load_properties(&self, txn: &mut Txn) -> Result<Properties, CatalogError> {
        let rows = self.tables.properties.scan(txn, &[])?;
        let one = |row| {
            let (target, property) = property_of(row)?;
            Ok((key_of(target, &property.name), Arc::new(property)))
        };
        rows.into_iter().map(one).collect()
    }
}

impl PropertyTarget {
    /// What is no part of anything.
    pub fn whole(class: PropertyClass, major: i32) -> PropertyTarget {
        PropertyTarget { class, major, minor: 0 }
    }
    /// A table's or view's index by its id.
    pub fn index(object_id: i32, index_id: i32) -> PropertyTarget {
        PropertyTarget { class: PropertyClass::Index, major: object_id, minor: index_id }
    }
    /// Is it of that object, or of a column, parameter or index of it?
    pub(crate) fn is_part_of(self, object_id: i32) -> bool {
        use PropertyClass::*;
        let of_object = matches!(
            self.class,
            Object
                | Parameter
                | Type
                | Index
                | TypeColumn
                | XmlSchemaCollection
                | DataSpace
                | PartitionFunction
                | Classification
        );
        of_object && self.major == object_id
    }
}

impl TableDef {
    /// The id of its primary key.
    pub fn primary_key_id(&self) -> i32 {
        0x2000_0000 | self.place_among_objects()
    }

    /// The id of a column's DEFAULT.
    pub fn default_id(&self, ordinal: usize) -> i32 {
        0x4000_0000 | (self.place_among_objects() << 10) | (ordinal & 0x3ff) as i32
    }

    /// The id of a UNIQUE constraint or a CHECK of a table type, by its place among the type's.
    pub(crate) fn type_constraint_id(&self, check: bool, at: usize) -> i32 {
        let kind = if check { 0x2800_0000 } else { 0x2400_0000 };
        kind | (self.place_among_objects() << 5) | (at & 0x1f) as i32
    }

    /// Its number among the objects ever created, up to a million.
    fn place_among_objects(&self) -> i32 {
        self.object_id.wrapping_sub(crate::catalog::FIRST_OBJECT_ID) & 0xf_ffff
    }

    /// The ids of its constraints.
    pub(crate) fn constraint_ids(&self) -> Vec<i32> {
        let defaults = self.columns.iter().enumerate();
        let defaults = defaults.filter(|(_, c)| c.default.is_some()).map(|(i, _)| i);
        let key = self.primary_key.as_ref().map(|_| self.primary_key_id());
        let unique = self.indexes.iter().map(|i| i.constraint_id).filter(|id| *id != 0);
        let checks = self.checks.iter().map(|c| c.object_id);
        let foreign = self.foreign_keys.iter().map(|k| k.object_id);
        let others = key.into_iter().chain(unique).chain(checks).chain(foreign);
        others.chain(defaults.map(|i| self.default_id(i))).collect()
    }
}

/// From a row: class, major_id, minor_id, name | name with the blanks at its end, if there are any, value, part.
fn property_of(row: Vec<Value>) -> Result<(PropertyTarget, PropertyDef), CatalogError> {
    let value = row.get(5).cloned().unwrap_or_default();
    let mut cells = Cells::new(row);
    let class = PropertyClass::of_number(cells.int()?);
    let class = class.ok_or_else(|| crate::system::corrupt("a property of an unknown class"))?;
    let target = PropertyTarget { class, major: cells.int()? as i32, minor: cells.int()? as i32 };
    let name = cells.text()?;
    let name = cells.opt_text()?.unwrap_or(name);
    cells.skip()?;
    Ok((target, PropertyDef { name, value, part: cells.opt_text()? }))
}
