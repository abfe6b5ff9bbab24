//! DBCC CHECKDB, CHECKTABLE, CHECKALLOC and CHECKCATALOG: the engine's checks, tied to tables and rows.
//!
//! Tables are checked one after the other, each under a shared lock (as WITH TABLOCK in SQL Server): readers go on,
//! writers of that table wait. Everything that is found is told; 8989 sums up.

mod indexes;
mod rows;

use crate::Commands;
use crate::refusals::no_database;
use catalog::{Catalog, TableDef};
use engine::{Finding, TableLock, Tree, TreeReport};
use executor::{ColumnMeta, Command, SqlError, SqlMessage};
use indexes::IndexCheck;
use ir::FuncId;
use rows::{LargeValues, check_row};
use security::Permission;
use session_state::OpenDatabase;
use std::collections::HashSet;
use std::sync::Arc;
use types::{SqlType, Value};

/// What was found so far.
#[derive(Default)]
struct Found {
    allocation: u64,
    consistency: u64,
}

impl Commands<'_> {
    /// False when `name` is none of these.
    pub(crate) fn dbcc_check(
        &mut self,
        name: &str,
        args: &[Value],
        options: &[String],
        line: u32,
    ) -> Result<bool, SqlError> {
        if !matches!(name, "CHECKDB" | "CHECKTABLE" | "CHECKALLOC" | "CHECKCATALOG") {
            return Ok(false);
        }
        if args.iter().skip(1).filter_map(Value::as_str).any(|a| a.to_uppercase() != "NOINDEX") {
            return Err(SqlError::unsupported(format!("DBCC {name} with a repair")));
        }
        let known = [
            "NO_INFOMSGS",
            "ALL_ERRORMSGS",
            "TABLOCK",
            "PHYSICAL_ONLY",
            "DATA_PURITY",
            "EXTENDED_LOGICAL_CHECKS",
        ];
        if let Some(other) = options.iter().find(|o| !known.contains(&o.as_str())) {
            return Err(SqlError::unsupported(format!("DBCC {name} WITH {other}")));
        }
        let physical = options.iter().any(|o| o == "PHYSICAL_ONLY");
        let quiet = options.iter().any(|o| o == "NO_INFOMSGS");
        let open = self.database_to_check(name, args)?;
        let mut found = Found::default();
        let tables = self.tables_to_check(name, args, &open)?;
        if matches!(name, "CHECKDB" | "CHECKALLOC") {
            self.check_files(&open, &mut found, line, quiet);
        }
        if matches!(name, "CHECKDB" | "CHECKCATALOG") {
            self.check_catalog(&open, &mut found, line);
        }
        if matches!(name, "CHECKDB" | "CHECKTABLE") {
            for table in &tables {
                self.check_one(&open, table, physical, &mut found, line, quiet)?;
            }
        }
        let Found { allocation, consistency } = found;
        // What is found in one table is summed up when there is something.
        if allocation + consistency > 0 || !(quiet || name == "CHECKTABLE") {
            let text = match name {
                "CHECKTABLE" => format!(
                    "CHECKTABLE found {allocation} allocation errors and {consistency} consistency errors in table '{}'.",
                    tables.first().map_or("", |t| &t.name)
                ),
                _ => format!(
                    "{name} found {allocation} allocation errors and {consistency} consistency errors in database '{}'.",
                    open.name
                ),
            };
            self.sink.message(&SqlMessage::info(8989, line, text));
        }
        Ok(true)
    }

    /// The database that is named by name or number, else the current one.
    fn database_to_check(
        &mut self,
        name: &str,
        args: &[Value],
    ) -> Result<Arc<OpenDatabase>, SqlError> {
        let current = self.state.database.clone();
        let wanted = match args.first() {
            Some(value) if name != "CHECKTABLE" => match (value.as_str(), value.as_i64()) {
                (Some(text), _) => Some(text.to_owned()),
                (None, Some(0)) => None,
                (None, Some(id)) => {
                    let all = self.host.databases();
                    let found = all.into_iter().find(|(n, _)| i64::from(*n) == id);
                    Some(found.map_or_else(|| id.to_string(), |(_, name)| name))
                }
                (None, None) => None,
            },
            _ => None,
        };
        let open = match wanted {
            None => current.clone(),
            Some(wanted) if wanted.eq_ignore_ascii_case(&current.name) => current.clone(),
            Some(wanted) => {
                let there = self.host.database(&wanted);
                there.ok_or_else(|| no_database(self.host, &wanted))?
            }
        };
        match open.id == current.id {
            true => self.check_database(Permission::Control)?,
            false => self.check_server(Permission::ControlServer)?,
        }
        Ok(open)
    }

    fn tables_to_check(
        &mut self,
        name: &str,
        args: &[Value],
        open: &OpenDatabase,
    ) -> Result<Vec<Arc<TableDef>>, SqlError> {
        let all = open.catalog.objects().into_iter();
        let all = all.filter_map(|object| object.rows().filter(|t| !t.is_private()).cloned());
        if name != "CHECKTABLE" {
            return Ok(all.collect());
        }
        Ok(vec![table_to_check(open, args.first())?])
    }

    /// DBCC CLEANTABLE: a column that is dropped leaves nothing behind here. 2501, and who may not alter the table.
    pub(crate) fn clean_table(&mut self, args: &[Value]) -> Result<(), SqlError> {
        let open = self.database_to_check("CLEANTABLE", args)?;
        let table = table_to_check(&open, args.get(1))?;
        self.check_alter(&table)
    }

    /// DBCC DBREINDEX: ALTER INDEX REBUILD of one index or all, with a fill factor unless it is 0. 2501, 7999.
    pub(crate) fn rebuild_indexes(&mut self, args: &[Value]) -> Result<(), SqlError> {
        let open = self.state.database.clone();
        let table = table_to_check(&open, args.first())?;
        let index = match args.get(1).and_then(Value::as_str).filter(|name| !name.is_empty()) {
            Some(name) => syntax::ast::bracketed(name),
            None => "ALL".to_owned(),
        };
        let with = match args.get(2).and_then(Value::as_i64).unwrap_or(0) {
            0 => String::new(),
            fill => format!(" WITH (FILLFACTOR = {fill})"),
        };
        let of = syntax::ast::bracketed_in(&table.schema, &table.name);
        self.run_part(&format!("ALTER INDEX {index} ON {of} REBUILD{with}"))
    }

    /// DBCC SHRINKFILE of the log, by name or number; the target is in megabytes.
    pub(crate) fn shrink_file(&mut self, args: &[Value]) -> Result<(), SqlError> {
        self.check_database(Permission::Control)?;
        let file = match args.first() {
            Some(name) if name.as_str().is_some() => {
                let id =
                    self.host.metadata(FuncId::FileIdex, std::slice::from_ref(name), self.state)?;
                id.as_i64()
            }
            other => other.and_then(Value::as_i64),
        };
        let database = self.state.database.clone();
        if file.is_some_and(|id| id != 2) {
            return Err(SqlError::unsupported("DBCC SHRINKFILE of a data file"));
        }
        if file.is_none() {
            let name = args.first().and_then(Value::as_str).unwrap_or("");
            return Err(SqlError::new(
                8985,
                16,
                format!(
                    "Could not locate file '{name}' for database '{}' in sys.database_files. The file either does not \
                     exist, or was dropped.",
                    database.name
                ),
            ));
        }
        let target = args.get(1).and_then(Value::as_i64).unwrap_or(0).max(0) as u64;
        let failed = |e| executor::from_engine(e, None, &database.name);
        let now = database.engine.shrink_log(target << 20).map_err(failed)?;
        let used = database.engine.stats().log_used_bytes;
        let pages = |bytes: u64| Value::Int((bytes / 8192) as i32);
        let least = database.engine.log().vlfs().first().map_or(0, |vlf| 2 * vlf.bytes);
        let column = |name: &str| ColumnMeta::new(name, SqlType::Int, false);
        let names = ["DbId", "FileId", "CurrentSize", "MinimumSize", "UsedPages", "EstimatedPages"];
        self.sink.columns(&names.map(column));
        self.sink.row(&[
            Value::Int(i32::from(database.id)),
            Value::Int(2),
            pages(now),
            pages(least),
            pages(used),
            pages(used),
        ]);
        self.tell_done(Command::Dbcc, Some(1));
        Ok(())
    }

    fn tell_found(&mut self, found: &mut Found, finding: &Finding, of: &str, line: u32) {
        match finding.allocation {
            true => found.allocation += 1,
            false => found.consistency += 1,
        }
        *self.failed = true;
        let page = finding.page.map_or_else(String::new, |page| format!(" page {page}:"));
        let text = format!("Table error: {of}:{page} {}.", finding.what);
        let error = SqlError::new(finding.number, 16, text).at_line(line);
        self.sink.message(&error.to_message());
    }

    fn check_files(&mut self, open: &OpenDatabase, found: &mut Found, line: u32, quiet: bool) {
        let mut known: HashSet<u64> = open.engine.system_tree_numbers().into_iter().collect();
        for object in open.catalog.objects() {
            if let Some(table) = object.rows() {
                known.extend(trees_of(table).into_iter().map(|(tree, _)| tree.0.0));
            }
        }
        known.extend(open.catalog.configuration().tracking().map(|t| t.commits.0.0));
        let mut findings = Vec::new();
        let counts = open.engine.check_files(&known, &mut |finding| findings.push(finding));
        for finding in &findings {
            self.tell_found(found, finding, &format!("database '{}'", open.name), line);
        }
        if !quiet {
            let text = format!(
                "{} pages in {} extents of {} data files, and {} blocks of the log, were read and verified.",
                counts.pages, counts.extents, counts.files, counts.log_blocks
            );
            self.sink.message(&SqlMessage::info(0, line, text));
            if counts.unnamed_extents > 0 {
                let text = format!(
                    "{} extents belong to tables that were being made when the server stopped. They are not damaged \
                     and not used.",
                    counts.unnamed_extents
                );
                self.sink.message(&SqlMessage::info(0, line, text));
            }
        }
    }

    /// The catalog's own trees, and whether everything in them makes sense.
    fn check_catalog(&mut self, open: &OpenDatabase, found: &mut Found, line: u32) {
        for (n, number) in open.engine.system_tree_numbers().into_iter().enumerate() {
            let tree = open.engine.tree(engine::TreeId(engine::PageId(number)));
            // Others may be changing the catalog: what is damaged stays so.
            let mut findings = Vec::new();
            for _ in 0..3 {
                findings.clear();
                tree.check(engine::Lsn::MAX, &mut |_, _| None, &mut |f| findings.push(f));
                if findings.is_empty() {
                    break;
                }
            }
            for finding in &findings {
                self.tell_found(found, finding, &format!("system table {n}"), line);
            }
        }
        let wrong = match Catalog::check(&open.engine) {
            Ok(wrong) => wrong,
            Err(error) => vec![format!("the catalog cannot be read: {error}")],
        };
        for what in wrong {
            let finding = Finding { number: 8992, allocation: false, page: None, what };
            self.tell_found(found, &finding, &format!("database '{}'", open.name), line);
        }
    }

    /// A table's rows, its large values, its secondary indexes.
    fn check_one(
        &mut self,
        open: &OpenDatabase,
        table: &Arc<TableDef>,
        physical: bool,
        found: &mut Found,
        line: u32,
        quiet: bool,
    ) -> Result<(), SqlError> {
        let mut txn = open.engine.begin(engine::TxnOptions {
            // Writers of rows and large values lock both trees in either order: they go before a check. One's own
            // locks are not waited for.
            deadlock_priority: -10,
            lock_timeout_ms: match self.state.trancount() {
                0 => self.state.options.lock_timeout_ms,
                _ => Some(0),
            },
            ..engine::TxnOptions::default()
        });
        txn.set_cancel(Some(self.state.cancel.clone()));
        let failed = |e| executor::from_engine(e, Some(table), &open.name);
        let of = format!("object '{}.{}'", table.schema, table.name);
        let rows = open.engine.tree(table.tree);
        let trees: Vec<Tree> =
            trees_of(table).into_iter().map(|(id, _)| open.engine.tree(id)).collect();
        loop {
            let locked = trees.iter().try_for_each(|t| txn.lock_table(t, TableLock::Shared));
            match locked {
                Ok(()) => break,
                // Dropped meanwhile.
                Err(engine::EngineError::NoSuchTree) => return Ok(()),
                Err(engine::EngineError::Deadlock) => {
                    txn.rollback().map_err(failed)?;
                    txn.begin();
                }
                Err(e) => return Err(failed(e)),
            }
        }
        let mut findings = Vec::new();
        for tree in &trees {
            // Rows in memory are checked as the pages have them, once those have them all.
            open.engine.write_memory_of(tree, &mut txn).map_err(failed)?;
            findings.extend(open.engine.compare_memory(tree, &mut txn).map_err(failed)?);
        }
        let tail = open.engine.log().tail();
        let mut named = LargeValues::default();
        let mut indexes: Vec<IndexCheck<'_>> =
            table.secondary().map(|index| IndexCheck::new(table, index, physical)).collect();
        let report = rows.check(
            tail,
            &mut |key, row| {
                if !physical && let Some(what) = check_row(table, key, row, &mut named) {
                    return Some(what);
                }
                for index in &mut indexes {
                    index.add_row(table, key, row);
                }
                None
            },
            &mut |f| findings.push(f),
        );
        if let Some(lob) = table.lob {
            let tree = open.engine.tree(lob);
            named.check(&tree, tail, physical, &mut findings);
            for index in &mut indexes {
                index.add_rows_put_off(table, &tree, &mut txn).map_err(failed)?;
            }
        }
        for index in indexes {
            let tree = open.engine.tree(index.index.tree);
            index.check(&tree, tail, &mut findings);
        }
        for changes in table.tracking.iter().flat_map(|t| [t.changes, t.by_key]) {
            let tree = open.engine.tree(changes);
            tree.check(tail, &mut |_, _| None, &mut |f| findings.push(f));
        }
        txn.rollback().map_err(failed)?;
        for finding in &findings {
            self.tell_found(found, finding, &of, line);
        }
        if !quiet {
            let TreeReport { rows, ghosts, leaves, inner, .. } = report;
            let text = format!("DBCC results for '{}'.", table.name);
            self.sink.message(&SqlMessage::info(2536, line, text));
            let text = format!(
                "There are {} rows in {} pages for object \"{}\".",
                rows - ghosts,
                leaves + inner,
                table.name
            );
            self.sink.message(&SqlMessage::info(2593, line, text));
        }
        Ok(())
    }
}

