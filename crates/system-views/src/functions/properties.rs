//! Properties of objects, columns and indexes.
//!
//! Source of names and answers: SQL Server's documentation of OBJECTPROPERTY, OBJECTPROPERTYEX, COLUMNPROPERTY and
//! INDEXPROPERTY and INDEXKEY_PROPERTY. A name that is none gives NULL.

use super::{Args, objects, shown};
use crate::context::Context;
use crate::object::{self, Object, What};
use catalog::{Event, TableDef};
use ir::FuncId;
use types::Value;

/// OBJECTPROPERTY and OBJECTPROPERTYEX.
pub fn of_object(context: &Context<'_>, args: Args<'_>, func: FuncId) -> Value {
    let found = args.number(0).and_then(|id| object::by_id(context, id));
    let (Some(object), Some(name)) = (found, args.text(1)) else { return Value::Null };
    let name = name.trim().to_ascii_lowercase();
    let extended = func == FuncId::ObjectPropertyEx;
    if extended && name == "basetype" {
        // Of a synonym, what it stands for.
        let base = match &object.what {
            What::Procedure(p) if p.kind == catalog::ModuleKind::Synonym => {
                objects::find(context, &p.text).map(|(_, base)| base)
            }
            _ => None,
        };
        return Value::str(base.as_ref().unwrap_or(&object).kind());
    }
    let number = if extended && name == "cardinality" {
        object.rows().map(|t| context.rows_of(t))
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
        object.rows().map(|t| i64::from(wanted(t))).or_else(|| (kind == "V").then_some(0))
    };
    let keyed = |t: &catalog::TableDef| t.primary_key.is_some();
    match name {
        "istable" => is(kind == "U"),
        "isusertable" => is(kind == "U"),
        "issystemtable" => is(kind == "S"),
        "isview" => is(kind == "V"),
        "isprocedure" => is(kind == "P"),
        "isconstraint" => is(object.is_constraint()),
        "ischeckcnst" => is(kind == "C"),
        "isforeignkey" => is(kind == "F"),
        "isuniquecnst" => is(kind == "UQ"),
        "isprimarykey" => is(kind == "PK"),
        "isdefault" => is(kind == "D" && !object.is_constraint()),
        "isdefaultcnst" => is(kind == "D" && object.is_constraint()),
        "isrule" => is(kind == "R"),
        "isinlinefunction" => is(kind == "IF"),
        "istablefunction" => is(matches!(kind, "IF" | "TF")),
        "isscalarfunction" => is(kind == "FN"),
        "istrigger" => is(kind == "TR"),
        "execistriggerdisabled" => is(object.trigger().is_some_and(|t| t.is_disabled())),
        "execisaftertrigger" => object.trigger().map(|t| i64::from(!t.is_instead_of())),
        "execisinsteadoftrigger" => object.trigger().map(|t| i64::from(t.is_instead_of())),
        "execisinserttrigger" => object.trigger().map(|t| i64::from(t.is_on(Event::Insert))),
        "execisupdatetrigger" => object.trigger().map(|t| i64::from(t.is_on(Event::Update))),
        "execisdeletetrigger" => object.trigger().map(|t| i64::from(t.is_on(Event::Delete))),
        "execisfirstinserttrigger" => ordered(object, Event::Insert, -1),
        "execislastinserttrigger" => ordered(object, Event::Insert, 1),
        "execisfirstupdatetrigger" => ordered(object, Event::Update, -1),
        "execislastupdatetrigger" => ordered(object, Event::Update, 1),
        "execisfirstdeletetrigger" => ordered(object, Event::Delete, -1),
        "execislastdeletetrigger" => ordered(object, Event::Delete, 1),
        "tablehasinserttrigger" => of_table(&|t| fires(context, t, Event::Insert)),
        "tablehasupdatetrigger" => of_table(&|t| fires(context, t, Event::Update)),
        "tablehasdeletetrigger" => of_table(&|t| fires(context, t, Event::Delete)),
        "hasdeletetrigger" => of_table(&|t| fires(context, t, Event::Delete)),
        "hasinserttrigger" => of_table(&|t| fires(context, t, Event::Insert)),
        "hasupdatetrigger" => of_table(&|t| fires(context, t, Event::Update)),
        "hasaftertrigger" => of_table(&|t| triggers(context, t).any(|t| !t.is_instead_of())),
        "hasinsteadoftrigger" => of_table(&|t| triggers(context, t).any(|t| t.is_instead_of())),
        "tabledeletetriggercount" => table.map(|t| count(context, t, Event::Delete)),
        "tableinserttriggercount" => table.map(|t| count(context, t, Event::Insert)),
        "tableupdatetriggercount" => table.map(|t| count(context, t, Event::Update)),
        "ismsshipped" => is(object.is_system()),
        "isschemabound" => is(object.has_option("SCHEMABINDING")),
        "execiswithnativecompilation" => matches!(kind, "P" | "FN" | "IF" | "TR")
            .then(|| i64::from(object.has_option(semantics::native::NATIVE))),
        "isencrypted" => is(object.has_option("ENCRYPTION")),
        "isdeterministic" => is(matches!(&object.what, What::Procedure(p) if
            binder::is_deterministic_function(p.object_id, &crate::shape::DatabaseNames { context }))),
        "isprecise" => is(is_bound(object) && !object.text().is_some_and(is_inexact)),
        "issystemverified" => is(is_bound(object)),
        "isexecuted" => is(false),
        "isextendedproc" => is(kind == "X"),
        "isreplproc" | "isqueue" | "issynonym" | "issystemprocedure" => is(false),
        "isansinullson" | "execisansinullson" | "isquotedidenton" | "execisquotedidenton" => {
            is(match &object.what {
                What::Procedure(p) if name.contains("quoted") => p.quoted_identifier,
                What::Procedure(p) => p.ansi_nulls,
                _ => true,
            })
        }
        "execisstartup" => (kind == "P").then_some(0),
        "ownerid" => {
            let id = if object.parent > 0 { object.parent } else { object.id };
            Some(i64::from(context.owner(id, object.schema_id)))
        }
        "schemaid" => Some(object.schema_id as i64),
        "tablehasprimarykey" => of_table(&keyed),
        "tablehasclustindex" => of_table(&|t| t.has_clustered()),
        "tablehasindex" => of_table(&|t| !t.is_heap() || !t.indexes.is_empty()),
        "isindexed" => of_table(&|t| !t.is_heap() || !t.indexes.is_empty()),
        "tablehasnonclustindex" => of_table(&|t| t.indexes.iter().any(|i| !i.clustered)),
        "tablehascheckcnst" => of_table(&|t| !t.checks.is_empty()),
        "tablehasforeignkey" => of_table(&|t| !t.foreign_keys.is_empty()),
        "tablehasforeignref" => table
            .map(|t| i64::from(!object::references_to(context, t).is_empty()))
            .or_else(|| (kind == "V").then_some(0)),
        "tablehastimestamp" => of_table(&|t| t.columns.iter().any(|c| c.rowversion)),
        "tablehasuniquecnst" => {
            of_table(&|t| t.indexes.iter().any(|i| i.kind == catalog::IndexKind::Unique))
        }
        "tablehasrowguidcol" => of_table(&|t| t.columns.iter().any(|c| c.marks.rowguidcol)),
        "tabletemporaltype" => table.map(|t| match t.temporal {
            catalog::Temporal::No => 0,
            catalog::Temporal::History { .. } => 1,
            catalog::Temporal::Versioned { .. } => 2,
        }),
        "tablehasidentity" => of_table(&|t| t.identity().is_some()),
        "tablehasdefaultcnst" => of_table(&|t| t.columns.iter().any(|c| c.default.is_some())),
        "tableismemoryoptimized" => of_table(&|t| t.is_memory()),
        "tablehastextimage" => of_table(&|t| t.columns.iter().any(|c| c.is_long())),
        "tabledeletetrigger" => table.map(|t| first_of(context, t, Event::Delete)),
        "tableinserttrigger" => table.map(|t| first_of(context, t, Event::Insert)),
        "tableupdatetrigger" => table.map(|t| first_of(context, t, Event::Update)),
        "tablehasactivefulltextindex" => {
            of_table(&|t| fulltext(context, t).is_some_and(|index| index.is_enabled))
        }
        "tablefulltextcatalogid" => {
            table.map(|t| fulltext(context, t).map_or(0, |index| i64::from(index.catalog)))
        }
        "tablefulltextkeycolumn" => table.map(|t| {
            let key = fulltext(context, t).and_then(|index| t.column_of_index(index.key));
            key.map_or(0, |ordinal| ordinal as i64 + 1)
        }),
        "tableisfake"
        | "tableispinned"
        | "tablehascolumnset"
        | "tablehasvardecimalstorageformat"
        | "tablefulltextpopulatestatus"
        | "tableislockedonbulkload" => of_table(&|_| false),
        "isindexable" => match &object.what {
            What::Procedure(view) if kind == "V" => {
                is(view.rows.is_some() || crate::shape::is_indexable(context, view))
            }
            _ => of_table(&|_| true),
        },
        "tablehasfulltextkeycolumn" | "tabletextinrowlimit" => of_table(&|_| false),
        "cnstisclustkey" => matches!(kind, "PK" | "UQ").then(|| clustered(object)),
        "cnstisnonclustkey" => matches!(kind, "PK" | "UQ").then(|| 1 - clustered(object)),
        "cnstiscolumn" => match &object.what {
            What::Check(table, i) => Some(i64::from(table.checks[*i].column.is_some())),
            _ => object.is_constraint().then_some(i64::from(kind == "D")),
        },
        "cnstisdeletecascade"
        | "cnstisdisabled"
        | "cnstisnotrepl"
        | "cnstisnottrusted"
        | "cnstisupdatecascade" => object.is_constraint().then(|| constraint_flag(object, name)),
        "systemdataaccess" => is_function(object).then(|| i64::from(!is_bound(object))),
        "userdataaccess" => is_function(object).then(|| i64::from(reads_rows(object))),
        _ => {
            let _ = context;
            None
        }
    }
}

