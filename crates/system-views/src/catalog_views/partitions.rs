//! Partition functions and schemes, data spaces, and the partitions of tables.
//!
//! Columns and types: SQL Server 2022's documentation of each view. The ids of functions and schemes are their objects'.
//! A table's partitions have rows in one tree: the first one's id is the tree's number, the others' follow from it. Their
//! pages are in `partition_space.rs`.

use super::indexes::{Index, all};
use crate::context::{Context, moment};
use crate::declare::{Declared, NULL, view};
use crate::paging::while_breathing;
use crate::types_table::column_type;
use catalog::{ModuleKind, PartitionFunctionDef, PartitionSchemeDef, Partitioned, ProcedureDef};
use engine::{PageId, TreeId};
use executor::SqlError;
use std::collections::HashMap;
use std::sync::Arc;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[
    &DATA_SPACES,
    &PARTITION_FUNCTIONS,
    &PARTITION_PARAMETERS,
    &PARTITION_VALUES,
    &PARTITION_SCHEMES,
    &DESTINATIONS,
    &PARTITIONS,
];

/// A filegroup or a partition scheme.
pub struct Space {
    name: String,
    id: i32,
    is_scheme: bool,
    is_default: bool,
}

fn spaces(context: &Context<'_>, args: &[Value]) -> Result<Vec<Space>, SqlError> {
    let groups = context.database.catalog.filegroups().into_iter().zip(1..);
    let group = |(group, id): (catalog::FilegroupDef, i32)| Space {
        name: group.name.to_string(),
        id,
        is_scheme: false,
        is_default: group.is_default,
    };
    let scheme = |scheme: Scheme| Space {
        name: scheme.module.name.to_string(),
        id: scheme.module.object_id,
        is_scheme: true,
        is_default: false,
    };
    Ok(groups.map(group).chain(schemes(context, args)?.into_iter().map(scheme)).collect())
}

view! {
    DATA_SPACES = "sys.data_spaces" of Space as s, rows spaces;
    name sysname = &s.name;
    data_space_id int = s.id;
    type char(2) = if s.is_scheme { "PS" } else { "FG" };
    type_desc nvarchar(60) null =
        if s.is_scheme { "PARTITION_SCHEME" } else { "ROWS_FILEGROUP" };
    is_default bit null = s.is_default;
    is_system bit null = false;
}

/// A partition function or scheme, and what it is.
pub struct Partitioner<D> {
    module: Arc<ProcedureDef>,
    def: D,
}

type Function = Partitioner<PartitionFunctionDef>;
type Scheme = Partitioner<PartitionSchemeDef>;

/// All of a kind.
fn partitioners<D: Clone>(
    context: &Context<'_>,
    kind: ModuleKind,
    def: fn(&ProcedureDef) -> Option<&D>,
) -> Vec<Partitioner<D>> {
    let all = context.database.catalog.modules_of_kind(context.scope(), kind);
    let one = |module: Arc<ProcedureDef>| {
        let def = def(&module)?.clone();
        Some(Partitioner { module, def })
    };
    all.into_iter().filter_map(one).collect()
}

fn functions(context: &Context<'_>, _: &[Value]) -> Result<Vec<Function>, SqlError> {
    let def = ProcedureDef::partition_function;
    Ok(partitioners(context, ModuleKind::PartitionFunction, def))
}

fn schemes(context: &Context<'_>, _: &[Value]) -> Result<Vec<Scheme>, SqlError> {
    let def = ProcedureDef::partition_scheme;
    Ok(partitioners(context, ModuleKind::PartitionScheme, def))
}

view! {
    PARTITION_FUNCTIONS = "sys.partition_functions" of Function as f, rows functions;
    name sysname = &f.module.name;
    function_id int = f.module.object_id;
    type char(2) = "R ";
    type_desc nvarchar(60) null = "RANGE";
    fanout int = f.def.fanout() as i32;
    boundary_value_on_right bit = f.def.right;
    is_system bit = false;
    create_date datetime = moment(f.module.created_unix_ns);
    modify_date datetime = moment(f.module.created_unix_ns);
}

