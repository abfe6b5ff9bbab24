//! Table and query hints: which have an effect, which are only accepted.

use ir::{PREFER_PARALLEL, TableHints};
use syntax::ast;

use crate::error::BindError;

/// Hints of SQL Server that are accepted and change nothing here. ROWLOCK is what happens anyway, and there are no locks on pages.
pub const ACCEPTED_HINTS_WITHOUT_EFFECT: &[&str] = &[
    "FORCESCAN",
    "IGNORE_CONSTRAINTS",
    "IGNORE_TRIGGERS",
    "KEEPDEFAULTS",
    "KEEPIDENTITY",
    "NOEXPAND",
    "PAGLOCK",
    "ROWLOCK",
    "SPATIAL_WINDOW_MAX_CELLS",
];

/// Query hints (OPTION) accepted without effect, besides any `USE HINT`.
pub const ACCEPTED_QUERY_HINTS_WITHOUT_EFFECT: &[&str] = &[
    "CONCAT UNION",
    "DISABLE EXTERNALPUSHDOWN",
    "EXPAND VIEWS",
    "FAST",
    "HASH GROUP",
    "HASH UNION",
    "IGNORE_NONCLUSTERED_COLUMNSTORE_INDEX",
    "KEEP PLAN",
    "KEEPFIXED PLAN",
    "LABEL",
    "MAX_GRANT_PERCENT",
    "MERGE UNION",
    "MIN_GRANT_PERCENT",
    "NO_PERFORMANCE_SPOOL",
    "OPTIMIZE FOR",
    "ORDER GROUP",
    "PARAMETERIZATION FORCED",
    "PARAMETERIZATION SIMPLE",
    "QUERYTRACEON",
    "ROBUST PLAN",
    "TABLE HINT",
    "USE HINT",
    "USE PLAN",
];

/// What USE HINT takes: sys.dm_exec_valid_use_hints, and QUERY_OPTIMIZER_COMPATIBILITY_LEVEL_n.
const USE_HINTS: &[&str] = &[
    "ABORT_QUERY_EXECUTION",
    "ALLOW_BATCH_MODE",
    "ASSUME_FIXED_MAX_SELECTIVITY_FOR_REGEXP",
    "ASSUME_FIXED_MIN_SELECTIVITY_FOR_REGEXP",
    "ASSUME_FULL_INDEPENDENCE_FOR_FILTER_ESTIMATES",
    "ASSUME_JOIN_PREDICATE_DEPENDS_ON_FILTERS",
    "ASSUME_MIN_SELECTIVITY_FOR_FILTER_ESTIMATES",
    "ASSUME_PARTIAL_CORRELATION_FOR_FILTER_ESTIMATES",
    "DISABLE_BATCH_MODE_ADAPTIVE_JOINS",
    "DISABLE_BATCH_MODE_MEMORY_GRANT_FEEDBACK",
    "DISABLE_CE_FEEDBACK",
    "DISABLE_DEFERRED_COMPILATION_TV",
    "DISABLE_DOP_FEEDBACK",
    "DISABLE_INTERLEAVED_EXECUTION_TVF",
    "DISABLE_MEMORY_GRANT_FEEDBACK_PERSISTENCE",
    "DISABLE_OPTIMIZED_NESTED_LOOP",
    "DISABLE_OPTIMIZED_PLAN_FORCING",
    "DISABLE_OPTIMIZER_ROWGOAL",
    "DISABLE_OPTIONAL_PARAMETER_OPTIMIZATION",
    "DISABLE_PARAMETER_SENSITIVE_PLAN_OPTIMIZATION",
    "DISABLE_PARAMETER_SNIFFING",
    "DISABLE_ROW_MODE_MEMORY_GRANT_FEEDBACK",
    "DISABLE_TSQL_SCALAR_UDF_INLINING",
    "DISALLOW_BATCH_MODE",
    "ENABLE_HIST_AMENDMENT_FOR_ASC_KEYS",
    "ENABLE_PARALLEL_PLAN_PREFERENCE",
    "ENABLE_QUERY_OPTIMIZER_HOTFIXES",
    "FORCE_DEFAULT_CARDINALITY_ESTIMATION",
    "FORCE_LEGACY_CARDINALITY_ESTIMATION",
    "QUERY_PLAN_PROFILE",
];

