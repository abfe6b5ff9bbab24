//! Properties of objects, columns and indexes.
//!
//! Source of names and answers: SQL Server's documentation of OBJECTPROPERTY, OBJECTPROPERTYEX, COLUMNPROPERTY and
//! INDEXPROPERTY. A name that is none gives NULL.

use super::{Args, objects, shown};
use crate::context::Context;
use crate::object::{self, Object, What};
use binder::ir::FuncId;
use types::Value;

/// OBJECTPROPERTY and OBJECTPROPERTYEX.
pub fn of_object(context: &Context<'_>, args: Args<'_>, func: FuncId) -> Value {
    let found = args.number(0).and_then(|id| object::by_id(context, id));
    let (Some(object), Some(name)) = (found, args.text(1)) else { return Value::Null };
    let name = name.trim().to_ascii_lowercase();
    let extended = func == FuncId::ObjectPropertyEx;
    if extended && name == "basetype" {
        return Value::str(object.kind());
    }
    let number = if extended && name == "cardinality" {
        object.table().map(|t| context.rows_of(t))
    } else {
        object_number(context, &object, &name)
    };
    match number {
        None => Value::Null,
        Some(number) if extended => shown(number),
        Some(number) => Value::Int(number as i32),
    }
}

fn object_number(context: &Context<'_>, object: &Object, name: &str) -> Option<i64> {
    let kind = object.kind();
    let table = object.table();
    let is = |wanted: bool| Some(i64::from(wanted));
    // What is asked of tables is NULL for other objects.
    let of_table = |wanted: &dyn Fn(&catalog::TableDef) -> bool| {
        table.map(|t| i64::from(wanted(t))).or_else(|| (kind == "V").then_some(0))
    };
    let keyed = |t: &catalog::TableDef| t.primary_key.is_some();
    match name {
        "istable" => is(kind == "U"),
        "isusertable" => is(kind == "U"),
        "issystemtable" => is(false),
        "isview" => is(kind == "V"),
        "isprocedure" => is(kind == "P"),
        "isconstraint" => is(matches!(kind, "PK" | "D")),
        "isprimarykey" => is(kind == "PK"),
        "isdefault" | "isdefaultcnst" => is(kind == "D"),
        "isinlinefunction" | "istablefunction" => is(kind == "IF"),
        "ismsshipped" => is(object.is_system()),
        "isschemabound"
        | "isencrypted"
        | "isdeterministic"
        | "issystemverified"
        | "isprecise"
        | "execistriggerdisabled"
        | "isexecuted" => is(false),
        "ischeckcnst" | "isforeignkey" | "isuniquecnst" | "isreplproc" | "isrule"
        | "isscalarfunction" | "istrigger" | "isextendedproc" | "isqueue" | "issynonym"
        | "issystemprocedure" => is(false),
        "isansinullson" | "execisansinullson" | "isquotedidenton" | "execisquotedidenton" => {
            is(match &object.what {
                What::Procedure(p) if name.contains("quoted") => p.quoted_identifier,
                What::Procedure(p) => p.ansi_nulls,
                _ => true,
            })
        }
        "execisstartup" => (kind == "P").then_some(0),
        "ownerid" => Some(1),
        "schemaid" => Some(object.schema_id as i64),
        "tablehasprimarykey" => of_table(&keyed),
        "tablehasclustindex" => of_table(&|t| !t.is_heap()),
        "tablehasindex" => of_table(&|t| !t.is_heap()),
        "isindexed" => of_table(&|t| !t.is_heap()),
        "tablehasnonclustindex" => of_table(&|_| false),
        "tablehasidentity" => of_table(&|t| t.identity().is_some()),
        "tablehasdefaultcnst" => of_table(&|t| t.columns.iter().any(|c| c.default.is_some())),
        "tableisfake"
        | "tableispinned"
        | "tablehasactivefulltextindex"
        | "tablehascheckcnst"
        | "tablehascolumnset"
        | "tablehasdeletetrigger"
        | "tablehasforeignkey"
        | "tablehasforeignref"
        | "tablehasinserttrigger"
        | "tablehasrowguidcol"
        | "tablehastextimage"
        | "tablehastimestamp"
        | "tablehasuniquecnst"
        | "tablehasupdatetrigger"
        | "tablehasvardecimalstorageformat"
        | "tableismemoryoptimized"
        | "tablefulltextpopulatestatus"
        | "tablefulltextcatalogid"
        | "tabletemporaltype"
        | "tableislockedonbulkload"
        | "isindexable" => of_table(&|_| name == "isindexable"),
        "tablehasfulltextkeycolumn"
        | "tabledeletetriggercount"
        | "tableinserttriggercount"
        | "tableupdatetriggercount"
        | "tabletextinrowlimit" => of_table(&|_| false),
        "cnstisclustkey" => (kind == "PK").then(|| clustered(object)),
        "cnstisnonclustkey" => (kind == "PK").then(|| 1 - clustered(object)),
        "cnstiscolumn" => matches!(kind, "PK" | "D").then_some(i64::from(kind == "D")),
        "cnstisdeletecascade"
        | "cnstisdisabled"
        | "cnstisnotrepl"
        | "cnstisnottrusted"
        | "cnstisupdatecascade" => matches!(kind, "PK" | "D").then_some(0),
        "systemdataaccess" | "userdataaccess" => None,
        _ => {
            let _ = context;
            None
        }
    }
}

