//! Compiled batches, parameterised texts and procedures, shared by all sessions.
//!
//! ```text
//! first level    TextCache and SessionState::procedures, a session's own: what it runs again
//! second level   this one: what any session has compiled, asked where the first level has nothing
//! ```
//!
//! Promises: a plan is used only in the database (as opened) and under the settings that it was compiled for, a
//! procedure's only for the same version of its definition; names in it are looked up again when the catalog has moved,
//! so DDL never makes it wrong. A session that runs what it has run before does not come here. The plans take at most
//! [`BYTES_MAX`] by their own estimate; those go first that nobody holds and nobody has met since the last round. What nobody
//! holds gives way where memory is short ([`runtime::shortage`]).
//!
//! Under 'optimize for ad hoc workloads' the first batch of a text leaves a *stub* here, its text without a program, which says
//! that it was met; the second one leaves the plan.
//!
//! Invariants: a shard's `bytes` is the sum over its plans; `round` names every plan of the shard once, oldest first.

use crate::cache::Setting;
use crate::code::Code;
use crate::figures::{Cells, Meter, StatementFigures};
use catalog::Catalog;
use ir::{Data, StmtKind};
use parking_lot::Mutex;
use runtime::memory;
use runtime::shortage::Gives;
use runtime::task::NoSuspend;
use std::collections::{HashMap, VecDeque};
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock, Weak};
use syntax::ast::StatementKind;

/// Shards, a lock each.
const SHARDS: usize = 16;
/// Bits of a hash that do not say which shard its plan is in.
const SHARD_SHIFT: u32 = 64 - SHARDS.ilog2();
/// The most that all plans may take, in bytes.
pub const BYTES_MAX: usize = 64 << 20;

/// Plans that a shard lets go between two looks at how much that was.
const GIVEN_AT_A_TIME: usize = 16;

/// What a plan is of, as sys.dm_exec_cached_plans calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanKind {
    /// A batch.
    Adhoc,
    /// A parameterised text.
    Prepared,
    /// A procedure.
    Proc,
}

impl PlanKind {
    /// `objtype`.
    pub fn name(self) -> &'static str {
        match self {
            PlanKind::Adhoc => "Adhoc",
            PlanKind::Prepared => "Prepared",
            PlanKind::Proc => "Proc",
        }
    }
}

/// What a plan is found by.
#[derive(Clone, Copy)]
pub(crate) struct Key<'a> {
    /// The database as it is open now.
    pub catalog: &'a Arc<Catalog>,
    pub setting: Setting,
    pub what: What<'a>,
}

#[derive(Clone, Copy)]
pub(crate) enum What<'a> {
    Text { hash: u64, declarations: Option<&'a str>, text: &'a str },
    Procedure { object_id: i32, version: u64 },
}

impl Key<'_> {
    fn hash(&self) -> u64 {
        match self.what {
            What::Text { hash, .. } => hash,
            What::Procedure { object_id, .. } => {
                let database = u64::from(self.setting.database);
                let object = stdx::mix64(database << 32 | u64::from(object_id.cast_unsigned()));
                // Its shard is the same under all settings.
                object ^ stdx::mix64(u64::from(self.setting.options)) >> (64 - SHARD_SHIFT)
            }
        }
    }
}

/// A compiled program that sessions share.
pub struct CachedPlan {
    number: u64,
    pub(crate) code: Code,
    catalog: Weak<Catalog>,
    setting: Setting,
    /// Of a procedure: that of its definition.
    version: u64,
    created_unix_ns: u64,
    bytes: usize,
    sql_handle: OnceLock<Vec<u8>>,
    /// Met since eviction last came by.
    met: AtomicBool,
    /// Nobody is to use it any more.
    gone: AtomicBool,
    /// Only its text is there.
    is_stub: bool,
    figures: Mutex<Figures>,
}