/// 10715 for what USE HINT does not take.
fn check_use_hint(hint: &ast::QueryHint) -> Result<(), BindError> {
    for arg in &hint.args {
        let ast::Literal::String { value, .. } = arg else { continue };
        let name = value.to_ascii_uppercase();
        let level = name.strip_prefix("QUERY_OPTIMIZER_COMPATIBILITY_LEVEL_");
        let levels = ["100", "110", "120", "130", "140", "150", "160", "170"];
        if !USE_HINTS.contains(&&*name) && !level.is_some_and(|n| levels.contains(&n)) {
            let text = format!("'{value}' is not a valid hint.");
            return Err(BindError::new(10715, 15, hint.span.line, text));
        }
    }
    Ok(())
}

/// The hints of the table that a statement changes: 1065; 1069, 10724 and 10745 but for MERGE, 4102 of INSERT. `event`:
/// none of MERGE.
pub fn target_hints(
    hints: &[ast::TableHint],
    event: Option<catalog::Event>,
) -> Result<TableHints, BindError> {
    let out = table_hints(hints)?;
    let error = |number: i32, hint: &ast::TableHint, text: &str| {
        Err(BindError::new(number, 15, hint.span.line.max(1), text))
    };
    if let Some(first) = hints.first().filter(|_| out.nolock) {
        let text = "The NOLOCK and READUNCOMMITTED lock hints are not allowed for target tables of INSERT, UPDATE, DELETE or \
                    MERGE statements.";
        return error(1065, first, text);
    }
    if event.is_none() {
        return Ok(out);
    }
    for hint in hints {
        match hint.name.as_str() {
            "FORCESEEK" => {
                let text = "The FORCESEEK hint is not allowed for target tables of INSERT, UPDATE, or DELETE statements.";
                return error(10724, hint, text);
            }
            "FORCESCAN" => {
                let text = "The FORCESCAN hint is not allowed for target tables of INSERT, UPDATE, or DELETE statements.";
                return error(10745, hint, text);
            }
            "INDEX" => {
                return error(
                    1069,
                    hint,
                    "Index hints are only allowed in a FROM or OPTION clause.",
                );
            }
            "READPAST" if event == Some(catalog::Event::Insert) => {
                let text = "The READPAST lock hint is only allowed on target tables of UPDATE and DELETE and on tables \
                            specified in an explicit FROM clause.";
                return error(4102, hint, text);
            }
            _ => {}
        }
    }
    Ok(out)
}

/// Reads table hints; 321 for a word that is none.
pub fn table_hints(hints: &[ast::TableHint]) -> Result<TableHints, BindError> {
    hints_for(hints, None)
}

/// `schema.table`; the name alone of a temporary one.
fn shown(table: &catalog::TableDef) -> String {
    match table.is_private() {
        true => table.name.to_string(),
        false => format!("{}.{}", table.schema, table.name),
    }
}