fn is_function(object: &Object) -> bool {
    matches!(object.kind(), "FN" | "IF" | "TF")
}

/// A function or view WITH SCHEMABINDING: of others nothing is verified.
fn is_bound(object: &Object) -> bool {
    (is_function(object) || object.kind() == "V") && object.has_option("SCHEMABINDING")
}

/// Does the text name one of the types that are not precise?
fn is_inexact(text: &str) -> bool {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.into_iter().any(|word| ["float", "real"].iter().any(|ty| word.eq_ignore_ascii_case(ty)))
}

/// Does a function read tables, as far as that is verified?
fn reads_rows(object: &Object) -> bool {
    let What::Procedure(module) = &object.what else { return true };
    let options = syntax::LexOptions { quoted_identifier: module.quoted_identifier };
    let reads = |m: &syntax::Mention| m.kind == syntax::MentionKind::Source;
    !is_bound(object) || syntax::mentions(&module.text, &options).iter().any(reads)
}

/// Is it the trigger that fires first (-1) or last (1) for such statements?
fn ordered(object: &Object, event: Event, order: i8) -> Option<i64> {
    let trigger = object.trigger()?;
    Some(i64::from(trigger.is_on(event) && trigger.order(event).signum() == order))
}

fn triggers(
    context: &Context<'_>,
    table: &catalog::TableDef,
) -> impl Iterator<Item = catalog::TriggerDef> + use<> {
    let all = context.database.catalog.triggers_of(context.scope(), table.object_id);
    all.into_iter().filter_map(|t| t.trigger)
}