/// Figures of sessions that have let it go, cells of those that hold it.
#[derive(Default)]
struct Figures {
    past: Vec<StatementFigures>,
    past_whole: StatementFigures,
    past_uses: u64,
    cells: Vec<Arc<Cells>>,
}

/// A statement of a plan, with what it has used.
#[derive(Clone, Debug)]
pub struct PlanStatement {
    /// Where it stands in the plan's text, in bytes of UTF-16.
    pub start: i32,
    /// Likewise: of its last character.
    pub end: i32,
    /// Its text.
    pub text: String,
    /// What it has used.
    pub figures: StatementFigures,
}

impl CachedPlan {
    /// A number that no other plan of this process has.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// `plan_handle`.
    pub fn handle(&self) -> Vec<u8> {
        crate::handles::plan_handle(self.setting.database, self.number)
    }

    /// `sql_handle`: that of its text.
    pub fn sql_handle(&self) -> &[u8] {
        self.sql_handle.get_or_init(|| crate::handles::sql_handle(&self.text()))
    }

    /// What it is of.
    pub fn kind(&self) -> PlanKind {
        match (&self.code.name, &self.code.declarations) {
            (Some(_), _) => PlanKind::Proc,
            (None, Some(_)) => PlanKind::Prepared,
            (None, None) => PlanKind::Adhoc,
        }
    }

    /// Only that it was met is kept, and its text: `Compiled Plan Stub`.
    pub fn is_stub(&self) -> bool {
        self.is_stub
    }

    /// Its text as a client sees it: before that of a parameterised one stand its declarations.
    pub fn text(&self) -> String {
        match &self.code.declarations {
            Some(declarations) => format!("({declarations}){}", self.code.program.text),
            None => self.code.program.text.to_string(),
        }
    }

    /// The database it was compiled in.
    pub fn database_id(&self) -> u16 {
        self.setting.database
    }

    /// Of a procedure: its object id.
    pub fn object_id(&self) -> Option<i32> {
        (self.kind() == PlanKind::Proc).then_some(self.code.object_id)
    }

    /// UTC, ns since 1970: when it was compiled.
    pub fn created_unix_ns(&self) -> u64 {
        self.created_unix_ns
    }

    /// Bytes that it takes, at a guess.
    pub fn size_bytes(&self) -> usize {
        self.bytes
    }

    /// How many sessions hold it, and the cache.
    pub fn holders(&self) -> usize {
        1 + self.figures.lock().cells.len()
    }

    /// How often it was taken to be run.
    pub fn uses(&self) -> u64 {
        let figures = self.figures.lock();
        figures.past_uses + figures.cells.iter().map(|cells| cells.uses()).sum::<u64>()
    }

    /// Its queries and changes that have run.
    pub fn statements(&self) -> Vec<PlanStatement> {
        let text = &*self.code.program.text;
        let figures = self.figures.lock();
        let mut found = Vec::new();
        for (i, statement) in self.code.statements.iter().enumerate() {
            let live = figures.cells.iter().map(|cells| cells.read(i));
            let past = figures.past.get(i).copied().unwrap_or_default();
            let sum = live.fold(past, |sum, more| sum.plus(&more));
            if sum.executions == 0 || !is_query(statement) {
                continue;
            }
            let Some((start, end)) = self.place_of(statement) else { continue };
            let span = statement.span.start as usize..statement.span.end as usize;
            found.push(PlanStatement { start, end, text: text[span].to_owned(), figures: sum });
        }
        found
    }

    /// What its calls have used as a whole, for a procedure or function that was called.
    pub fn calls(&self) -> Option<StatementFigures> {
        let figures = self.figures.lock();
        let live = figures.cells.iter().map(|cells| cells.read_whole());
        let sum = live.fold(figures.past_whole, |sum, more| sum.plus(&more));
        (sum.executions > 0).then_some(sum)
    }

