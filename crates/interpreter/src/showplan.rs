//! SET SHOWPLAN_TEXT, SHOWPLAN_ALL and SHOWPLAN_XML, which show plans and run nothing; SET STATISTICS PROFILE, XML, IO
//! and TIME, which tell what a statement did after it has run.
//!
//! Sources: SQL Server's documentation of these SET options, for columns, their order and the texts of messages 3612,
//! 3613 and 3615. Under SHOWPLAN the plans of a procedure that is called follow its EXEC; conditions of IF and WHILE are
//! not shown. Times and reads are those of the task (`scheduler::usage`).
//!
//! Promise: a session that has none of them on pays one test per statement.

use crate::code::Code;
use crate::figures::{Reading, StatementCells};
use crate::plan::{self, Body, Called, CodeState, Planned};
use crate::plan_cache::CachedPlan;
use crate::vm::Vm;
use catalog::TableDef;
use executor::{ColumnMeta, Command, Done, SqlError, SqlMessage};
use ir::{Data, ProcRef, Program, SetOption, Stmt, StmtKind};
use planner::show::{self, Show, Step, XmlStatement};
use planner::{ChangePlan, NodeFigures, Plan, Scan};
use security::Permission;
use session_state::SessionNames;
use session_state::Tag;
use session_state::bind_error;
use session_state::shown::{IO, PROFILE, PROFILE_XML, TEXT, TIME, XML};
use session_state::{Halt, Halted};
use session_state::{NESTING_MAX, too_deep};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use types::{Len, SqlType, Value};

/// A statement and its plan.
struct Shown {
    text: String,
    kind: &'static str,
    step: Option<Step>,
}

/// Whether SET STATISTICS PROFILE and XML tell of such a statement.
fn has_plan(kind: &StmtKind) -> bool {
    use StmtKind::{Delete, Insert, Merge, Select, SetVars, Update};
    matches!(kind, Select(_) | Insert(_) | Update(_) | Delete(_) | Merge(_) | SetVars(_))
}

