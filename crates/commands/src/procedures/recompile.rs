//! sp_recompile: whoever may alter an object asks that its plans be made anew.
//!
//! Plans follow the versions of what they name by themselves here (docs/plan-cache.md), so nothing that is asked for is
//! left to do but to say whether the object is there and the caller may ask.

use crate::Commands;
use crate::define::trigger::no_trigger;
use crate::procedures::Argument;
use crate::procedures::arguments;
use executor::SqlError;
use session_state::{messages, name_parts};

impl Commands<'_> {
    /// sp_recompile @objname; 15165.
    pub(crate) fn recompile(&mut self, args: &[Argument]) -> Result<(), SqlError> {
        let written = arguments::needed("sp_recompile", args, 0, "@objname")?;
        let mut parts = name_parts(written).into_iter().rev();
        let name = parts.next().unwrap_or_default();
        let schema = parts.next().filter(|schema| !schema.is_empty());
        let found = self.state.find_object(schema.as_deref(), &name);
        if !found.is_some_and(|object| self.may_change(&object, false)) {
            return Err(no_trigger(written));
        }
        let told = messages::info(15070, &[written]);
        self.sink.message(&told);
        Ok(())
    }
}
