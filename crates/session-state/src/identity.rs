//! Who a session acts as: its login, its user in the current database, and what EXECUTE AS has put over them.
//!
//! Promises: [`Identity::limited`] is all that a statement of `sysadmin` or `dbo` pays for permissions; what was decided
//! holds for one state of both directories, and [`Identity::stamp`] tells plans apart that were allowed to different
//! principals. A change of principals or permissions made elsewhere counts from the next request on.

use security::{Access, SA_ID, database_role};
use std::sync::Arc;

/// Whom a context acts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Context {
    /// A login, and whatever user it is in the current database.
    Login(i32),
    /// A user of one database (EXECUTE AS USER), nobody at the server.
    User(i32),
    /// An application role of one database, nobody at the server and a guest in other databases.
    Application { role: i32, database: u16 },
}

/// What ends a context beside the end of the procedure or text that began it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// REVERT.
    Revert,
    /// Nothing: WITH NO REVERT.
    Never,
    /// REVERT WITH COOKIE, of these bytes.
    Cookie(Box<[u8]>),
    /// Nothing: it is a module's that runs as a user.
    Module,
    /// REVERT, or SETUSER without a name unless it was WITH NORESET.
    SetUser { no_reset: bool },
    /// sp_unsetapprole with these bytes; without any, only the connection's end.
    Application(Option<Box<[u8]>>),
}

/// An EXECUTE AS.
#[derive(Debug, Clone)]
pub(crate) struct Acting {
    pub(crate) context: Context,
    pub(crate) end: End,
    /// Where it began: a REVERT elsewhere is 15199.
    pub(crate) database: u16,
}

/// How many EXECUTE AS are in force, and how many of them are from outside the module that runs.
#[derive(Debug, Clone, Copy)]
pub struct Depth {
    pub(crate) contexts: usize,
    pub(crate) outer: usize,
}

/// See the file's first lines.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The login that signed in: ORIGINAL_LOGIN().
    pub(crate) original: i32,
    /// EXECUTE AS, innermost last.
    pub(crate) contexts: Vec<Acting>,
    /// So many of them are from outside the module that runs: REVERT in it ends none of those.
    pub(crate) outer: usize,
    pub(crate) access: Arc<Access>,
    pub(crate) limited: bool,
    pub(crate) stamp: u32,
    /// What `access` was made from.
    pub(crate) seen: Option<Seen>,
    /// The schema whose CREATE is under way: names without one mean its objects first.
    pub(crate) schema: Option<Box<str>>,
}

/// Versions of the server's directory and the catalog, the database's id, and which uncommitted definitions.
pub(crate) type Seen = (i64, u64, u16, u64);

impl Default for Identity {
    /// `sa`, within this process.
    fn default() -> Identity {
        Identity::of_login(SA_ID)
    }
}

impl Identity {
    /// Whether the session acts as who signed in.
    pub(crate) fn is_own(&self) -> bool {
        self.contexts.is_empty()
    }

    /// A login that has signed in.
    pub fn of_login(login: i32) -> Identity {
        let nobody = Access::new(Arc::default(), None, Arc::default(), database_role::GUEST);
        Identity {
            original: login,
            contexts: Vec::new(),
            outer: 0,
            access: Arc::new(nobody),
            // Until it is known better.
            limited: login != SA_ID,
            stamp: u32::from(login != SA_ID),
            seen: None,
            schema: None,
        }
    }

    /// Must permissions be asked for? Not for `sysadmin` and `dbo`.
    #[inline]
    pub fn is_limited(&self) -> bool {
        self.limited
    }

    /// 0 when nothing is asked, else a number that differs with the login, the user and the server's directory.
    #[inline]
    pub fn stamp(&self) -> u32 {
        self.stamp
    }

    /// The principals it acts as, and what they may do.
    pub fn access(&self) -> &Arc<Access> {
        &self.access
    }

    /// The login that signed in.
    pub fn original(&self) -> i32 {
        self.original
    }

    pub(crate) fn current(&self) -> Context {
        self.contexts.last().map_or(Context::Login(self.original), |acting| acting.context)
    }

    /// What [`crate::SessionState::revert_to`] comes back to.
    #[inline]
    pub fn depth(&self) -> Depth {
        Depth { contexts: self.contexts.len(), outer: self.outer }
    }

    /// A module begins; likewise.
    #[inline]
    pub fn enter_module(&mut self) -> Depth {
        let depth = self.depth();
        self.outer = depth.contexts;
        depth
    }
}