impl Vm<'_> {
    /// Whether a program is to be shown instead of run: not when it is the SET that ends this.
    pub fn is_to_be_shown(&self, code: &Code) -> bool {
        self.state.options.telling.shows() && !sets_showplan(&code.program)
    }

    /// Shows the plans of a program.
    pub fn show_program(&mut self, code: &Code) -> Result<(), Halt> {
        self.commands()
            .check_database(Permission::ShowPlan)
            .map_err(|error| Halt::Throw(Box::new(error)))?;
        let mut shown = Vec::new();
        let found = self.shown_of(code, &mut shown, self.state.nesting);
        found.map_err(|error| Halt::Throw(Box::new(error)))?;
        let telling = self.state.options.telling;
        if telling.has(XML) {
            self.tell_document(&shown);
            return Ok(());
        }
        for (i, one) in shown.iter().enumerate() {
            match telling.has(TEXT) {
                true => self.tell_text(one),
                false => self.tell_rows(one, i + 1, false),
            }
        }
        Ok(())
    }

    fn shown_of(
        &mut self,
        code: &Code,
        shown: &mut Vec<Shown>,
        nesting: u32,
    ) -> Result<(), SqlError> {
        if nesting > NESTING_MAX {
            return Err(too_deep());
        }
        let mut leaves = Vec::new();
        each_leaf(&code.program.body, &mut |stmt| leaves.push(stmt));
        for stmt in leaves {
            let kind = self.bound_now(code, stmt)?;
            self.commands().prepare_statistics(&kind);
            let step = step_of(&kind, &self.state.database.name, &variables(code));
            let called = match &kind {
                StmtKind::Exec(exec) => match &exec.procedure {
                    ProcRef::Name(name) => {
                        self.find_procedure(code.program.schema.as_deref(), name)
                    }
                    ProcRef::Var(_) | ProcRef::Text(_) => None,
                },
                _ => None,
            };
            shown.push(Shown { text: text_of(code, stmt), kind: name_of(&kind, stmt), step });
            if let Some(definition) = called {
                let (code, learnt) = self.procedure(&definition)?;
                self.shown_of(&code, shown, nesting + 1)?;
                self.keep_learnt(&definition, &code, learnt);
            }
        }
        Ok(())
    }

    /// A statement as names mean it now, if the session may run it.
    pub(crate) fn bound_now(&mut self, code: &Code, stmt: &Stmt) -> Result<StmtKind, SqlError> {
        let kind = match &stmt.source {
            Some(source) => {
                let names = SessionNames::new(self.state, self.host);
                binder::bind_statement(&code.program, source, &names).map_err(bind_error)?.kind
            }
            None => stmt.kind.clone(),
        };
        if self.state.identity.is_limited() {
            self.commands().check_statement(&kind, code.object_id)?;
            return Ok(self.commands().masked(&kind).unwrap_or(kind));
        }
        Ok(kind)
    }

    /// Runs statement `index` with what it does told afterwards.
    #[cold]
    pub fn told_statement(
        &mut self,
        code: &Code,
        learnt: &mut CodeState,
        index: usize,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<(), Halted> {
        let statement = &code.statements[index];
        let tag = Tag::of(&statement.kind, statement.source.as_deref().map(|s| &s.kind));
        let state = &*self.state;
        state.activity.statement(tag, state.nesting, state.transaction.count);
        self.state.spilled = executor::SpillFigures::default();
        let mut rounds = 0;
        let (planned, result, reading) = loop {
            let version = self.names_version();
            let kind = self.bound_now(code, statement)?;
            let telling = self.state.options.telling;
            if (telling.has(PROFILE) || telling.has(PROFILE_XML)) && has_plan(&kind) {
                self.commands().check_database(Permission::ShowPlan)?;
            }
            let watch = self.commands().prepare_statistics(&kind);
            let reading = Reading::now();
            let body = measured(plan::plan_in_general(&kind, &self.known(&kind, code, frame)));
            let mut planned =
                Planned { version, private: None, watch, body, called: Called::default() };
            let result = self.run_planned(&mut planned, code, index, frame, guarded);
            let again = matches!(&result, Err(Halted::Error(error)) if error.stale);
            rounds += 1;
            if !again || rounds == crate::statement::STALE_ROUNDS_MAX || self.cancel.load(Relaxed) {
                break (planned, result, reading);
            }
            runtime::task::sleep_ns(1_000_000, telemetry::WaitType::SleepTask);
        };
        let outcome = match self.programs.cursors.take_positioned() {
            Some(positioned) => self.after_positioned(positioned, result),
            None => result,
        }?;
        if !self.state.warnings.is_empty() {
            self.warn(statement.line, code);
        }
        self.settle(outcome);
        let (used, elapsed_ns) = reading.since();
        if let Some(cells) = learnt.meter.statement(index).filter(|_| planned.body.is_counted()) {
            StatementCells::count(cells);
            reading.add_to(cells, self.state.rowcount.max(0) as u64);
        }
        // SET itself is not told of: it may have been what ended this.
        if matches!(planned.body, Body::Other(StmtKind::Set(_))) {
            return Ok(());
        }
        let telling = self.state.options.telling;
        let line = statement.line;
        if telling.has(IO) {
            for table in tables_of(&planned.body, used.page_lookups, used.page_reads) {
                self.sink.message(&SqlMessage::info(3615, line, table.text()));
            }
            // Pages that were written for want of memory, each read again once at least.
            let spilled = self.state.spilled;
            for (name, pages) in
                [("Workfile", spilled.hash_pages), ("Worktable", spilled.sort_pages)]
            {
                if pages > 0 {
                    let text = io_text(name, 0, pages, 0);
                    self.sink.message(&SqlMessage::info(3615, line, text));
                }
            }
        }
        if telling.has(PROFILE) || telling.has(PROFILE_XML) {
            let database = &self.state.database.name;
            let step = step_of_body(&planned.body, database, &variables(code));
            if step.is_some() {
                let kind = name_of(&statement.kind, statement);
                let shown = [Shown { text: text_of(code, statement), kind, step }];
                if telling.has(PROFILE) {
                    self.tell_rows(&shown[0], 1, true);
                }
                if telling.has(PROFILE_XML) {
                    self.tell_document(&shown);
                }
            }
        }
        if telling.has(TIME) {
            let text = format!(
                "\n SQL Server Execution Times:\n   CPU time = {} ms,  elapsed time = {} ms.",
                used.cpu_ns / 1_000_000,
                elapsed_ns / 1_000_000
            );
            self.sink.message(&SqlMessage::info(3612, line, text));
        }
        // Whatever was told, a message ends with a DONE.
        let in_procedure = self.state.nesting > 0;
        self.sink.done(Done { rows: None, command: Command::Other, in_procedure, failed: false });
        Ok(())
    }

    /// Where the time that a compilation takes is asked for, begins to take it.
    pub fn compile_reading(&self) -> Option<Reading> {
        self.state.options.telling.has(TIME).then(Reading::now)
    }

    /// Message 3613.
    pub fn tell_compile_time(&mut self, reading: Option<Reading>) {
        let Some(reading) = reading else { return };
        let (used, elapsed_ns) = reading.since();
        let text = format!(
            "SQL Server parse and compile time: \n   CPU time = {} ms, elapsed time = {} ms.",
            used.cpu_ns / 1_000_000,
            elapsed_ns / 1_000_000
        );
        self.sink.message(&SqlMessage::info(3613, 1, text));
    }

    fn tell_text(&mut self, shown: &Shown) {
        let columns = [ColumnMeta::new("StmtText", LONG, true)];
        self.sink.columns(&columns);
        self.sink.row(&[Value::str(&shown.text)]);
        self.tell_done(Command::Select, Some(1));
        let Some(step) = &shown.step else { return };
        self.sink.columns(&columns);
        let lines = step.lines();
        lines.iter().for_each(|line| self.sink.row(&[Value::str(&line.text)]));
        self.tell_done(Command::Select, Some(lines.len() as u64));
    }

    /// The rows of SHOWPLAN_ALL; with `measured` those of STATISTICS PROFILE.
    fn tell_rows(&mut self, shown: &Shown, statement: usize, measured: bool) {
        let (int, float, short) = (SqlType::Int, SqlType::Float, SqlType::NVarChar(Len::N(128)));
        let mut columns = Vec::new();
        if measured {
            columns.push(ColumnMeta::new("Rows", SqlType::BigInt, true));
            columns.push(ColumnMeta::new("Executes", SqlType::BigInt, true));
        }
        for (name, ty) in [
            ("StmtText", LONG),
            ("StmtId", int),
            ("NodeId", int),
            ("Parent", int),
            ("PhysicalOp", short),
            ("LogicalOp", short),
            ("Argument", LONG),
            ("DefinedValues", LONG),
            ("EstimateRows", float),
            ("EstimateIO", float),
            ("EstimateCPU", float),
            ("AvgRowSize", int),
            ("TotalSubtreeCost", float),
            ("OutputList", LONG),
            ("Warnings", LONG),
            ("Type", short),
            ("Parallel", SqlType::Bit),
            ("EstimateExecutions", float),
        ] {
            columns.push(ColumnMeta::new(name, ty, true));
        }
        self.sink.columns(&columns);
        let number = |n: usize| Value::Int(n as i32);
        let text = |text: Option<String>| text.map_or(Value::Null, |text| Value::str(&text));
        let root = shown.step.as_ref();
        let of_root =
            |get: &dyn Fn(&Step) -> f64| root.map_or(Value::Null, |r| Value::Float(get(r)));
        let counted = |step: &Step| {
            let figure = |n: u64| Value::BigInt(n as i64);
            match &step.measured {
                Some(m) => [figure(m.rows), figure(m.executions)],
                None => [Value::BigInt(0), Value::BigInt(0)],
            }
        };
        let mut row = Vec::new();
        if measured {
            row.push(Value::BigInt(self.state.rowcount));
            row.push(Value::BigInt(1));
        }
        row.extend([Value::str(&shown.text), number(statement), number(1), number(0)]);
        row.extend(std::iter::repeat_n(Value::Null, 4));
        row.push(of_root(&|r| r.rows));
        row.extend(std::iter::repeat_n(Value::Null, 3));
        row.push(of_root(&|r| r.subtree));
        row.extend([
            Value::Null,
            Value::Null,
            Value::str(shown.kind),
            Value::Bit(false),
            Value::Null,
        ]);
        self.sink.row(&row);
        let lines = root.map(Step::lines).unwrap_or_default();
        for line in &lines {
            let step = line.step;
            let mut row = Vec::with_capacity(columns.len());
            if measured {
                row.extend(counted(step));
            }
            let output = (!step.output.is_empty()).then(|| step.output.join(", "));
            row.extend([
                Value::str(&line.text),
                number(statement),
                number(line.number + 1),
                number(line.parent + 1),
                Value::str(step.physical),
                Value::str(step.logical),
                text(step.argument_text()),
                text(step.define_text()),
                Value::Float(step.rows),
                Value::Float(step.cost.io),
                Value::Float(step.cost.cpu),
                Value::Int(step.row_bytes as i32),
                Value::Float(step.subtree),
                text(output),
                Value::Null,
                Value::str("PLAN_ROW"),
                Value::Bit(step.parallel),
                Value::Float(step.executions),
            ]);
            self.sink.row(&row);
        }
        self.tell_done(Command::Select, Some(lines.len() as u64 + 1));
    }

    fn tell_document(&mut self, shown: &[Shown]) {
        // The name is the one that SQL Server gives, and that tools look for.
        let name = "Microsoft SQL Server 2005 XML Showplan";
        self.sink.columns(&[ColumnMeta::new(name, SqlType::Xml, true)]);
        self.sink.row(&[Value::str(&document(shown))]);
        self.tell_done(Command::Select, Some(1));
    }
}