view! {
    PARTITION_PARAMETERS = "sys.partition_parameters" of Function as f, rows functions;
    function_id int = f.module.object_id;
    parameter_id int = 1;
    system_type_id tinyint = column_type(f.def.ty).system;
    max_length smallint = column_type(f.def.ty).max_length;
    precision tinyint = column_type(f.def.ty).precision;
    scale tinyint = column_type(f.def.ty).scale;
    collation_name sysname null = f.def.ty.is_character().then(|| f.def.collation.name());
    user_type_id int = column_type(f.def.ty).user;
}

/// A boundary of a function, by its place from 1.
pub struct Boundary {
    function: i32,
    place: i32,
    value: Value,
}

fn boundaries(context: &Context<'_>, args: &[Value]) -> Result<Vec<Boundary>, SqlError> {
    let mut all = Vec::new();
    for Partitioner { module, def } in functions(context, args)? {
        let function = module.object_id;
        for (value, place) in def.boundaries.iter().zip(1..) {
            let value = types::Variant::wrap(value.clone(), def.ty).unwrap_or(NULL);
            all.push(Boundary { function, place, value });
        }
    }
    Ok(all)
}

view! {
    PARTITION_VALUES = "sys.partition_range_values" of Boundary as b, rows boundaries;
    function_id int = b.function;
    boundary_id int = b.place;
    parameter_id int = 1;
    value sql_variant null = b.value.clone();
}

view! {
    PARTITION_SCHEMES = "sys.partition_schemes" of Scheme as s, rows schemes;
    name sysname = &s.module.name;
    data_space_id int = s.module.object_id;
    type char(2) = "PS";
    type_desc nvarchar(60) null = "PARTITION_SCHEME";
    is_default bit = false;
    is_system bit null = false;
    function_id int = s.def.function;
}

/// The filegroup of a scheme's partition; the last may be of the next to come.
pub struct Destination {
    scheme: i32,
    place: i32,
    filegroup: i32,
}

fn destinations(context: &Context<'_>, args: &[Value]) -> Result<Vec<Destination>, SqlError> {
    let mut all = Vec::new();
    for Partitioner { module, def } in schemes(context, args)? {
        let groups = def.filegroups.iter().copied().chain(def.next_used);
        all.extend(groups.zip(1..).map(|(group, place)| Destination {
            scheme: module.object_id,
            place,
            filegroup: i32::from(group),
        }));
    }
    Ok(all)
}

view! {
    DESTINATIONS = "sys.destination_data_spaces" of Destination as d, rows destinations;
    partition_scheme_id int = d.scheme;
    destination_id int = d.place;
    data_space_id int = d.filegroup;
}

/// A partition of an index; the only one of what is not partitioned.
pub struct Partition {
    index: Index,
    /// From 1.
    number: i32,
    /// Where it is said to lie.
    filegroup: i32,
    /// Of a partitioned table, as they are counted now; NULL while the table is altered.
    rows: Option<i64>,
}

impl Partition {
    /// Trees have numbers below that.
    pub fn id(&self) -> i64 {
        self.id_in(TreeId(PageId(self.index.tree as u64)))
    }

    /// Of what the partition has in a tree beside.
    pub fn id_in(&self, tree: TreeId) -> i64 {
        tree.0.0 as i64 + (i64::from(self.number - 1) << 48)
    }

    pub fn index(&self) -> &Index {
        &self.index
    }

    pub fn number(&self) -> i32 {
        self.number
    }

    pub fn rows(&self) -> Option<i64> {
        self.rows
    }

    pub fn filegroup(&self) -> i32 {
        self.filegroup
    }
}

/// Rows of each tree, for what a partition has of it: those of a table share one.
pub struct Shares(HashMap<i64, i64>);