    /// The kind of module that it is of; none of a text.
    pub fn module_kind(&self) -> Option<catalog::ModuleKind> {
        let id = self.object_id()?;
        match self.catalog.upgrade()?.object_by_id(id)? {
            catalog::ObjectRef::Procedure(module) => Some(module.kind),
            catalog::ObjectRef::Table(_) => None,
        }
    }

    /// The settings that it was compiled under, as the bits of `SetOptions::meaning`.
    pub fn settings(&self) -> u32 {
        self.setting.options
    }

    /// First and last character of a statement, in bytes of UTF-16 of the text as clients see it.
    pub(crate) fn place_of(&self, stmt: &ir::Stmt) -> Option<(i32, i32)> {
        let text = &*self.code.program.text;
        let (start, end) = (stmt.span.start as usize, stmt.span.end as usize);
        // Declarations come first, in parentheses.
        let before = self.code.declarations.as_ref().map_or(0, |d| utf16_bytes(d) + 4);
        let first = before + utf16_bytes(text.get(..start)?);
        let last = (first + utf16_bytes(text.get(start..end)?)).saturating_sub(2);
        Some((first as i32, last as i32))
    }

    /// A session begins to hold it.
    pub(crate) fn enter(&self, cells: &Arc<Cells>) {
        self.figures.lock().cells.push(cells.clone());
    }

    /// A session lets it go.
    pub(crate) fn leave(&self, cells: &Arc<Cells>) {
        let figures = &mut *self.figures.lock();
        figures.cells.retain(|other| !Arc::ptr_eq(other, cells));
        figures.past_uses += cells.uses();
        figures.past_whole = figures.past_whole.plus(&cells.read_whole());
        figures.past.resize(self.code.statements.len(), StatementFigures::default());
        for (i, past) in figures.past.iter_mut().enumerate() {
            *past = past.plus(&cells.read(i));
        }
    }

    fn is_of(&self, key: &Key<'_>) -> bool {
        let same_place = self.setting == key.setting
            && std::ptr::eq(self.catalog.as_ptr(), Arc::as_ptr(key.catalog));
        same_place
            && match key.what {
                What::Text { declarations, text, .. } => {
                    self.code.name.is_none()
                        && *self.code.program.text == *text
                        && self.code.declarations.as_deref() == declarations
                }
                What::Procedure { object_id, version } => {
                    self.code.name.is_some()
                        && self.code.object_id == object_id
                        && self.version == version
                }
            }
            // The types of its variables are looked up when it is compiled, and only then.
            && ((self.code.tables.is_empty() && !self.code.program.aliases)
                || self.code.program.catalog_version == key.catalog.version())
    }

    /// It is of the key's procedure as that was defined before.
    fn is_before(&self, key: &Key<'_>) -> bool {
        let What::Procedure { object_id, version } = key.what else { return false };
        self.code.name.is_some()
            && self.code.object_id == object_id
            && self.setting.database == key.setting.database
            && (self.version != version
                || !std::ptr::eq(self.catalog.as_ptr(), Arc::as_ptr(key.catalog)))
    }
}

/// Whether a statement is one of those that SQL Server keeps statistics of.
fn is_query(statement: &ir::Stmt) -> bool {
    use StatementKind::{Delete, Insert, Select, Update};
    match &statement.kind {
        StmtKind::There(_) => true,
        StmtKind::Deferred => statement.source.as_ref().is_some_and(|source| {
            matches!(source.kind, Select(_) | Insert(_) | Update(_) | Delete(_))
        }),
        kind => match kind.data() {
            Data::Select(_) | Data::Insert(_) | Data::Update(_) | Data::Delete(_) => true,
            Data::Merge(_) | Data::Cursor(_) | Data::SetVars(_) | Data::Return(_) | Data::None => {
                false
            }
        },
    }
}

/// Bytes of a text in UTF-16.
fn utf16_bytes(text: &str) -> usize {
    2 * text.chars().map(char::len_utf16).sum::<usize>()
}

