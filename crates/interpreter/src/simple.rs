//! Simple parameterisation: batches that differ in their constants alone run one plan.
//!
//! ```text
//! INSERT t VALUES (1, 'a')      ->  INSERT t VALUES (@1, @2)      with @1 int, @2 varchar(8000)
//! ```
//!
//! Promise: what such a batch does, answers and says when it fails is what it would by itself. A text whose best plan
//! may depend on its constants runs as it stands: besides INSERT only those that look for one row by a whole unique
//! key go this way, as in SQL Server, whose plan for them is trivial. So does a text that comes again unchanged, which
//! has a plan of its own from then on.

use crate::cache::{Slot, hash_text};
use crate::code::Code;
use crate::plan::CodeState;
use crate::plan_cache::{Key, SessionPlan, What};
use crate::vm::Vm;
use ir::ExprKind;
use std::fmt::Write;
use std::sync::Arc;
use syntax::LexOptions;
use syntax::ast::Literal;
use telemetry::counters::{Counter, add};
use types::{Len, SqlType, Value};

/// A compiled text and the values of its parameters.
pub(crate) struct Simple {
    pub slot: Option<Slot>,
    pub code: Arc<SessionPlan>,
    pub learnt: CodeState,
    pub values: Vec<Value>,
}

impl Vm<'_> {
    /// The batch as one with parameters; none: it is to be run as it stands. `hash`: its own.
    pub fn parameterised(&mut self, text: &str, hash: u64) -> Option<Simple> {
        let state = &*self.state;
        let options = &state.options;
        // Plans that are told are told of the text as it was sent.
        if options.telling.any() || options.noexec || state.definitions().is_some() {
            return None;
        }
        let setting = self.setting();
        if self.programs.texts.was_seen(hash) {
            return None;
        }
        let lex = LexOptions { quoted_identifier: options.quoted_identifier };
        let simple = syntax::parameterise(text, &lex)?;
        add(Counter::AutoParamAttempts, 1);
        let mut values = Vec::with_capacity(simple.constants.len());
        let mut declarations = String::new();
        for constant in &simple.constants {
            let Some((value, ty)) = parameter(constant) else {
                add(Counter::AutoParamsFailed, 1);
                return None;
            };
            values.push(value);
            let comma = if values.len() > 1 { "," } else { "" };
            let _ = write!(declarations, "{comma}@{} {ty}", values.len());
        }
        let (text, declarations) = (&simple.text[..], Some(&declarations[..]));
        self.programs.texts.note_seen(hash);
        let hash = hash_text(setting, declarations, text);
        if let Some((slot, code, learnt)) =
            self.programs.texts.find(hash, setting, declarations, text)
        {
            add(Counter::AutoParamsSafe, 1);
            return Some(Simple { slot: Some(slot), code, learnt, values });
        }
        if self.programs.texts.was_refused(hash) {
            add(Counter::AutoParamsUnsafe, 1);
            return None;
        }
        let (plans, database) = (self.programs.plans.clone(), self.state.database.clone());
        let what = What::Text { hash, declarations, text };
        let key = Key { catalog: &database.catalog, setting, what };
        let code = match plans.find(&key) {
            Some(code) => code,
            None => match self.compile_text(text, declarations) {
                Ok((code, is_common)) if !simple.searches || has_one_plan(&code) => match is_common
                {
                    true => plans.keep(&key, code),
                    false => SessionPlan::alone(code),
                },
                // A mistake is told of the text as it was sent.
                _ => {
                    self.programs.texts.note_refused(hash);
                    add(Counter::AutoParamsUnsafe, 1);
                    return None;
                }
            },
        };
        add(Counter::AutoParamsSafe, 1);
        let learnt = CodeState::new(&code);
        learnt.meter.note_use();
        let slot = self.programs.texts.keep(hash, setting, declarations, text, &code, false);
        Some(Simple { slot, code, learnt, values })
    }
}

fn has_one_plan(code: &Code) -> bool {
    matches!(&code.statements[..], [statement] if planner::has_one_plan(&statement.kind))
}

/// A constant's value, and the type of the parameter that takes its place.
fn parameter(constant: &Literal) -> Option<(Value, SqlType)> {
    let constant = binder::constant(constant, 1).ok()?;
    let ExprKind::Const(value) = constant.kind else { return None };
    let ty = declared(&value, constant.ty)?;
    Some((value, ty))
}

/// The type of the parameter that takes a constant's place. None: too long, or characters that varchar may not have.
fn declared(value: &Value, ty: SqlType) -> Option<SqlType> {
    Some(match ty {
        SqlType::VarChar(Len::N(_)) if value.as_str().is_some_and(str::is_ascii) => {
            SqlType::VarChar(Len::N(8000))
        }
        SqlType::NVarChar(Len::N(_)) => SqlType::NVarChar(Len::N(4000)),
        SqlType::VarBinary(Len::N(_)) => SqlType::VarBinary(Len::N(8000)),
        SqlType::Int | SqlType::Decimal { .. } | SqlType::Float | SqlType::Money => ty,
        _ => return None,
    })
}