const LONG: SqlType = SqlType::NVarChar(Len::Max);

impl CachedPlan {
    /// Its plans as a document of SHOWPLAN_XML: of all statements, or of that which begins at `start` and ends at `end`
    /// ([`PlanStatement`]; -1 is the end of the text). Names in it are of the database called `database`.
    pub fn show_plan(&self, database: &str, start: i32, end: i32) -> String {
        document_of(&self.code, database, |stmt| {
            let Some((from, to)) = self.place_of(stmt) else { return false };
            from >= start && (end < 0 || to <= end)
        })
    }
}

/// The document of a cached plan: of all its statements, or of those within `range` (bytes of UTF-16 in the text that
/// clients see). Statements whose names were missing when it was compiled have no plan in it.
fn document_of(code: &Code, database: &str, wanted: impl Fn(&Stmt) -> bool) -> String {
    let mut shown = Vec::new();
    let vars = variables(code);
    each_leaf(&code.program.body, &mut |stmt| {
        if wanted(stmt) {
            let step = step_of(&stmt.kind, database, &vars);
            shown.push(Shown { text: text_of(code, stmt), kind: name_of(&stmt.kind, stmt), step });
        }
    });
    document(&shown)
}

/// Statements as one document, numbered from 1.
fn document(shown: &[Shown]) -> String {
    let statements: Vec<XmlStatement<'_>> = shown
        .iter()
        .enumerate()
        .map(|(i, s)| XmlStatement {
            text: &s.text,
            kind: s.kind,
            number: i + 1,
            plan: s.step.as_ref(),
        })
        .collect();
    show::document(&statements)
}

