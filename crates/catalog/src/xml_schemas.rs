//! Collections of XML schemas.
//!
//! A collection is a module whose text is its schema documents, one behind the other, as the crate `xml-schema` writes
//! them; names of collections are apart from those of objects and types. In memory it has a number of the process, which
//! is in the types of the columns, variables and parameters that it types; in the system tables such a column has the
//! collection's object id. An altered collection keeps its number, which stands for what is new when that is committed.
//!
//! Promise: a collection that a column names is there ([`Catalog::hold_xml_schemas`]).

use crate::def::{ColumnDef, ModuleKind, ObjectRef, ProcedureDef};
use crate::scope::{Change, DdlScope, Entry};
use crate::spec::{ModuleOptions, PutMode};
use crate::system::{Cells, corrupt};
use crate::{Catalog, CatalogError, Txn};
use std::collections::HashMap;
use std::sync::Arc;
use types::{SqlType, Value};
use xml_schema::{Registered, Schema};

const KIND: ModuleKind = ModuleKind::XmlSchemaCollection;

/// Modules are never without these; nothing here depends on them.
const OPTIONS: ModuleOptions = ModuleOptions { quoted_identifier: true, ansi_nulls: true };

/// Of a collection what it is: one that is altered keeps its number, a new one has `Err` of its id.
pub(crate) fn of_text(
    kind: ModuleKind,
    text: &str,
    old: &Result<&Arc<ProcedureDef>, i32>,
) -> Result<Option<Registered>, CatalogError> {
    if kind != KIND {
        return Ok(None);
    }
    let schema = Schema::compile(text).map_err(refused)?;
    let schema = Arc::new(schema);
    Ok(Some(match old {
        Err(object_id) => Registered::new(*object_id, schema),
        Ok(module) => match &module.xml_schema {
            Some(known) => known.altered(schema),
            None => return Err(corrupt("a collection of XML schemas without a number")),
        },
    }))
}

fn refused(e: xml_schema::SchemaError) -> CatalogError {
    CatalogError::refused(e.number(), e.text().to_owned())
}

/// Those of the system tables, by their ids.
pub(crate) fn stored(
    objects: &[Vec<Value>],
    modules: &HashMap<i32, Vec<Vec<Value>>>,
) -> Result<HashMap<i32, Registered>, CatalogError> {
    let mut all = HashMap::new();
    for row in objects {
        let mut cells = Cells::new(row.clone());
        let object_id = cells.int()? as i32;
        let _names = (cells.text()?, cells.text()?);
        if cells.int()? as u8 != KIND.number() {
            continue;
        }
        let mut text = String::new();
        for part in modules.get(&object_id).into_iter().flatten() {
            let mut cells = Cells::new(part.clone());
            let _key = (cells.int()?, cells.int()?);
            let _options = (cells.flag()?, cells.flag()?);
            text.push_str(&cells.text()?);
        }
        let schema = Schema::compile(&text)
            .map_err(|_| corrupt("a collection of XML schemas makes no sense"))?;
        all.insert(object_id, Registered::new(object_id, Arc::new(schema)));
    }
    Ok(all)
}

/// A column's type as it is stored: a collection by its id.
pub(crate) fn stored_parts(ty: SqlType) -> (u8, i32, u8, u8) {
    let (id, length, precision, scale) = ty.to_parts();
    match ty {
        SqlType::TypedXml { schema, .. } => {
            (id, xml_schema::owner_of(schema).unwrap_or(0), precision, scale)
        }
        _ => (id, length, precision, scale),
    }
}

/// A column's type as it is in memory: a collection by its number.
pub(crate) fn known(ty: SqlType, all: &HashMap<i32, Registered>) -> Result<SqlType, CatalogError> {
    let SqlType::TypedXml { schema, document } = ty else { return Ok(ty) };
    match all.get(&(schema as i32)) {
        Some(found) => Ok(SqlType::TypedXml { schema: found.number(), document }),
        None => Err(corrupt("a column of a collection of XML schemas that is not there")),
    }
}

impl Catalog {
    /// CREATE XML SCHEMA COLLECTION: 2714, what is wrong with the schemas. Suspends.
    pub fn create_xml_schemas(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        schema: Option<&str>,
        name: &str,
        text: &str,
    ) -> Result<(), CatalogError> {
        let made = Schema::compile(text).map_err(refused)?;
        self.put_module(txn, scope, KIND, PutMode::Create, schema, name, made.text(), OPTIONS)?;
        Ok(())
    }

    /// ALTER XML SCHEMA COLLECTION ... ADD: `None` where there is no such collection. Suspends.
    pub fn add_xml_schemas(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        schema: Option<&str>,
        name: &str,
        text: &str,
    ) -> Result<Option<()>, CatalogError> {
        let Some((old, _)) = self.lock_module(txn, scope, KIND, schema, name)? else {
            return Ok(None);
        };
        let Some(known) = &old.xml_schema else { return Ok(None) };
        let made = known.schema().with(text).map_err(refused)?;
        self.put_module(txn, scope, KIND, PutMode::Alter, schema, name, made.text(), OPTIONS)?;
        Ok(Some(()))
    }

    /// A table with a column of a collection, as a transaction sees it.
    pub fn user_of_xml_schemas(
        &self,
        scope: Option<&DdlScope>,
        collection: &ProcedureDef,
    ) -> Option<Arc<crate::TableDef>> {
        let number = collection.xml_schema.as_ref()?.number();
        let uses =
            |c: &ColumnDef| matches!(c.ty, SqlType::TypedXml { schema, .. } if schema == number);
        self.objects_in(scope).into_iter().find_map(|object| match object {
            ObjectRef::Table(table) if table.columns.iter().any(uses) => Some(table),
            _ => None,
        })
    }

    /// Takes the lock under which collections are dropped, of those that these columns name, and counts up their rows:
    /// who drops one waits, and then sees that it is used. Suspends.
    pub(crate) fn hold_xml_schemas(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        columns: &[ColumnDef],
    ) -> Result<(), CatalogError> {
        for column in columns {
            let SqlType::TypedXml { schema, .. } = column.ty else { continue };
            let found = xml_schema::owner_of(schema).and_then(|id| self.object_in(Some(scope), id));
            let module = match found {
                Some(ObjectRef::Procedure(module)) if module.kind == KIND => module,
                _ => {
                    let text = "The specified xml schema collection ID is not valid: 0";
                    return Err(CatalogError::refused(6327, text));
                }
            };
            let (module, modified) = self.lock_definition(txn, scope, &module)?;
            let (schema, name, modified) = (&module.schema, &module.name, modified + 1);
            self.put_object(txn, schema, name, KIND.number(), module.object_id, modified, false)?;
            let object = ObjectRef::Procedure(module);
            scope.changes.push(Change::Put(Entry { object, modified }));
        }
        Ok(())
    }
}
