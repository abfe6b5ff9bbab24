//! What a running statement carries: its variables, its transaction, its clock reading, and the door to the
//! session for everything an expression may ask.
//!
//! Promise: the clock is read once per statement; RAND without a seed is drawn once per statement.

use crate::memory::{FREE_BYTES, Grant, MemoryPool, row_bytes};
use crate::message::{SqlError, cancelled};
use crate::ops::{Parts, Spooled};
use crate::spill::{SpillFigures, SpillFile};
use crate::subquery::Kept;
use crate::warnings::Warnings;
use crate::workspace::Workspace;
use catalog::TableDef;
use ir::{FuncId, SysVar, SystemView};
use planner::SubPlan;
use runtime::task::Many;
use session_table::PrivateTables;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use types::{Pattern, Value};

/// What expressions and plans may ask of the session. The interpreter implements it.
pub trait Environment {
    /// `@@NAME`.
    fn system_variable(&mut self, var: SysVar) -> Value;
    /// Functions of the catalog and the session: OBJECT_ID, DB_NAME, ERROR_NUMBER, SCOPE_IDENTITY ...
    fn session_function(&mut self, func: FuncId, args: &[Value]) -> Result<Value, SqlError>;
    /// The rows of a system view in the order of its columns.
    fn view_rows(&mut self, view: &SystemView, args: &[Value])
    -> Result<Vec<Vec<Value>>, SqlError>;
    /// A user's scalar function, run in the statement's transaction.
    fn scalar_function(
        &mut self,
        object_id: i32,
        args: &[Value],
        txn: Option<&mut engine::Txn>,
    ) -> Result<Value, SqlError> {
        let _ = (object_id, args, txn);
        Err(SqlError::unsupported("a user-defined function here"))
    }
    /// The rows of a user's table-valued function, likewise.
    fn function_rows(
        &mut self,
        object_id: i32,
        args: &[Value],
        txn: Option<&mut engine::Txn>,
    ) -> Result<Vec<Vec<Value>>, SqlError> {
        let _ = (object_id, args, txn);
        Err(SqlError::unsupported("a user-defined function here"))
    }
    /// A user-defined function by its name.
    fn function(&self, name: &ir::ObjectName) -> Option<std::sync::Arc<catalog::ProcedureDef>> {
        let _ = name;
        None
    }
    /// A document of sp_xml_preparedocument by its handle.
    fn prepared_xml(&self, handle: i64) -> Option<std::sync::Arc<functions::openxml::PreparedXml>> {
        let _ = handle;
        None
    }
    /// ARITHABORT and ANSI_WARNINGS are OFF: what overflows, or is divided by zero, is NULL.
    fn arithmetic_yields_null(&self) -> bool {
        false
    }
    /// ANSI_WARNINGS is OFF: a text too long for its column is cut.
    fn cuts_text(&self) -> bool {
        false
    }
    /// The next value of a table's identity column.
    fn next_identity(&mut self, table: &TableDef) -> Result<i64, SqlError>;
    /// The session's own tables.
    fn private(&mut self) -> &mut PrivateTables;
    /// How memory-optimised tables are read here.
    fn memory_access(&self) -> crate::MemoryAccess {
        crate::MemoryAccess::default()
    }
    /// The current database's name, for messages.
    fn database_name(&self) -> String;
    /// A value was given to an identity column explicitly: its numbers go on past it, and it is the last one given.
    fn note_identity(&mut self, table: &TableDef, value: i64) -> Result<(), SqlError> {
        let _ = (table, value);
        Ok(())
    }
    /// What @@IDENTITY and SCOPE_IDENTITY() say.
    fn last_identity(&self) -> LastIdentity {
        LastIdentity::default()
    }
    /// Says that again, whatever has been inserted since.
    fn set_last_identity(&mut self, last: LastIdentity) {
        let _ = last;
    }
    /// A table of the current database by its object id, as the session sees it.
    fn table(&mut self, object_id: i32) -> Option<std::sync::Arc<TableDef>> {
        let _ = object_id;
        None
    }
    /// The query of an indexed view of the current database with changed rows in place of these tables; an error that asks
    /// for a new plan when the view is no longer there.
    fn view_change(
        &mut self,
        view: i32,
        tables: &[i32],
    ) -> Result<Arc<crate::ViewChange>, SqlError> {
        let _ = tables;
        Err(SqlError::unsupported(format!("an indexed view ({view}) here")))
    }
    /// Change tracking of the current database, where it is on or has been.
    fn tracking(&self) -> Option<catalog::DatabaseTracking> {
        None
    }
    /// A transaction in another database, begun, for reading a table there: the session's own, if it has one there, or one
    /// for this reading. An error that asks for a new plan when the table is no longer what the plan knows. 911, 208.
    fn elsewhere(
        &mut self,
        database: &str,
        table: &TableDef,
    ) -> Result<Box<engine::Txn>, SqlError> {
        let _ = table;
        Err(SqlError::unsupported(format!("reading of another database ({database})")))
    }
    /// Some rows have been read there. Gives the transaction back to whoever reads, unless it is the session's own.
    fn back(&mut self, txn: Box<engine::Txn>) -> Option<Box<engine::Txn>> {
        Some(txn)
    }
    /// Memory, files and processors that the instance's statements share; none: the statement is by itself.
    fn workspace(&self) -> Option<Arc<Workspace>> {
        None
    }
    /// What its workload group lets it have.
    fn bounds(&self) -> crate::Bounds {
        crate::Bounds::default()
    }
    /// The session's number.
    fn session(&self) -> u32 {
        0
    }
    /// A statement has written to files for want of memory.
    fn note_spill(&mut self, spilled: &SpillFigures) {
        let _ = spilled;
    }
    /// The statement is to warn of something when it is done.
    fn warn(&mut self, warnings: Warnings) {
        let _ = warnings;
    }
    /// The style of conversions from text to a date that name none: SET DATEFORMAT, in the session's language
    /// and by its 'two digit year cutoff'.
    fn date_style(&self) -> i32 {
        0
    }
    /// SET LANGUAGE, by its place among [`types::languages::LANGUAGES`].
    fn language(&self) -> u8 {
        0
    }
    /// SET DATEFIRST.
    fn date_first(&self) -> u8 {
        7
    }
}