/// 1067: the statement that turns it on or off stands alone.
pub(crate) fn check_alone(program: &Program) -> Result<(), SqlError> {
    let mut found = None;
    each_leaf(&program.body, &mut |stmt| {
        if is_showplan(&stmt.kind) {
            found.get_or_insert(stmt.line);
        }
    });
    match found {
        Some(line) if !sets_showplan(program) => {
            let text = "The SET SHOWPLAN statements must be the only statements in the batch.";
            let mut error = SqlError::new(1067, 15, text);
            error.line = line;
            Err(error)
        }
        _ => Ok(()),
    }
}

fn sets_showplan(program: &Program) -> bool {
    matches!(&program.body[..], [only] if is_showplan(&only.kind))
}

fn is_showplan(kind: &StmtKind) -> bool {
    match kind {
        StmtKind::Set(SetOption::Switch { names, .. }) => {
            names.iter().any(|name| name.starts_with("SHOWPLAN_"))
        }
        _ => false,
    }
}

/// Calls `each` for the statements without statements inside.
fn each_leaf<'a>(body: &'a [Stmt], each: &mut dyn FnMut(&'a Stmt)) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Block(body) | StmtKind::While { body, .. } => each_leaf(body, each),
            StmtKind::If { then, otherwise, .. } => {
                each_leaf(then, each);
                each_leaf(otherwise, each);
            }
            StmtKind::TryCatch { body, handler } => {
                each_leaf(body, each);
                each_leaf(handler, each);
            }
            StmtKind::Nothing | StmtKind::Label(_) => {}
            _ => each(stmt),
        }
    }
}