fn clustered(object: &Object) -> i64 {
    match &object.what {
        What::PrimaryKey(table) => table.primary_key.as_ref().map_or(0, |k| k.clustered as i64),
        _ => 0,
    }
}

/// COLUMNPROPERTY(object, column or parameter, property).
pub fn of_column(context: &Context<'_>, args: Args<'_>) -> Value {
    let number = || {
        let object = object::by_id(context, args.number(0)?)?;
        let (name, property) = (args.text(1)?, args.text(2)?.trim().to_ascii_lowercase());
        if let Some(parameter) = objects::parameter(&object, name) {
            return match property.as_str() {
                "allowsnull" => Some(1),
                "isoutparam" => Some(i32::from(parameter.output)),
                "precision" => Some(objects::precision(&parameter.ty)),
                "scale" => Some(parameter.ty.scale as i32),
                "columnid" => Some(parameter.id),
                _ => None,
            };
        }
        let column = objects::column(context, &object, name)?;
        let collated = column.ty.collation.is_some();
        Some(match property.as_str() {
            "allowsnull" => i32::from(column.nullable),
            "columnid" | "ordinal" => column.id,
            "isidentity" => i32::from(column.identity.is_some()),
            "precision" => objects::precision(&column.ty),
            "scale" => column.ty.scale as i32,
            "charmaxlen" => match column.ty.system {
                231 | 239 if column.ty.max_length > 0 => column.ty.max_length as i32 / 2,
                165 | 167 | 173 | 175 | 231 | 239 => column.ty.max_length as i32,
                _ => return None,
            },
            "usesansitrim" => {
                if !(collated || matches!(column.ty.system, 165 | 173)) {
                    return None;
                }
                1
            }
            "isindexable" => i32::from(column.ty.max_length > 0),
            "iscomputed"
            | "isidnotforrepl"
            | "isrowguidcol"
            | "iscursortype"
            | "isfulltextindexed"
            | "isdeterministic"
            | "isprecise"
            | "issystemverified"
            | "issparse"
            | "iscolumnset"
            | "ishidden"
            | "isxmlindexable"
            | "generatedalwaystype"
            | "systemdataaccess"
            | "userdataaccess"
            | "fulltexttypecolumn"
            | "statisticalsemantics" => 0,
            _ => return None,
        })
    };
    number().map_or(Value::Null, Value::Int)
}

/// INDEXPROPERTY(object, index, property).
pub fn of_index(context: &Context<'_>, args: Args<'_>) -> Value {
    let number = || {
        let object = object::by_id(context, args.number(0)?)?;
        let table = object.table()?;
        let key = table.primary_key.as_ref().filter(|_| !table.is_heap())?;
        if !catalog::same_name(&key.name, args.text(1)?) {
            return None;
        }
        Some(match args.text(2)?.trim().to_ascii_lowercase().as_str() {
            "indexid" | "isclustered" | "isunique" => 1,
            "indexdepth"
            | "indexfillfactor"
            | "isautostatistics"
            | "isdisabled"
            | "isfulltextkey"
            | "ishypothetical"
            | "ispadindex"
            | "ispagelockdisallowed"
            | "isrowlockdisallowed"
            | "isstatistics"
            | "iscolumnstore"
            | "isoptimizedforsequentialkey" => 0,
            _ => return None,
        })
    };
    number().map_or(Value::Null, Value::Int)
}