/// The last value given to an identity column: of the session (@@IDENTITY), and of its scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastIdentity {
    pub session: Option<i64>,
    pub scope: Option<i64>,
}

/// The rows that a statement has changed, for its triggers.
#[derive(Default)]
pub struct Changed {
    pub inserted: Many<Vec<Value>>,
    pub deleted: Many<Vec<Value>>,
    /// The rows are only to be told, not changed: a trigger does something instead.
    pub instead: bool,
    /// Rows of other tables that follow by a foreign key are noted too.
    pub follows: bool,
    /// Those, by table and what was done, in the order of their first rows: of a chain the last table comes first.
    pub followed: Vec<Followed>,
}

/// Rows of a table that a foreign key's action has changed.
pub struct Followed {
    pub table: Arc<TableDef>,
    pub event: catalog::Event,
    /// The columns that an UPDATE has set.
    pub set: Vec<usize>,
    pub rows: Changed,
}

/// The context of one statement.
pub struct Cx<'a> {
    /// The frame's variables.
    pub vars: &'a mut [Value],
    /// The session.
    pub env: &'a mut dyn Environment,
    /// The transaction the statement reads and writes in; absent for pure expressions.
    pub txn: Option<&'a mut engine::Txn>,
    /// Set by another thread to stop the statement.
    pub cancel: &'a AtomicBool,
    /// The table whose columns a CAST to a stored value names in errors.
    pub table: Option<&'a TableDef>,
    /// SET ROWCOUNT: the plan stops after so many rows.
    pub row_limit: u64,
    /// Where a statement that fires triggers notes what it changes.
    pub changed: Option<&'a mut Changed>,
    /// Where a statement notes what it changes below indexed views: whoever ends it calls `dml::keep_views`.
    pub view_changes: Option<&'a mut crate::ViewChanges>,
    /// Subqueries of the running plan.
    pub subplans: &'a [SubPlan],
    /// What several operators of it read, where they do.
    spools: Option<Box<Spools<'a>>>,
    /// Correlation parameters of the running plan.
    pub params: Vec<Value>,
    /// Bytes that may be held without asking anybody.
    allowance: usize,
    now_unix_ns: u64,
    rand: Option<f64>,
    /// What singletons do without; see [`Cx::keep`].
    keeping: Option<Box<Keeping>>,
}