/// A plan as one session holds it: its own count of references, so that taking it touches no memory of others.
pub(crate) struct SessionPlan {
    shared: Arc<CachedPlan>,
    is_shared: bool,
}

impl SessionPlan {
    /// A plan for this session alone.
    pub fn alone(code: Code) -> Arc<SessionPlan> {
        let setting = Setting { database: 0, options: 0 };
        let shared = Arc::new(CachedPlan::new(0, code, Weak::new(), setting, 0));
        Arc::new(SessionPlan { shared, is_shared: false })
    }

    fn of(shared: Arc<CachedPlan>) -> Arc<SessionPlan> {
        Arc::new(SessionPlan { shared, is_shared: true })
    }

    /// Where its executions are counted.
    pub fn meter(&self) -> Meter {
        match self.is_shared {
            true => Meter::of(&self.shared, self.shared.code.statements.len()),
            false => Meter::default(),
        }
    }

    /// It was thrown out: the next to need it compiles it again.
    #[inline]
    pub fn is_gone(&self) -> bool {
        self.shared.gone.load(Relaxed)
    }

    /// What its program takes, in bytes at a guess.
    pub fn bytes(&self) -> usize {
        self.shared.bytes
    }

    /// Its number in the cache; 0 when it is not there.
    #[inline]
    pub fn number(&self) -> u64 {
        if self.is_shared { self.shared.number } else { 0 }
    }
}

impl Deref for SessionPlan {
    type Target = Code;

    #[inline]
    fn deref(&self) -> &Code {
        &self.shared.code
    }
}

#[derive(Default)]
struct Shard {
    plans: HashMap<u64, Arc<CachedPlan>>,
    round: VecDeque<u64>,
    bytes: usize,
}

impl Shard {
    fn remove(&mut self, hash: u64) -> Option<Arc<CachedPlan>> {
        let plan = self.plans.remove(&hash)?;
        self.bytes -= plan.bytes;
        Some(plan)
    }

    /// Throws out, into `gone`, the plans that `which` chooses.
    fn throw_out(
        &mut self,
        which: impl Fn(u64, &CachedPlan) -> bool,
        gone: &mut Vec<Arc<CachedPlan>>,
    ) {
        let all = self.plans.iter();
        let chosen: Vec<u64> =
            all.filter(|(at, plan)| which(**at, plan)).map(|(at, _)| *at).collect();
        for hash in chosen {
            self.round.retain(|other| *other != hash);
            if let Some(plan) = self.remove(hash) {
                plan.gone.store(true, Relaxed);
                gone.push(plan);
            }
        }
    }

    /// Lets some plans go, into `gone`, that nobody holds: the oldest.
    fn let_go(&mut self, count: usize, gone: &mut Vec<Arc<CachedPlan>>) {
        for _ in 0..self.round.len() {
            if gone.len() == count {
                return;
            }
            let Some(hash) = self.round.pop_front() else { return };
            match self.plans.get(&hash) {
                Some(plan) if Arc::strong_count(plan) > 1 => self.round.push_back(hash),
                _ => gone.extend(self.remove(hash)),
            }
        }
    }

    /// Lets plans go, into `gone`, until `bytes` more fit.
    fn make_room(&mut self, bytes: usize, bytes_max: usize, gone: &mut Vec<Arc<CachedPlan>>) {
        // Twice round: the first time those that were met get off.
        for _ in 0..2 * self.round.len() {
            if self.bytes + bytes <= bytes_max {
                return;
            }
            let Some(hash) = self.round.pop_front() else { return };
            let Some(plan) = self.plans.get(&hash) else { continue };
            if plan.met.swap(false, Relaxed) || Arc::strong_count(plan) > 1 {
                self.round.push_back(hash);
            } else {
                gone.extend(self.remove(hash));
            }
        }
        // All are held: the oldest are forgotten here, and live as long as their sessions need them.
        while self.bytes + bytes > bytes_max {
            let Some(hash) = self.round.pop_front() else { return };
            gone.extend(self.remove(hash));
        }
    }
}

