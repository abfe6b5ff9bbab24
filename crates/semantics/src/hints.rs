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

/// The hints of the table that a statement changes: 1065.
pub fn target_hints(hints: &[ast::TableHint]) -> Result<TableHints, BindError> {
    let out = table_hints(hints)?;
    match hints.first() {
        Some(first) if out.nolock => Err(BindError::new(
            1065,
            15,
            first.span.line.max(1),
            "The NOLOCK and READUNCOMMITTED lock hints are not allowed for target tables of INSERT, UPDATE, DELETE or \
             MERGE statements.",
        )),
        _ => Ok(out),
    }
}

/// Reads table hints; 321 for a word that is none.
pub fn table_hints(hints: &[ast::TableHint]) -> Result<TableHints, BindError> {
    hints_for(hints, None)
}

/// The index that a hint names: 308, 307, 315.
fn index_id(hint: &ast::TableHint, table: &catalog::TableDef) -> Result<Option<u16>, BindError> {
    let Some(first) = hint.args.first() else { return Ok(None) };
    let line = hint.span.line;
    let named = match first.parse::<i32>() {
        Ok(n) if n <= 1 => Some(n),
        Ok(n) => table.indexes.iter().find(|i| i.index_id == n).map(|i| i.index_id),
        Err(_) => {
            let key = table.is_clustered_key(first).then_some(1);
            key.or(table.index(first).map(|i| i.index_id))
        }
    };
    let of_id = |id: i32| table.indexes.iter().find(|index| index.index_id == id);
    // A spatial index has no entries, and a hint of one no effect.
    let is_off = |index: &catalog::IndexDef| match index.is_off() {
        Some(off) => off,
        None => index.disabled,
    };
    if let Some(index) = named.and_then(of_id).filter(|index| is_off(index)) {
        let text = format!(
            "Index \"{}\" on table \"{}\" (specified in the FROM clause) is disabled or resides in a filegroup which is \
             not online.",
            index.name, table.name
        );
        return Err(BindError::new(315, 16, line, text));
    }
    match named {
        Some(id) => Ok(u16::try_from(id).ok()),
        None if first.parse::<i32>().is_ok() => Err(BindError::new(
            307,
            16,
            line,
            format!(
                "Index ID {first} on table '{}' (specified in the FROM clause) does not exist.",
                table.name
            ),
        )),
        None => Err(BindError::new(
            308,
            16,
            line,
            format!(
                "Index '{first}' on table '{}' (specified in the FROM clause) does not exist.",
                table.name
            ),
        )),
    }
}

/// Reads the hints of a table; 321 for a word that is none, 308 for an index that is none.
pub fn hints_for(
    hints: &[ast::TableHint],
    table: Option<&catalog::TableDef>,
) -> Result<TableHints, BindError> {
    let mut out = TableHints::default();
    let mut line = 0;
    for hint in hints {
        line = hint.span.line;
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
                if let Some(table) = table.filter(|t| !t.is_private()) {
                    out.index = index_id(hint, table)?;
                }
            }
            "FORCESEEK" => out.forceseek = true,
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
    let levels =
        [out.nolock, out.readcommitted || out.readcommittedlock, out.repeatableread, out.holdlock];
    let locks = out.updlock || out.xlock || out.tablock || out.tablockx || out.readpast;
    if levels.iter().filter(|on| **on).count() > 1 || (out.nolock && locks) {
        return Err(BindError::new(
            1047,
            15,
            line,
            "Conflicting locking hints specified.".to_string(),
        ));
    }
    Ok(out)
}

/// Reads query hints into MAXDOP; unknown ones are refused (102 near the word).
pub fn maxdop(hints: &[ast::QueryHint]) -> Result<u32, BindError> {
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