impl Shares {
    pub fn of_all(partitions: &[Partition]) -> Shares {
        let mut rows: HashMap<i64, i64> = HashMap::new();
        for partition in partitions {
            *rows.entry(partition.index.tree).or_default() += partition.rows.unwrap_or(0);
        }
        Shares(rows)
    }

    /// By its rows; 1 for what is not partitioned.
    pub fn of(&self, partition: &Partition) -> f64 {
        let of_all = self.0.get(&partition.index.tree).copied().unwrap_or(0).max(1);
        let own = partition.rows.unwrap_or(0);
        if partition.index.partitioned.is_none() { 1.0 } else { own as f64 / of_all as f64 }
    }
}

/// The partitions of every index.
pub fn partitions(context: &Context<'_>, _: &[Value]) -> Result<Vec<Partition>, SqlError> {
    partitions_of(context, all(context))
}

/// The partitions of these indexes.
pub fn partitions_of(
    context: &Context<'_>,
    indexes: Vec<Index>,
) -> Result<Vec<Partition>, SqlError> {
    let mut counted = Counts::default();
    let mut all_partitions = Vec::new();
    for mut index in indexes {
        let of_table = index.rows;
        if let Some(tree) = index.filtered_tree() {
            let engine = &context.database.engine;
            let counted = while_breathing(|stop| engine.rows_of(&engine.tree(tree), stop))?;
            index.rows = counted.map_or(0, |rows| rows as i64);
        }
        let found = index.partitioned.and_then(|p| counted.of(context, &index, p));
        let Some((filegroups, counts)) = found else {
            let (filegroup, rows) = (index.data_space_id, Some(index.rows));
            all_partitions.push(Partition { index, number: 1, filegroup, rows });
            continue;
        };
        let disabled = index.def.as_ref().is_some_and(|d| d.disabled);
        for (i, filegroup) in filegroups.iter().enumerate() {
            let rows = match disabled {
                true => Some(0),
                // As many of a partition's as of the table's have an entry.
                false => counts.as_ref().map(|counts| match index.rows == of_table {
                    true => counts[i],
                    false => counts[i] * index.rows / of_table.max(1),
                }),
            };
            let (index, filegroup) = (index.clone(), i32::from(*filegroup));
            all_partitions.push(Partition { index, number: i as i32 + 1, filegroup, rows });
        }
    }
    Ok(all_partitions)
}

/// Filegroups of partitions, and rows in them.
type Found = (Vec<u16>, Option<Vec<i64>>);

/// What has been counted: a table's indexes mostly share it.
#[derive(Default)]
struct Counts(HashMap<(i32, i32, usize), Option<Vec<i64>>>);

impl Counts {
    fn of(&mut self, context: &Context<'_>, index: &Index, divided: Partitioned) -> Option<Found> {
        let catalog = &context.database.catalog;
        let scheme = catalog.object_in(context.scope(), divided.scheme)?;
        let catalog::ObjectRef::Procedure(scheme) = scheme else { return None };
        let module = catalog.function_of_scheme(context.scope(), divided.scheme)?;
        let function = module.partition_function()?;
        let table = &index.table;
        let key = (table.object_id, divided.scheme, divided.column);
        let counts = self.0.entry(key).or_insert_with(|| {
            let db = &context.database.engine;
            executor::count_partitions(db, table, divided.column, function)
        });
        Some((scheme.partition_scheme()?.filegroups.clone(), counts.clone()))
    }
}

view! {
    PARTITIONS = "sys.partitions" of Partition as p, rows partitions;
    partition_id bigint = p.id();
    object_id int = p.index.table.object_id;
    index_id int = p.index.id;
    partition_number int = p.number;
    hobt_id bigint = p.id();
    rows bigint null = p.rows;
    filestream_filegroup_id smallint = 0i16;
    data_compression tinyint = p.index.compression().0;
    data_compression_desc nvarchar(60) null = p.index.compression().1;
    xml_compression bit null = false;
    xml_compression_desc varchar(3) null = "OFF";
}