/// The plans that sessions share.
pub struct PlanCache {
    shards: [Mutex<Shard>; SHARDS],
    last_number: AtomicU64,
    shard_bytes_max: usize,
    /// The first batch of a text leaves a stub.
    stubs_first: AtomicBool,
    /// Of texts, and of modules.
    asked: [Asked; 2],
}

/// How often a plan was looked for here, and found.
#[derive(Default)]
struct Asked {
    lookups: AtomicU64,
    hits: AtomicU64,
}

/// How often plans of a kind were looked for in the cache, and found, since the server began. What a session has at hand
/// itself it does not look for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CacheLookups {
    /// However they ended.
    pub lookups: u64,
    /// Of them with a plan.
    pub hits: u64,
}

impl Default for PlanCache {
    fn default() -> PlanCache {
        PlanCache::new(BYTES_MAX)
    }
}

impl PlanCache {
    /// An empty one that takes at most so many bytes.
    pub fn new(bytes_max: usize) -> PlanCache {
        PlanCache {
            shards: Default::default(),
            last_number: AtomicU64::new(0),
            shard_bytes_max: bytes_max / SHARDS,
            stubs_first: AtomicBool::new(false),
            asked: Default::default(),
        }
    }

    /// Those of texts, and of modules.
    pub fn lookups(&self) -> [CacheLookups; 2] {
        self.asked.each_ref().map(|asked| CacheLookups {
            lookups: asked.lookups.load(Relaxed),
            hits: asked.hits.load(Relaxed),
        })
    }

    /// 'optimize for ad hoc workloads': from now on. What is there stays.
    pub fn set_stubs_first(&self, on: bool) {
        self.stubs_first.store(on, Relaxed);
    }

    fn shard(&self, hash: u64) -> &Mutex<Shard> {
        &self.shards[(hash >> SHARD_SHIFT) as usize]
    }

    /// A plan that some session has compiled.
    pub(crate) fn find(&self, key: &Key<'_>) -> Option<Arc<SessionPlan>> {
        let hash = key.hash();
        let asked = &self.asked[usize::from(matches!(key.what, What::Procedure { .. }))];
        asked.lookups.fetch_add(1, Relaxed);
        let plan = self.shard(hash).lock().plans.get(&hash)?.clone();
        if plan.is_stub || !plan.is_of(key) {
            return None;
        }
        asked.hits.fetch_add(1, Relaxed);
        plan.met.store(true, Relaxed);
        Some(SessionPlan::of(plan))
    }

    /// Keeps what was compiled, for everyone, in the place of what the key has named before, and of what its procedure was
    /// under other settings before it was altered.
    pub(crate) fn keep(&self, key: &Key<'_>, code: Code) -> Arc<SessionPlan> {
        let version = match key.what {
            What::Procedure { version, .. } => version,
            What::Text { .. } => 0,
        };
        let number = 1 + self.last_number.fetch_add(1, Relaxed);
        let catalog = Arc::downgrade(key.catalog);
        let plan = Arc::new(CachedPlan::new(number, code, catalog.clone(), key.setting, version));
        let hash = key.hash();
        let stub = match plan.kind() {
            PlanKind::Adhoc if self.stubs_first.load(Relaxed) => {
                Some(Arc::new(CachedPlan::stub(number, &plan, catalog)))
            }
            _ => None,
        };
        // Dropped when the lock no longer is held: a plan may be as large as a text.
        let mut gone = Vec::new();
        let _held = NoSuspend::new();
        let shard = &mut *self.shard(hash).lock();
        let other = shard.plans.get(&hash).filter(|other| other.is_of(key)).cloned();
        let is_first = match &other {
            // Another session was faster.
            Some(other) if !other.is_stub => return SessionPlan::of(other.clone()),
            other => other.is_none(),
        };
        if shard.plans.contains_key(&hash) || matches!(key.what, What::Procedure { .. }) {
            shard.throw_out(|other, plan| other == hash || plan.is_before(key), &mut gone);
        }
        let stub = stub.filter(|_| is_first);
        let kept = stub.as_ref().unwrap_or(&plan);
        if kept.bytes <= self.shard_bytes_max {
            shard.make_room(kept.bytes, self.shard_bytes_max, &mut gone);
            shard.round.push_back(hash);
            shard.bytes += kept.bytes;
            shard.plans.insert(hash, kept.clone());
        }
        Arc::new(SessionPlan { shared: plan, is_shared: stub.is_none() })
    }