/// What several operators of a plan read, and of each what there is so far; absent while it is at work.
struct Spools<'a> {
    nodes: &'a [planner::Node],
    kept: Vec<Option<Box<Spooled<'a>>>>,
}

/// What a plan's operators and expressions keep beside their rows. A context is made for every statement, and this only
/// for those that have something to keep.
#[derive(Default)]
pub(crate) struct Keeping {
    /// Kept results of uncorrelated subqueries, by `SubPlanId`.
    pub subqueries: Vec<Option<Kept>>,
    /// Compiled LIKE patterns, by the address of their expression.
    pub patterns: Vec<(usize, Pattern)>,
    /// What the parts of a long run of operators have come to so far: `ExprKind::Total`.
    pub total: Value,
    /// The xml that a method parsed last, with the number of its schema collection: often the next one is asked of it too.
    pub xml: Option<(types::Text, Option<u32>, Arc<xml::Document>)>,
    /// The full-text condition that was read last, with its language and [`ir::fulltext_flags`].
    pub fulltext: Option<(types::Text, (i64, i64), Arc<fulltext::Search>)>,
    /// Of a branch of a parallel plan: the parts of the table that it shares with the others.
    pub parts: Option<Arc<Parts>>,
    /// It is that of such a branch.
    is_branch: bool,
    /// What it has written to files.
    pub spilled: SpillFigures,
    /// WITH CHANGE_TRACKING_CONTEXT.
    pub tracking_context: Option<Vec<u8>>,
    /// What sorts and hash tables of this statement hold.
    grant: Option<Arc<Grant>>,
}

/// More than so many bytes of the allowance go back to the grant.
const ALLOWANCE_BYTES_MAX: usize = 4 << 20;
/// What is asked of the grant at a time, in bytes, where it is to be had.
const ALLOWANCE_BYTES: usize = 64 << 10;