fn variables(code: &Code) -> Vec<&str> {
    code.program.vars.iter().map(|var| &*var.name).collect()
}

fn text_of(code: &Code, stmt: &Stmt) -> String {
    let span = stmt.span.start as usize..stmt.span.end as usize;
    code.program.text.get(span).unwrap_or("").to_owned()
}

fn name_of(kind: &StmtKind, stmt: &Stmt) -> &'static str {
    Tag::of(kind, stmt.source.as_deref().map(|s| &s.kind)).request()
}

/// The plan of a bound statement, shown.
fn step_of(kind: &StmtKind, database: &str, vars: &[&str]) -> Option<Step> {
    let body = match kind.data() {
        Data::Select(_) | Data::Insert(_) | Data::Update(_) | Data::Delete(_) => {
            plan::plan_in_general(kind, &planner::Known::default())
        }
        Data::Merge(_) | Data::Cursor(_) | Data::SetVars(_) | Data::Return(_) | Data::None => {
            return None;
        }
    };
    step_of_body(&body, database, vars)
}

impl Vm<'_> {
    /// 8649 for a plan that costs more than the query governor lets pass. What is found by a whole key has no plan to be shown
    /// and costs next to nothing.
    #[cold]
    pub(crate) fn check_cost(&self, body: &Body) -> Result<(), SqlError> {
        let limit = self.state.options.cost_limit();
        let step = step_of_body(body, &self.state.database.name, &[]);
        match step.map(|step| step.subtree.ceil()) {
            Some(cost) if cost > f64::from(limit) => {
                let text = format!(
                    "The query has been canceled because the estimated cost of this query ({cost}) exceeds the configured \
                     threshold of {limit}. Contact the system administrator."
                );
                Err(SqlError::new(8649, 17, text))
            }
            _ => Ok(()),
        }
    }
}

fn step_of_body(body: &Body, database: &str, vars: &[&str]) -> Option<Step> {
    let mut show = Show::new(database, vars);
    match body {
        Body::Select(select) => Some(show.plan(&select.plan)),
        Body::Insert(insert, _) => show.insert(insert),
        Body::Update(update, _) => Some(show.update(update)),
        Body::Delete(delete, _) => Some(show.delete(delete)),
        _ => None,
    }
}

/// A plan with its operators counted.
fn measured(body: Body) -> Body {
    match body {
        Body::Select(mut select) => {
            select.plan = select.plan.metered();
            Body::Select(select)
        }
        Body::Insert(mut insert, hint) => {
            measure_insert(&mut insert);
            Body::Insert(insert, hint)
        }
        Body::Update(mut update, kept) => {
            measure(&mut update.source);
            Body::Update(update, kept)
        }
        Body::Delete(mut delete, kept) => {
            measure(&mut delete.source);
            Body::Delete(delete, kept)
        }
        other => other,
    }
}

fn measure(plan: &mut Plan) {
    *plan = plan.clone().metered();
}

fn measure_insert(insert: &mut planner::InsertPlan) {
    use planner::InsertSource::{Changed, Exec, Query, Values};
    match &mut insert.source {
        Values { subplans, .. } => {
            for sub in subplans {
                *sub = sub.clone().metered();
            }
        }
        Query { plan, .. } => measure(plan),
        Changed(from) => match &mut from.change {
            ChangePlan::Insert(insert) => measure_insert(insert),
            ChangePlan::Update(update) => measure(&mut update.source),
            ChangePlan::Delete(delete) => measure(&mut delete.source),
            ChangePlan::Merge(merge) => measure(&mut merge.source),
        },
        Exec { .. } => {}
    }
}