/// Has the table a trigger for such statements?
fn fires(context: &Context<'_>, table: &catalog::TableDef, event: Event) -> bool {
    triggers(context, table).any(|t| t.is_on(event))
}

/// The id of the first such trigger, 0 without one.
fn first_of(context: &Context<'_>, table: &catalog::TableDef, event: Event) -> i64 {
    let all = context.database.catalog.triggers_of(context.scope(), table.object_id);
    let mut of = all.iter().filter(|t| t.trigger.is_some_and(|own| own.is_on(event)));
    of.next().map_or(0, |t| i64::from(t.object_id))
}

fn count(context: &Context<'_>, table: &catalog::TableDef, event: Event) -> i64 {
    triggers(context, table).filter(|t| t.is_on(event)).count() as i64
}

fn clustered(object: &Object) -> i64 {
    match &object.what {
        What::PrimaryKey(table) => table.primary_key.as_ref().map_or(0, |k| k.clustered as i64),
        What::Unique(table, i) => i64::from(table.indexes[*i].clustered),
        _ => 0,
    }
}

fn constraint_flag(object: &Object, name: &str) -> i64 {
    use catalog::RefAction::NoAction;
    let on = match (&object.what, name) {
        (What::Check(table, i), "cnstisdisabled") => table.checks[*i].disabled,
        (What::Check(table, i), "cnstisnottrusted") => !table.checks[*i].trusted,
        (What::ForeignKey(table, i, _), _) => {
            let key = &table.foreign_keys[*i];
            match name {
                "cnstisdisabled" => key.disabled,
                "cnstisnottrusted" => !key.trusted,
                "cnstisdeletecascade" => key.on_delete != NoAction,
                "cnstisupdatecascade" => key.on_update != NoAction,
                _ => false,
            }
        }
        _ => false,
    };
    i64::from(on)
}

