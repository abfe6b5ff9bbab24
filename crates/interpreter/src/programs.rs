//! What a session has compiled: its programs and what it has learnt of them, its cursors, frames to run in.
//!
//! Promise: nothing here is shared but the plan cache; what was compiled in a database is not found after the session has
//! left it, and what was under options that give texts another meaning only under these.

use crate::cache::TextCache;
use crate::cursor::Cursors;
use crate::plan::CodeState;
use crate::plan_cache::{PlanCache, SessionPlan};
use catalog::ProcedureDef;
use session_state::{Machine, OpenDatabase, Recoverable, SessionState};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use stdx::NumberMap;
use types::Value;

/// Modules whose compiled form outlives a reset of the connection.
const PROCEDURES_MAX: usize = 256;

/// A session, and what it has compiled.
pub struct Session {
    pub state: SessionState,
    pub programs: Programs,
}

impl Session {
    /// What it would be recovered to if its connection broke now.
    pub fn recoverable(&self) -> Recoverable {
        let mut recoverable = self.state.recoverable();
        recoverable.whole &= self.programs.cursors.are_none();
        recoverable
    }
}

impl Deref for Session {
    type Target = SessionState;

    fn deref(&self) -> &SessionState {
        &self.state
    }
}

impl DerefMut for Session {
    fn deref_mut(&mut self) -> &mut SessionState {
        &mut self.state
    }
}

impl Session {
    /// A fresh session in `database`, which shares `plans` with others.
    pub fn new(spid: u16, database: Arc<OpenDatabase>, plans: Arc<PlanCache>) -> Session {
        Session { state: SessionState::new(spid, database), programs: Programs::new(plans) }
    }

    /// Rolls back whatever is open; for a closing connection. Suspends.
    pub fn reset(&mut self) {
        self.state.reset();
        self.programs.clear();
    }

    /// Makes everything as it was at the beginning, but for the database and, where it is to be kept, the transaction; what
    /// was compiled stays, for whoever uses a pooled connection next sends the same texts. Suspends.
    pub fn reset_connection(&mut self, keep_transaction: bool) {
        self.state.reset_connection(keep_transaction);
        self.programs.release();
    }

    /// USE: see [`SessionState::use_database`].
    pub fn use_database(&mut self, database: Arc<OpenDatabase>) {
        if !Arc::ptr_eq(&self.state.database, &database) {
            self.state.use_database(database);
            self.programs.forget_database();
        }
    }
}

/// By what a program is found: the database and what the session's options make of texts, as one number, and its object
/// id. So a module whose block has options of its own leaves what its caller has compiled where it is.
pub(crate) type ProcedureKey = (u32, i32);

/// The key of an object as the session is now.
#[inline]
pub(crate) fn procedure_key(state: &SessionState, object_id: i32) -> ProcedureKey {
    (u32::from(state.database.id) | state.options.meaning() << 16, object_id)
}

/// A procedure, compiled, with what this session has learnt of it.
pub(crate) struct CachedProcedure {
    /// Catalog version of the definition that was compiled.
    pub version: u64,
    pub code: Arc<SessionPlan>,
    /// Absent while it runs.
    pub state: Option<CodeState>,
}

impl CachedProcedure {
    /// To be run; what has been learnt of it is given back by `Vm::keep_learnt`.
    #[inline]
    pub fn take(&mut self) -> (Arc<SessionPlan>, CodeState) {
        let code = self.code.clone();
        let learnt = self.state.take().unwrap_or_else(|| CodeState::new(&code));
        learnt.meter.note_use();
        (code, learnt)
    }
}

/// See the file's first lines.
pub struct Programs {
    /// What all sessions have compiled.
    pub(crate) plans: Arc<PlanCache>,
    pub(crate) procedures: NumberMap<ProcedureKey, CachedProcedure>,
    /// Compiled batches and parameterised texts.
    pub(crate) texts: TextCache,
    pub(crate) cursors: Cursors,
    /// Frames not in use.
    frames: Vec<Vec<Value>>,
}

impl Programs {
    /// None yet.
    pub fn new(plans: Arc<PlanCache>) -> Programs {
        Programs {
            plans,
            procedures: NumberMap::default(),
            texts: TextCache::default(),
            cursors: Cursors::default(),
            frames: Vec::new(),
        }
    }

    /// Gives up what has a name or a number of the session's own: handles, cursors, temporary procedures (none of which has a
    /// positive id). Of the catalog's modules at most [`PROCEDURES_MAX`] are kept.
    fn release(&mut self) {
        self.procedures.retain(|(_, object_id), known| *object_id > 0 && !known.code.is_gone());
        if self.procedures.len() > PROCEDURES_MAX {
            // Those of dropped ones too.
            self.procedures.clear();
        }
        self.texts.release_all();
        self.cursors.clear();
    }

    fn clear(&mut self) {
        self.procedures.clear();
        self.texts.clear();
        self.cursors.clear();
    }

    /// A procedure as it is defined, if it is at hand.
    #[inline]
    pub(crate) fn known_procedure(
        &mut self,
        state: &SessionState,
        definition: &ProcedureDef,
    ) -> Option<&mut CachedProcedure> {
        let known = self.procedures.get_mut(&procedure_key(state, definition.object_id))?;
        (known.version == definition.version && !known.code.is_gone()).then_some(known)
    }

    /// Gives back what was learnt while a module ran, unless it has been compiled anew meanwhile: what was learnt is of that
    /// code alone.
    pub(crate) fn keep_learnt(
        &mut self,
        key: ProcedureKey,
        code: &Arc<SessionPlan>,
        learnt: CodeState,
    ) {
        if let Some(cached) = self.procedures.get_mut(&key)
            && Arc::ptr_eq(&cached.code, code)
        {
            cached.state = Some(learnt);
        }
    }

    /// An empty frame, perhaps with memory from an earlier one.
    pub(crate) fn take_frame(&mut self) -> Vec<Value> {
        self.frames.pop().unwrap_or_default()
    }

    /// Gives a frame back.
    pub(crate) fn give_frame(&mut self, mut frame: Vec<Value>) {
        frame.clear();
        if self.frames.len() < 8 {
            self.frames.push(frame);
        }
    }
}