/// What a statement read of a table.
struct TableReads {
    table: Arc<TableDef>,
    scans: u64,
    logical: u64,
    physical: u64,
}

impl TableReads {
    fn text(&self) -> String {
        io_text(&self.table.name, self.scans, self.logical, self.physical)
    }
}

/// Message 3615.
fn io_text(name: &str, scans: u64, logical: u64, physical: u64) -> String {
    format!(
        "Table '{name}'. Scan count {scans}, logical reads {logical}, physical reads {physical}, page server reads 0, \
         read-ahead reads 0, page server read-ahead reads 0, lob logical reads 0, lob physical reads 0, lob page server \
         reads 0, lob read-ahead reads 0, lob page server read-ahead reads 0."
    )
}

/// The scans of an INSERT; the table of the change within its FROM, if there is one.
fn each_scan_of<'p>(
    insert: &'p planner::InsertPlan,
    each: &mut dyn FnMut(&'p Scan, &'p NodeFigures),
) -> Option<&'p Arc<TableDef>> {
    use planner::InsertSource::{Changed, Exec, Query, Values};
    match &insert.source {
        Query { plan, .. } => plan.each_scan(each),
        Values { subplans, .. } => subplans.iter().for_each(|sub| sub.node.each_scan(each)),
        Exec { .. } => {}
        Changed(from) => {
            match &from.change {
                ChangePlan::Insert(insert) => {
                    each_scan_of(insert, each);
                }
                ChangePlan::Update(update) => update.source.each_scan(each),
                ChangePlan::Delete(delete) => delete.source.each_scan(each),
                ChangePlan::Merge(merge) => merge.source.each_scan(each),
            }
            return Some(from.change.table());
        }
    }
    None
}

/// The tables of a plan that has run; what no scan has read of what was read in all, the change has.
fn tables_of(body: &Body, lookups: u64, reads: u64) -> Vec<TableReads> {
    let mut tables: Vec<TableReads> = Vec::new();
    let mut add = |table: &Arc<TableDef>, scans: u64, logical: u64, physical: u64| {
        let known = tables.iter_mut().find(|known| Arc::ptr_eq(&known.table, table));
        match known {
            Some(known) => {
                known.scans += scans;
                known.logical += logical;
                known.physical += physical;
            }
            None => tables.push(TableReads { table: table.clone(), scans, logical, physical }),
        }
    };
    let (mut logical, mut physical) = (0, 0);
    let mut of_scan = |scan: &Scan, figures: &NodeFigures| {
        let found = figures.measured();
        logical += found.logical_reads;
        physical += found.physical_reads;
        // A look-up of one row by its key is no scan.
        let key = scan.table.key_layout.parts().len();
        let is_point = scan.index.is_none()
            && key > 0
            && !scan.table.has_uniquifier()
            && scan.range.as_ref().is_some_and(|range| range.is_point(key));
        let scans = if is_point { 0 } else { found.executions };
        add(&scan.table, scans, found.logical_reads, found.physical_reads);
    };
    let mut inner = None;
    let target = match body {
        Body::Select(select) => {
            select.plan.each_scan(&mut of_scan);
            None
        }
        Body::Insert(insert, _) => {
            inner = each_scan_of(insert, &mut of_scan);
            Some(&insert.table)
        }
        Body::Update(update, _) => {
            update.source.each_scan(&mut of_scan);
            Some(&update.table)
        }
        Body::Delete(delete, _) => {
            delete.source.each_scan(&mut of_scan);
            Some(&delete.table)
        }
        _ => None,
    };
    if let Some(inner) = inner {
        add(inner, 0, 0, 0);
    }
    if let Some(table) = target {
        add(table, 0, lookups.saturating_sub(logical), reads.saturating_sub(physical));
    }
    tables
}