impl<'a> Cx<'a> {
    /// A context without plan: for expressions of the interpreter.
    pub fn new(
        vars: &'a mut [Value],
        env: &'a mut dyn Environment,
        txn: Option<&'a mut engine::Txn>,
        cancel: &'a AtomicBool,
    ) -> Cx<'a> {
        Cx {
            vars,
            env,
            txn,
            cancel,
            table: None,
            row_limit: u64::MAX,
            changed: None,
            view_changes: None,
            subplans: &[],
            spools: None,
            params: Vec::new(),
            allowance: FREE_BYTES,
            now_unix_ns: 0,
            rand: None,
            keeping: None,
        }
    }

    /// What is kept beside the rows, made at the first call.
    pub(crate) fn keep(&mut self) -> &mut Keeping {
        self.keeping.get_or_insert_default()
    }

    /// What is kept so far.
    #[inline]
    pub(crate) fn kept(&self) -> Option<&Keeping> {
        self.keeping.as_deref()
    }

    /// WITH CHANGE_TRACKING_CONTEXT, of the statement that runs.
    #[inline]
    pub fn tracking_context(&self) -> Option<&[u8]> {
        self.kept()?.tracking_context.as_deref()
    }

    /// Says what it is from now on.
    pub fn set_tracking_context(&mut self, context: Option<Vec<u8>>) {
        self.keep().tracking_context = context;
    }

    /// The parts of the table that a branch shares with the others.
    pub(crate) fn parts(&self) -> Option<&Arc<Parts>> {
        self.kept()?.parts.as_ref()
    }

    /// It is a branch of a parallel plan.
    pub(crate) fn is_branch(&self) -> bool {
        self.kept().is_some_and(|kept| kept.is_branch)
    }

    fn grant(&self) -> Option<&Arc<Grant>> {
        self.kept()?.grant.as_ref()
    }

    /// The same context for as long as this borrow lasts: a plan that lives shorter than the context may be set in it.
    /// The clock's reading goes along if there is one, kept subqueries do not.
    pub fn reborrow(&mut self) -> Cx<'_> {
        let now_unix_ns = self.now_unix_ns;
        let (grant, allowance) = (self.grant().cloned(), self.allowance);
        let mut cx = Cx::new(self.vars, self.env, self.txn.as_deref_mut(), self.cancel);
        cx.table = self.table;
        cx.row_limit = self.row_limit;
        cx.changed = self.changed.as_deref_mut();
        cx.view_changes = self.view_changes.as_deref_mut();
        cx.allowance = allowance;
        if grant.is_some() {
            cx.keep().grant = grant;
        }
        cx.now_unix_ns = now_unix_ns;
        cx.rand = self.rand;
        cx
    }

    /// Takes over the subqueries and parameters of a plan.
    pub fn set_plan(&mut self, subplans: &'a [SubPlan], param_count: usize) {
        self.subplans = subplans;
        self.params.clear();
        self.params.resize(param_count, Value::Null);
        if self.keeping.is_some() || !subplans.is_empty() {
            let kept = &mut self.keep().subqueries;
            kept.clear();
            kept.resize_with(subplans.len(), || None);
        }
    }

    /// Takes over what several operators of a plan read. What was kept for the plan before is let go.
    #[inline]
    pub(crate) fn set_spools(&mut self, nodes: &'a [planner::Node]) {
        if self.spools.is_none() && nodes.is_empty() {
            return;
        }
        if let Some(before) = self.spools.take() {
            before.kept.into_iter().flatten().for_each(|spooled| spooled.end(self));
        }
        if !nodes.is_empty() {
            let kept = nodes.iter().map(|_| None).collect();
            self.spools = Some(Box::new(Spools { nodes, kept }));
        }
    }

    fn spools(&mut self) -> &mut Spools<'a> {
        match &mut self.spools {
            Some(spools) => spools,
            None => stdx::fatal!("a spool is read in a plan without any"),
        }
    }

    /// What there is of a spool, for as long as somebody reads it.
    pub(crate) fn take_spool(&mut self, id: usize) -> Box<Spooled<'a>> {
        let Spools { nodes, kept } = self.spools();
        kept[id].take().unwrap_or_else(|| Box::new(Spooled::begin(&nodes[id])))
    }

    /// Puts it back.
    pub(crate) fn put_spool(&mut self, id: usize, spooled: Box<Spooled<'a>>) {
        self.spools().kept[id] = Some(spooled);
    }

    /// The statement's UTC time in ns since 1970; read at the first call.
    #[inline]
    pub fn now_unix_ns(&mut self) -> u64 {
        if self.now_unix_ns == 0 {
            self.now_unix_ns = runtime::clock::brisk_unix_ns();
        }
        self.now_unix_ns
    }

    /// That time, if it was read.
    #[inline]
    pub fn read_unix_ns(&self) -> Option<u64> {
        (self.now_unix_ns > 0).then_some(self.now_unix_ns)
    }

    /// RAND() of this statement.
    pub(crate) fn rand(&mut self) -> f64 {
        *self
            .rand
            .get_or_insert_with(|| (runtime::random::next_u64() >> 11) as f64 / (1u64 << 53) as f64)
    }

    /// Yields past the quantum, stops a cancelled statement, and one that there is no memory for; called once per batch
    /// of rows.
    #[inline]
    pub fn breathe(&self) -> Result<(), SqlError> {
        runtime::task::breathe()?;
        self.goes_on()
    }

    /// Stops a cancelled statement.
    #[inline]
    pub fn goes_on(&self) -> Result<(), SqlError> {
        if self.cancel.load(Ordering::Relaxed) { Err(cancelled()) } else { Ok(()) }
    }

    /// Notes a changed row for triggers. True: nothing else is to be done.
    #[inline]
    pub fn note_changed(
        &mut self,
        inserted: Option<&[Value]>,
        deleted: Option<Vec<Value>>,
    ) -> Result<bool, SqlError> {
        if self.changed.is_none() {
            return Ok(false);
        }
        self.hold(inserted.map_or(0, row_bytes) + deleted.as_deref().map_or(0, row_bytes))?;
        let Some(changed) = &mut self.changed else { return Ok(false) };
        changed.inserted.extend(inserted.map(<[Value]>::to_vec));
        changed.deleted.extend(deleted);
        Ok(changed.instead)
    }

    /// Notes a row that has followed another, where triggers ask for it.
    pub fn note_followed(
        &mut self,
        table: &Arc<TableDef>,
        set: &[usize],
        old: &[Value],
        new: Option<&[Value]>,
    ) -> Result<(), SqlError> {
        if !self.changed.as_ref().is_some_and(|changed| changed.follows) {
            return Ok(());
        }
        self.hold(row_bytes(old) + new.map_or(0, row_bytes))?;
        let Some(changed) = &mut self.changed else { return Ok(()) };
        let event = if new.is_some() { catalog::Event::Update } else { catalog::Event::Delete };
        let found = changed
            .followed
            .iter()
            .position(|f| f.table.object_id == table.object_id && f.event == event && f.set == set);
        let at = found.unwrap_or_else(|| {
            let (table, rows) = (table.clone(), Changed::default());
            changed.followed.push(Followed { table, event, set: set.to_vec(), rows });
            changed.followed.len() - 1
        });
        let rows = &mut changed.followed[at].rows;
        rows.deleted.push(old.to_vec());
        rows.inserted.extend(new.map(<[Value]>::to_vec));
        Ok(())
    }

    /// Is the change only to be told to a trigger?
    #[inline]
    pub fn is_instead(&self) -> bool {
        self.changed.as_ref().is_some_and(|changed| changed.instead)
    }

    /// Counts memory held by an operator that cannot do with less: 701 when it is not to be had. May wait.
    #[inline]
    pub fn hold(&mut self, bytes: usize) -> Result<(), SqlError> {
        if self.try_hold(bytes)? { Ok(()) } else { Err(no_memory()) }
    }

    /// The same for one that can spill: false when it is not to be had. May wait for the statement's first grant.
    #[inline]
    pub fn try_hold(&mut self, bytes: usize) -> Result<bool, SqlError> {
        if bytes <= self.allowance {
            self.allowance -= bytes;
            return Ok(true);
        }
        self.ask_for(bytes)
    }

    #[cold]
    fn ask_for(&mut self, bytes: usize) -> Result<bool, SqlError> {
        let grant = match self.grant() {
            Some(grant) => grant.clone(),
            None => {
                let session = self.env.session();
                let pool = match self.env.workspace() {
                    Some(workspace) => workspace.memory.clone(),
                    None => MemoryPool::new(UNSHARED_BYTES),
                };
                let grant = pool.acquire(session, self.env.bounds(), self.cancel)?;
                self.keep().grant.insert(grant).clone()
            }
        };
        for ask in [bytes.max(ALLOWANCE_BYTES), bytes] {
            if grant.take(ask) {
                self.allowance += ask - bytes;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Counts one more entry of a hash table whose other rows can be put off (`is_putting_off`: some have been); false
    /// for one that is to be put off. What a turn cannot do without (`must`) is counted whatever is granted.
    pub(crate) fn hold_entry(
        &mut self,
        bytes: usize,
        is_putting_off: bool,
        must: bool,
    ) -> Result<bool, SqlError> {
        if !is_putting_off && self.try_hold(bytes)? {
            return Ok(true);
        }
        if must {
            self.force_hold(bytes)?;
        }
        Ok(must)
    }

    /// A hash table has written so many bytes to files.
    pub(crate) fn note_hash_spill(&mut self, bytes: u64) {
        let spilled = &mut self.keep().spilled;
        spilled.hashes += 1;
        spilled.hash_pages += bytes.div_ceil(8192);
    }

    /// Counts what an operator cannot do without, whatever is granted.
    pub(crate) fn force_hold(&mut self, bytes: usize) -> Result<(), SqlError> {
        if !self.try_hold(bytes)?
            && let Some(grant) = self.grant()
        {
            grant.force(bytes);
        }
        Ok(())
    }

    /// What was counted by [`Cx::hold`] is let go.
    pub fn release(&mut self, bytes: usize) {
        self.allowance += bytes;
        if self.allowance > ALLOWANCE_BYTES_MAX
            && let Some(grant) = self.grant()
        {
            grant.give_back(self.allowance - ALLOWANCE_BYTES);
            self.allowance = ALLOWANCE_BYTES;
        }
    }

    /// Takes back what [`Cx::reborrow`] lent, and what was done meanwhile.
    pub fn take_back(&mut self, lent: Lent) {
        self.allowance = lent.allowance;
        if let Some(theirs) = lent.keeping {
            let ours = self.keep();
            ours.grant = ours.grant.take().or(theirs.grant);
            ours.spilled.add(&theirs.spilled);
        }
    }

    /// What is to be given back to the context that this one was made from.
    pub fn lent(self) -> Lent {
        Lent { allowance: self.allowance, keeping: self.keeping }
    }

    /// The statement's grant, for a branch to hold from too. May wait for it.
    pub(crate) fn share_grant(&mut self) -> Result<Arc<Grant>, SqlError> {
        if self.grant().is_none() {
            self.ask_for(0)?;
        }
        match self.grant() {
            Some(grant) => Ok(grant.clone()),
            None => Err(no_memory()),
        }
    }

    /// Makes this the context of a branch.
    pub(crate) fn begin_branch(&mut self, grant: Arc<Grant>, now_unix_ns: u64) {
        let keeping = self.keep();
        keeping.grant = Some(grant);
        keeping.is_branch = true;
        self.allowance = 0;
        self.now_unix_ns = now_unix_ns;
    }

    /// A branch has ended: what it holds still is given back, what it has done is counted.
    pub(crate) fn join_branch(&mut self, lent: Lent) {
        if let Some(grant) = self.grant() {
            grant.give_back(lent.allowance);
        }
        if let Some(theirs) = lent.keeping {
            self.keep().spilled.add(&theirs.spilled);
        }
    }

    /// A new file for what does not fit; 701 where there is no place for one.
    pub(crate) fn spill_file(&mut self) -> Result<Arc<SpillFile>, SqlError> {
        let workspace = self.env.workspace().ok_or_else(no_memory)?;
        match &workspace.spill {
            Some(space) => SpillFile::create(space),
            None => Err(no_memory()),
        }
    }
}

/// See [`Cx::lent`].
pub struct Lent {
    allowance: usize,
    keeping: Option<Box<Keeping>>,
}

/// The memory of a statement that belongs to no instance, as a pool of which it may have a part.
const UNSHARED_BYTES: usize = 2 << 30;

/// 701.
pub fn no_memory() -> SqlError {
    functions::no_memory().into()
}