/// COLUMNPROPERTY(object, column or parameter, property).
pub fn of_column(context: &Context<'_>, args: Args<'_>) -> Value {
    let number = || {
        let object = object::by_id(context, args.number(0)?)?;
        let (name, property) = (args.text(1)?, args.text(2)?.trim().to_ascii_lowercase());
        if let Some(parameter) = objects::parameter(context, &object, name) {
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
            // Of computed columns alone; float and real are what is not precise.
            "isdeterministic" | "isprecise" | "issystemverified" if column.computed.is_none() => {
                return None;
            }
            "isdeterministic" => i32::from(!column.volatile),
            "isprecise" => i32::from(!matches!(column.ty.system, 59 | 62)),
            "issystemverified" => 1,
            "isindexable" => i32::from(column.ty.max_length > 0 && !column.volatile),
            "iscomputed" => i32::from(column.computed.is_some()),
            "ispersisted" => i32::from(column.computed.as_ref().is_some_and(|(_, p)| *p)),
            "isidnotforrepl" => i32::from(column.marks.not_for_replication),
            "isrowguidcol" => i32::from(column.marks.rowguidcol),
            "issparse" => i32::from(column.marks.sparse),
            "iscolumnset" => i32::from(column.marks.column_set),
            "ishidden" => i32::from(column.marks.hidden),
            "isfulltextindexed" => {
                let index = context.database.catalog.fulltext_of(context.scope(), object.id);
                let is_this = |c: &catalog::FulltextColumn| catalog::same_name(&c.name, name);
                i32::from(index.is_some_and(|(index, _)| index.columns.iter().any(is_this)))
            }
            "ismasked" => i32::from(column.mask.is_some()),
            "generatedalwaystype" => i32::from(column.generated_always().0),
            "iscursortype"
            | "isxmlindexable"
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
        let table = object.rows()?;
        let name = args.text(1)?;
        let index = crate::catalog_views::indexes::of_table(context, table);
        let same = |n: &String| catalog::same_name(n, name);
        let Some(index) = index.into_iter().find(|i| i.name.as_ref().is_some_and(same)) else {
            return of_statistic(table, name, args.text(2)?);
        };
        let def = index.def.as_ref();
        Some(match args.text(2)?.trim().to_ascii_lowercase().as_str() {
            "indexid" => index.id,
            "isclustered" => i32::from(index.id == 1),
            "isunique" => i32::from(index.unique),
            "indexfillfactor" => i32::from(index.fill_factor()),
            "ispadindex" => i32::from(index.options().padded),
            "isoptimizedforsequentialkey" => i32::from(index.options().sequential),
            "isdisabled" => def.map_or(0, |d| i32::from(d.disabled)),
            "iscolumnstore" => i32::from(index.columnstore().is_some()),
            "ispagelockdisallowed" => {
                i32::from(index.columnstore().is_some() || index.options().no_page_locks)
            }
            "isrowlockdisallowed" => {
                i32::from(index.columnstore().is_some() || index.options().no_row_locks)
            }
            "indexdepth" | "isautostatistics" | "isfulltextkey" | "ishypothetical"
            | "isstatistics" => 0,
            _ => return None,
        })
    };
    number().map_or(Value::Null, Value::Int)
}

/// INDEXPROPERTY of statistics that are no index's.
fn of_statistic(table: &TableDef, name: &str, property: &str) -> Option<i32> {
    let all = table.statistics.all();
    let found = all.iter().find(|s| s.is_of(table) && catalog::same_name(&s.name, name))?;
    Some(match property.trim().to_ascii_lowercase().as_str() {
        "indexid" => found.id,
        "isstatistics" => 1,
        "isautostatistics" => i32::from(found.auto_created),
        "isclustered" | "isunique" | "isfulltextkey" | "ishypothetical" | "ispadindex" => 0,
        _ => return None,
    })
}

/// INDEXKEY_PROPERTY.
pub fn of_index_key(context: &Context<'_>, args: Args<'_>) -> Value {
    let number = || {
        let object = object::by_id(context, args.number(0)?)?;
        let id = args.number(1)?;
        let index = crate::catalog_views::indexes::of_table(context, object.rows()?);
        let index = index.into_iter().find(|i| i64::from(i.id) == id)?;
        let place = usize::try_from(args.number(2)? - 1).ok()?;
        let (ordinal, descending) = *index.keys.get(place)?;
        Some(match args.text(3)?.trim().to_ascii_lowercase().as_str() {
            "columnid" => ordinal as i32 + 1,
            "isdescending" => i32::from(descending),
            _ => return None,
        })
    };
    number().map_or(Value::Null, Value::Int)
}

/// The full-text index of a table.
fn fulltext(context: &Context<'_>, table: &catalog::TableDef) -> Option<catalog::FulltextIndex> {
    let found = context.database.catalog.fulltext_of(context.scope(), table.object_id);
    found.map(|(index, _)| index)
}