/// The index that a hint names: 308, 307, 309, 315, 316.
fn index_id(hint: &ast::TableHint, table: &catalog::TableDef) -> Result<Option<u16>, BindError> {
    let Some(first) = hint.args.first() else { return Ok(None) };
    let line = hint.span.line;
    let error = |number: i32, text: String| Err(BindError::new(number, 16, line, text));
    let number = first.parse::<i32>().ok();
    let named = match number {
        Some(1) if table.is_heap() && table.clustered_index().is_none() => None,
        Some(n) if n <= 1 => Some(n),
        Some(n) => table.indexes.iter().find(|i| i.index_id == n).map(|i| i.index_id),
        None => {
            let key = table.is_clustered_key(first).then_some(1);
            key.or(table.index(first).map(|i| i.index_id))
        }
    };
    let of_id = |id: i32| table.indexes.iter().find(|index| index.index_id == id);
    let table = shown(table);
    // A spatial index has no entries, and a hint of one no effect.
    let is_off = |index: &catalog::IndexDef| match index.is_off() {
        Some(off) => off,
        None => index.disabled,
    };
    const OFF: &str =
        "(specified in the FROM clause) is disabled or resides in a filegroup which is not online.";
    if let Some(index) = named.and_then(of_id).filter(|index| is_off(index)) {
        return match number {
            Some(id) => error(316, format!("The index ID {id} on table \"{table}\" {OFF}")),
            None => error(315, format!("Index \"{}\" on table \"{table}\" {OFF}", index.name)),
        };
    }
    if let Some(index) = named.and_then(of_id).filter(|index| index.xml.is_some()) {
        let name = &index.name;
        let text = format!(
            "Cannot use index \"{name}\" on table \"{table}\" in a hint. XML indexes are not allowed in hints."
        );
        return error(309, text);
    }
    match named {
        Some(id) => Ok(u16::try_from(id).ok()),
        None if number.is_some() => error(
            307,
            format!(
                "Index ID {first} on table '{table}' (specified in the FROM clause) does not exist."
            ),
        ),
        None => error(
            308,
            format!(
                "Index '{first}' on table '{table}' (specified in the FROM clause) does not exist."
            ),
        ),
    }
}

/// FORCESEEK (index (columns)): the index, whose first columns they are. 10749, 365, 362.
fn sought(hint: &ast::TableHint, table: &catalog::TableDef) -> Result<Option<u16>, BindError> {
    let id = index_id(hint, table)?;
    let error = |number: i32, text: String| Err(BindError::new(number, 16, hint.span.line, text));
    if id == Some(0) {
        let text = "The FORCESEEK hint cannot be used with index 0. Correct the index provided to the FORCESEEK hint and \
                    resubmit the query.";
        return error(10749, text.to_owned());
    }
    let index = table.indexes.iter().find(|index| Some(index.index_id) == id.map(i32::from));
    let (key, name) = match (index, &table.primary_key) {
        (Some(index), _) => (&index.columns, &index.name),
        (None, Some(key)) => (&key.columns, &key.name),
        (None, None) => return Ok(id),
    };
    let why = "The query processor could not produce a query plan because the";
    if hint.columns.len() > key.len() {
        let text = format!(
            "{why} FORCESEEK hint on table or view '{}' specified more seek columns than the number of key columns in index \
             '{name}'.",
            table.name
        );
        return error(365, text);
    }
    for (column, (ordinal, _)) in hint.columns.iter().zip(key) {
        if !catalog::same_name(column, &table.columns[*ordinal].name) {
            let text = format!(
                "{why} name '{column}' in the FORCESEEK hint on table or view '{}' did not match the key column names of the \
                 index '{name}'.",
                table.name
            );
            return error(362, text);
        }
    }
    Ok(id)
}