/// A table, or an indexed view, by name or by id; 2501.
fn table_to_check(open: &OpenDatabase, asked: Option<&Value>) -> Result<Arc<TableDef>, SqlError> {
    let wanted = match asked {
        Some(asked) => {
            asked.as_str().map_or_else(|| asked.as_i64().unwrap_or(0).to_string(), str::to_owned)
        }
        None => String::new(),
    };
    let found = match asked.filter(|asked| asked.as_str().is_none()).and_then(Value::as_i64) {
        Some(id) => i32::try_from(id).ok().and_then(|id| open.catalog.object_by_id(id)),
        None => {
            let mut parts = session_state::name_parts(&wanted);
            let last = parts.pop().unwrap_or_default();
            open.catalog.object(None, parts.pop().as_deref(), &last)
        }
    };
    found.and_then(|object| object.rows().cloned()).ok_or_else(|| {
        let text = format!(
            "Cannot find a table or object with the name \"{wanted}\". Check the system catalog."
        );
        SqlError::new(2501, 16, text)
    })
}

/// The trees of a table, and what each holds.
fn trees_of(table: &TableDef) -> Vec<(engine::TreeId, &'static str)> {
    let lob = table.lob.map(|lob| (lob, "large values"));
    let indexes = table.indexes.iter().filter(|i| !i.clustered).map(|i| (i.tree, "index"));
    let tracking = table.tracking.iter();
    let changes = tracking.flat_map(|t| [(t.changes, "changes"), (t.by_key, "changes")]);
    std::iter::once((table.tree, "rows")).chain(lob).chain(indexes).chain(changes).collect()
}
