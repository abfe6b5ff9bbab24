//! What a session has learnt about a program's statements: their plans, and the buffers and hints of the fast ones.
//!
//! Promise: a plan is used only under the version of the catalog that bound it. Nothing here is shared between
//! sessions, so running a statement touches no reference count.

use crate::figures::Meter;
use crate::insert::FastInsert;
use crate::plan_cache::SessionPlan;
use crate::point::FastPoint;
use catalog::ProcedureDef;
use commands::Watch;
use dml::{Kept, PointChange, PointMerge};
use ir::{QueryHints, StmtKind, There, VarId};
use planner::{
    DeletePlan, ExprPlan, InsertPlan, InsertSource, Known, MergePlan, SelectPlan, UpdatePlan,
};
use session_state::NamesVersion;
use smallvec::SmallVec;
use std::cell::OnceCell;
use std::sync::Arc;
use types::Value;

/// What a condition was bound under.
pub(crate) type Version = (NamesVersion, Option<u64>);

/// Beside a [`crate::code::Code`]: one entry per statement and per condition.
pub(crate) struct CodeState {
    pub statements: Vec<Option<Box<Planned>>>,
    pub conditions: Vec<Option<(Version, Box<ExprPlan>)>>,
    /// What its statements use.
    pub meter: Meter,
    /// A frame like the template of its code; empty: none is kept.
    frame: Vec<Value>,
}

/// Frames of more registers are not kept here.
const FRAME_MAX: usize = 256;

impl CodeState {
    pub fn new(code: &SessionPlan) -> CodeState {
        CodeState {
            meter: code.meter(),
            statements: std::iter::repeat_with(|| None).take(code.statements.len()).collect(),
            conditions: std::iter::repeat_with(|| None).take(code.conditions.len()).collect(),
            frame: Vec::new(),
        }
    }

    /// A frame ready to run, of this state's own code, whose template this is; where none is kept, `memory` gives an empty one.
    #[inline]
    pub fn take_frame(
        &mut self,
        template: &[Value],
        memory: impl FnOnce() -> Vec<Value>,
    ) -> Vec<Value> {
        if self.frame.len() == template.len() {
            return std::mem::take(&mut self.frame);
        }
        let mut frame = memory();
        frame.extend_from_slice(template);
        frame
    }

    /// A frame that has run, for the next time: what the template has not is taken out; nobody writes a constant's register.
    /// One that is too large comes back.
    #[inline]
    pub fn keep_frame(&mut self, template: &[Value], mut frame: Vec<Value>) -> Option<Vec<Value>> {
        if frame.len() > FRAME_MAX {
            return Some(frame);
        }
        for (value, first) in frame.iter_mut().zip(template) {
            if first.is_null() && !value.is_null() {
                *value = Value::Null;
            }
        }
        debug_assert!(frame == template, "a constant's register was written");
        self.frame = frame;
        None
    }
}

/// A statement, planned.
pub(crate) struct Planned {
    pub version: NamesVersion,
    /// Generation of the session's temporary tables, if it names one. A [`Body::FastInsert`] never does.
    pub private: Option<u64>,
    /// The statistics that the plan rests on.
    pub watch: Watch,
    pub body: Body,
    pub called: Called,
}

/// For each parameter of a procedure its argument; none: its default.
pub(crate) type Places = SmallVec<[Option<u16>; 16]>;

/// The procedure that an EXEC named when it last ran, and the names under which it was found. What is not in the catalog
/// (a temporary procedure, a system one) is looked for each time.
#[derive(Default)]
pub(crate) struct Called(Option<Found>);

struct Found {
    version: NamesVersion,
    definition: Arc<ProcedureDef>,
    /// Where the arguments go, known since the first usual call; none: it is not one.
    places: OnceCell<Option<Places>>,
}

impl Called {
    /// If names are still what they were.
    #[inline]
    pub fn get(&self, now: &NamesVersion) -> Option<&Arc<ProcedureDef>> {
        self.0.as_ref().filter(|found| found.version == *now).map(|found| &found.definition)
    }

    pub fn keep(&mut self, now: NamesVersion, found: &Arc<ProcedureDef>) {
        self.0 = Some(Found { version: now, definition: found.clone(), places: OnceCell::new() });
    }

    /// Where the arguments go of the procedure that it has found, as `find` says the first time.
    #[inline]
    pub fn places(&self, find: impl FnOnce() -> Option<Places>) -> Option<&Places> {
        self.0.as_ref()?.places.get_or_init(find).as_ref()
    }
}

impl Body {
    /// Runs in less time than two readings of the clock may take.
    pub fn is_fast(&self) -> bool {
        match self {
            Body::FastInsert(_)
            | Body::FastPoint(_)
            | Body::PointChange(_)
            | Body::PointMerge(..) => true,
            Body::Insert(insert, _) => {
                matches!(&insert.source, InsertSource::Values { subplans, .. } if subplans.is_empty())
                    && insert.fires.is_none()
            }
            _ => false,
        }
    }