/// Hints that say different things of one table: 1047, 650, 10746, 10747, 10750.
fn check_conflicts(hints: &[ast::TableHint], out: &TableHints) -> Result<(), BindError> {
    let line = hints.last().map_or(0, |hint| hint.span.line);
    let error = |number: i32, severity: u8, text: &str| {
        Err(BindError::new(number, severity, line, text.to_owned()))
    };
    let says = |name: &str| hints.iter().any(|hint| hint.name == name);
    let levels = [
        out.nolock,
        out.readcommitted,
        out.readcommittedlock,
        out.repeatableread,
        out.holdlock,
        out.snapshot,
    ];
    let (rows, pages) = (says("ROWLOCK"), says("PAGLOCK"));
    let grains = [rows, pages, out.tablock, out.tablockx];
    let several = |all: &[bool]| all.iter().filter(|on| **on).count() > 1;
    let locks = out.updlock || out.xlock || grains.contains(&true);
    if several(&levels) || several(&grains) || out.updlock && out.xlock || out.nolock && locks {
        return error(1047, 15, "Conflicting locking hints specified.");
    }
    if out.readpast && (out.nolock || out.holdlock) {
        let text = "You can only specify the READPAST lock in the READ COMMITTED or REPEATABLE READ isolation levels.";
        return error(650, 16, text);
    }
    let seeks = says("FORCESEEK");
    if seeks && says("FORCESCAN") {
        let text = "The FORCESCAN hint is specified simultaneously with the FORCESEEK hint. Remove one of the hints and \
                    resubmit the query.";
        return error(10746, 15, text);
    }
    let mut by_name = hints.iter().filter(|hint| hint.name == "INDEX");
    if by_name.clone().next().is_some() && hints.iter().any(|hint| !hint.columns.is_empty()) {
        let text = "The parameterized FORCESEEK hint cannot be simultaneously used with INDEX hints or a non-parameterized \
                    FORCESEEK hint on the same object. Use either INDEX hints and a non-parameterized FORCESEEK hint or use \
                    a parameterized FORCESEEK hint without INDEX hints for each table or view.";
        return error(10747, 15, text);
    }
    if says("FORCESCAN") && by_name.any(|hint| hint.args.len() > 1) {
        let text = "The FORCESCAN hint cannot be used with more than one INDEX hint. Remove the extra INDEX hints and \
                    resubmit the query.";
        return error(10750, 15, text);
    }
    Ok(())
}

/// Reads the hints of a table: 321 for a word that is none, 8171 for one that no table has; what [`index_id`], [`sought`]
/// and [`check_conflicts`] say.
pub fn hints_for(
    hints: &[ast::TableHint],
    table: Option<&catalog::TableDef>,
) -> Result<TableHints, BindError> {
    let mut out = TableHints::default();
    for hint in hints {
        match hint.name.as_str() {
            "NOLOCK" | "READUNCOMMITTED" => out.nolock = true,
            "TABLOCK" => out.tablock = true,
            "TABLOCKX" => out.tablockx = true,
            "UPDLOCK" => out.updlock = true,
            "XLOCK" => out.xlock = true,
            "HOLDLOCK" | "SERIALIZABLE" => out.holdlock = true,
            "REPEATABLEREAD" => out.repeatableread = true,
            "READCOMMITTED" => out.readcommitted = true,
            "SNAPSHOT" => out.snapshot = true,
            "NOWAIT" => out.nowait = true,
            "READPAST" => out.readpast = true,
            "READCOMMITTEDLOCK" => out.readcommittedlock = true,
            "INDEX" => {
                // Of a temporary table no index but its key is there.
                if let Some(table) = table.filter(|t| !t.is_private()) {
                    out.index = index_id(hint, table)?;
                }
            }
            "FORCESEEK" => {
                out.forceseek = true;
                let named = table.filter(|t| !t.is_private() && !hint.args.is_empty());
                if let Some(table) = named {
                    out.index = sought(hint, table)?;
                }
            }
            "IGNORE_CONSTRAINTS" | "IGNORE_TRIGGERS" if let Some(table) = table => {
                let (name, table) = (hint.name.to_ascii_lowercase(), shown(table));
                let text = format!("Hint '{name}' on object '{table}' is invalid.");
                return Err(BindError::new(8171, 16, hint.span.line, text));
            }
            name if ACCEPTED_HINTS_WITHOUT_EFFECT.contains(&name) => {}
            name => {
                return Err(BindError::new(
                    321,
                    15,
                    hint.span.line,
                    format!(
                        "\"{name}\" is not a recognized table hints option. If it is intended as a \
                         parameter to a table-valued function or to the CHANGETABLE function, \
                         ensure that your database compatibility mode is set to 90."
                    ),
                ));
            }
        }
    }
    check_conflicts(hints, &out)?;
    Ok(out)
}