    /// All plans, oldest first.
    pub fn plans(&self) -> Vec<Arc<CachedPlan>> {
        let mut all = Vec::new();
        for shard in &self.shards {
            all.extend(shard.lock().plans.values().cloned());
        }
        all.sort_unstable_by_key(|plan| plan.number);
        all
    }

    /// Throws out the plans that `which` chooses; sessions that hold one compile it again when they meet it next.
    pub fn throw_out(&self, which: impl Fn(&CachedPlan) -> bool) -> usize {
        let mut gone = Vec::new();
        let _held = NoSuspend::new();
        for shard in &self.shards {
            shard.lock().throw_out(|_, plan| which(plan), &mut gone);
        }
        gone.len()
    }
}

/// Plans that no session holds can be had again, for the price of compiling.
impl Gives for PlanCache {
    fn give(&self, bytes: u64) -> u64 {
        let mut given = 0;
        let _held = NoSuspend::new();
        for shard in &self.shards {
            // One whose lock is held is left alone: who asks may be wherever memory is taken.
            while given < bytes
                && let Some(mut locked) = shard.try_lock()
            {
                let mut gone = Vec::new();
                locked.let_go(GIVEN_AT_A_TIME, &mut gone);
                drop(locked);
                if gone.is_empty() {
                    break;
                }
                given += memory::freed_by(|| drop(gone));
            }
        }
        given
    }

    fn has_more(&self) -> bool {
        false
    }
}

impl CachedPlan {
    fn new(
        number: u64,
        code: Code,
        catalog: Weak<Catalog>,
        setting: Setting,
        version: u64,
    ) -> CachedPlan {
        CachedPlan {
            number,
            bytes: size_of(&code),
            code,
            catalog,
            setting,
            version,
            created_unix_ns: runtime::clock::coarse_unix_ns(),
            sql_handle: OnceLock::new(),
            met: AtomicBool::new(true),
            gone: AtomicBool::new(false),
            is_stub: false,
            figures: Mutex::default(),
        }
    }

    /// What is kept of a batch that was met for the first time.
    fn stub(number: u64, plan: &CachedPlan, catalog: Weak<Catalog>) -> CachedPlan {
        let text = plan.code.program.text.clone();
        let program = Arc::new(ir::Program { text, ..ir::Program::default() });
        let code = Code { program, ..Code::default() };
        CachedPlan {
            bytes: std::mem::size_of::<CachedPlan>() + code.program.text.len(),
            is_stub: true,
            figures: Mutex::new(Figures { past_uses: 1, ..Figures::default() }),
            ..CachedPlan::new(number, code, catalog, plan.setting, 0)
        }
    }
}

/// What the smallest program takes beside its text, in bytes: 17,351 texts of one statement took 195 MB.
const OWN_BYTES: usize = 7 << 10;

/// Bytes of a program at a guess: its text, the trees of syntax and meaning (some 40 times their text, as measured over
/// Northwind's procedures), its instructions, and what each has whatever its text.
fn size_of(code: &Code) -> usize {
    let text = code.program.text.len();
    std::mem::size_of::<CachedPlan>()
        + OWN_BYTES
        + text * 40
        + size_of_val(&code.ops[..])
        + size_of_val(&code.template[..])
        + code.statements.len() * 256
}

#[cfg(test)]
mod tests;