    /// Its use is counted statement by statement: not that of what has no plan of its own and is run over and over, a
    /// call (what is called is counted itself) and SET.
    pub fn is_counted(&self) -> bool {
        !matches!(self, Body::Other(StmtKind::Exec(_) | StmtKind::Set(_)))
    }
}

pub(crate) enum Body {
    FastInsert(FastInsert),
    FastPoint(FastPoint),
    PointChange(Box<PointChange>),
    Select(SelectPlan),
    Insert(InsertPlan, Kept),
    Update(UpdatePlan, Kept),
    Delete(DeletePlan, Kept),
    Merge(MergePlan, Kept),
    /// And in general, where the short way does not apply.
    PointMerge(Box<PointMerge>, MergePlan, Kept),
    SetVars(Vec<(VarId, ExprPlan)>),
    There(Box<ThereBody>),
    /// Run from the IR itself.
    Other(StmtKind),
}

/// A change of rows in another database, planned as far as that is possible from here.
pub(crate) struct ThereBody {
    pub bound: There,
    /// What is evaluated here.
    pub here: Vec<ExprPlan>,
    /// Over there.
    pub planned: Option<Box<Planned>>,
}

impl ThereBody {
    /// Of a statement whose frame has so many registers.
    pub fn new(there: &There, registers: usize) -> Box<ThereBody> {
        let mut bound = there.clone();
        bound.place(registers as u32);
        let here = there.here.iter().map(planner::plan_expr).collect();
        Box::new(ThereBody { bound, here, planned: None })
    }
}

/// Plans a bound statement without the short ways of singletons: every operator is there.
pub(crate) fn plan_in_general(kind: &StmtKind, known: &Known) -> Body {
    match kind {
        StmtKind::Select(select) => Body::Select(planner::plan_select(select, known)),
        StmtKind::Insert(insert) => {
            Body::Insert(planner::plan_insert(insert, known), Kept::default())
        }
        other => planned_otherwise(other, known),
    }
}

/// Plans a bound statement.
pub(crate) fn plan(kind: &StmtKind, known: &Known, db: &std::sync::Arc<engine::Database>) -> Body {
    match kind {
        StmtKind::Select(select) => {
            let plan = planner::plan_select(select, known);
            match FastPoint::new(&plan, db) {
                Some(fast) => Body::FastPoint(fast),
                None => Body::Select(plan),
            }
        }
        StmtKind::Insert(insert) => {
            let plan = planner::plan_insert(insert, known);
            match FastInsert::new(&plan, db) {
                Some(fast) => Body::FastInsert(fast),
                None => Body::Insert(plan, Kept::default()),
            }
        }
        StmtKind::Update(update) if !recompiles(kind) => {
            let plan = planner::plan_update(update, known);
            match PointChange::of_update(&plan, db) {
                Some(change) => Body::PointChange(Box::new(change)),
                None => Body::Update(plan, Kept::default()),
            }
        }
        StmtKind::Delete(delete) if !recompiles(kind) => {
            let plan = planner::plan_delete(delete, known);
            match PointChange::of_delete(&plan, db) {
                Some(change) => Body::PointChange(Box::new(change)),
                None => Body::Delete(plan, Kept::default()),
            }
        }
        StmtKind::Merge(merge) if !recompiles(kind) => {
            let plan = planner::plan_merge(merge, known);
            match PointMerge::of(&plan, db) {
                Some(point) => Body::PointMerge(Box::new(point), plan, Kept::default()),
                None => Body::Merge(plan, Kept::default()),
            }
        }
        other => planned_otherwise(other, known),
    }
}

/// What has one way of running only.
fn planned_otherwise(kind: &StmtKind, known: &Known) -> Body {
    match kind {
        StmtKind::Update(update) => {
            Body::Update(planner::plan_update(update, known), Kept::default())
        }
        StmtKind::Delete(delete) => {
            Body::Delete(planner::plan_delete(delete, known), Kept::default())
        }
        StmtKind::Merge(merge) => Body::Merge(planner::plan_merge(merge, known), Kept::default()),
        StmtKind::SetVars(sets) => {
            Body::SetVars(sets.iter().map(|(v, e)| (*v, planner::plan_expr(e))).collect())
        }
        // What has no plan is run as it is.
        other => Body::Other(other.clone()),
    }
}

/// Whether a bound statement depends on the catalog.
pub(crate) fn depends_on_catalog(statement: &ir::Stmt) -> bool {
    statement.source.is_some()
}

/// Is it to be planned anew for each run?
pub(crate) fn recompiles(kind: &StmtKind) -> bool {
    hints(kind).is_some_and(|hints| hints.recompile)
}

/// The OPTION clause of a statement that has a query.
pub(crate) fn hints(kind: &StmtKind) -> Option<&QueryHints> {
    kind.query().map(|query| &query.hints)
}