/// A hint that is given twice says the same both times: 1042; LABEL is given once: 10768.
fn check_repeated(hints: &[ast::QueryHint]) -> Result<(), BindError> {
    const NUMBERS: &[&str] =
        &["FAST", "MAXDOP", "MAXRECURSION", "MAX_GRANT_PERCENT", "MIN_GRANT_PERCENT"];
    for (i, hint) in hints.iter().enumerate() {
        let Some(earlier) = hints[..i].iter().find(|earlier| earlier.name == hint.name) else {
            continue;
        };
        let error = |number, text: String| Err(BindError::new(number, 15, hint.span.line, text));
        let name = &hint.name;
        if name == "LABEL" {
            let text = "LABEL hint can only be used one time in the query. Modify the query and re-run it.";
            return error(10768, text.to_owned());
        }
        if NUMBERS.contains(&&**name) && earlier.args != hint.args {
            return error(1042, format!("Conflicting {name} optimizer hints specified."));
        }
    }
    Ok(())
}

/// Reads query hints into MAXDOP; unknown ones are refused (102 near the word).
pub fn maxdop(hints: &[ast::QueryHint]) -> Result<u32, BindError> {
    check_repeated(hints)?;
    let mut out = 0;
    for hint in hints {
        match (hint.name.as_str(), hint.args.first()) {
            ("MAXDOP", Some(ast::Literal::Int(n))) if *n >= 0 => {
                out = (*n).min(i32::from(i16::MAX)) as u32 | out & PREFER_PARALLEL;
            }
            ("USE HINT", _) => {
                check_use_hint(hint)?;
                let prefers = |arg: &ast::Literal| match arg {
                    ast::Literal::String { value, .. } => {
                        value.eq_ignore_ascii_case("ENABLE_PARALLEL_PLAN_PREFERENCE")
                    }
                    _ => false,
                };
                if hint.args.iter().any(prefers) {
                    out |= PREFER_PARALLEL;
                }
            }
            ("MAXRECURSION", Some(ast::Literal::Int(_))) => {}
            // See `for_planner`.
            (
                "FORCE ORDER"
                | "HASH JOIN"
                | "LOOP JOIN"
                | "MERGE JOIN"
                | "OPTIMIZE FOR UNKNOWN"
                | "RECOMPILE",
                _,
            ) => {}
            (name, _) if ACCEPTED_QUERY_HINTS_WITHOUT_EFFECT.contains(&name) => {}
            (name, _) => {
                return Err(BindError::new(
                    102,
                    15,
                    hint.span.line,
                    format!("Incorrect syntax near '{name}'."),
                ));
            }
        }
    }
    Ok(out)
}

/// Notes what the planner follows.
pub fn for_planner(hints: &[ast::QueryHint], out: &mut ir::QueryHints) {
    for hint in hints {
        match hint.name.as_str() {
            "FORCE ORDER" => out.force_order = true,
            "LOOP JOIN" => out.loop_join = true,
            "HASH JOIN" => out.hash_join = true,
            "MERGE JOIN" => out.merge_join = true,
            "RECOMPILE" => out.recompile = true,
            "OPTIMIZE FOR UNKNOWN" => out.unknown = true,
            _ => {}
        }
    }
}

/// The method at a join: it holds for the statement, and tables meet as written.
pub fn join_method(method: &str, out: &mut ir::QueryHints) {
    // OPTION (FORCE ORDER) says so itself.
    out.local_join |= !out.force_order;
    out.force_order = true;
    match method.to_ascii_uppercase().as_str() {
        "LOOP" => out.loop_join = true,
        "HASH" => out.hash_join = true,
        "MERGE" => out.merge_join = true,
        _ => {}
    }
}

/// MAXRECURSION, where it is said; 310 past 32767.
pub fn maxrecursion(hints: &[ast::QueryHint]) -> Result<Option<u32>, BindError> {
    let mut out = None;
    for hint in hints.iter().filter(|hint| hint.name == "MAXRECURSION") {
        if let Some(ast::Literal::Int(n)) = hint.args.first() {
            out = match u32::try_from(*n).ok().filter(|n| *n <= 32_767) {
                Some(n) => Some(n),
                None => {
                    return Err(BindError::new(
                        310,
                        15,
                        hint.span.line,
                        format!(
                            "The value {n} specified for the MAXRECURSION option exceeds the \
                             allowed maximum of 32767."
                        ),
                    ));
                }
            };
        }
    }
    Ok(out)
}
