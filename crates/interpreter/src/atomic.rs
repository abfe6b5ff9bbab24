//! ATOMIC blocks: the bodies of natively compiled modules, which the interpreter runs.
//!
//! ```text
//! no transaction open:  BEGIN, the statements, COMMIT;              an error: ROLLBACK
//! one open:             a savepoint, the statements;                an error: back to the savepoint
//! in a function:        the statements; the statement that called it undoes and commits
//! ```
//!
//! Promises: the session's SET options are the block's while it runs, and the caller's afterwards, however it ends; an
//! error that no CATCH of the block takes ends it and goes to the caller as an error of the EXECUTE; it ends the caller's
//! transaction only where it has doomed it ("Atomic Blocks in Native Procedures"). Other programs pay one test a call.

use crate::block::Atomic;
use crate::code::Code;
use crate::plan::CodeState;
use crate::vm::Vm;
use executor::{Reach, SqlError};
use session_state::Halt;
use types::Value;

/// No program can write this name. The innermost of several is found first.
const SAVEPOINT: &str = "\u{1}atomic";

/// What an ATOMIC block is undone by.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    /// A transaction of its own.
    Own,
    /// A savepoint of the caller's.
    Savepoint,
    /// The statement that calls the function.
    Statement,
}

impl Vm<'_> {
    /// Runs the body of a natively compiled module.
    #[cold]
    #[inline(never)]
    pub fn run_atomic(
        &mut self,
        atomic: &Atomic,
        code: &Code,
        learnt: &mut CodeState,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<i32, Halt> {
        let result = match self.check_session(atomic).and_then(|()| check_given(code, frame)) {
            Ok(()) => {
                self.compile_module(code);
                self.run_block(atomic, code, learnt, frame)
            }
            Err(error) => Err(Halt::Throw(Box::new(error))),
        };
        // A call from outside has no EXECUTE that would see to the transaction.
        if !guarded && let Err(Halt::Throw(error)) = &result {
            self.settle_transaction(error, false);
        }
        result
    }

    fn run_block(
        &mut self,
        atomic: &Atomic,
        code: &Code,
        learnt: &mut CodeState,
        frame: &mut [Value],
    ) -> Result<i32, Halt> {
        let outer = self.state.options.clone();
        self.state.options = atomic.options(&outer);
        self.state.atomic += 1;
        self.state.rowcount = 0;
        let mut result = match self.enter(atomic) {
            // Whoever called it takes what no CATCH of its own does.
            Ok(unit) => {
                let result = self.run_inner(code, learnt, frame, true);
                self.leave(unit, atomic, result)
            }
            Err(error) => Err(Halt::Throw(Box::new(error))),
        };
        if let Err(Halt::Throw(error)) = &mut result
            && error.reach == Reach::Batch
            && !self.state.transaction.doomed
        {
            error.reach = Reach::Statement;
        }
        self.state.atomic -= 1;
        self.state.options = outer;
        self.state.rowcount = 0;
        result
    }

    /// 41332, 41333. The level of a block is that of memory-optimised tables; it goes with those of the session only as
    /// the documentation of "Transactions with Memory-Optimized Tables" has it.
    fn check_session(&self, atomic: &Atomic) -> Result<(), SqlError> {
        use engine::Isolation::{RepeatableRead, Serializable, Snapshot};
        if self.state.atomic > 0 {
            return Ok(());
        }
        match self.state.options.isolation {
            Snapshot => Err(commands::under_snapshot()),
            RepeatableRead | Serializable if atomic.isolation != Snapshot => Err(SqlError::new(
                41333,
                16,
                "The following transactions must access memory optimized tables and natively compiled modules under \
                 snapshot isolation: RepeatableRead transactions, Serializable transactions, and transactions that \
                 access tables that are not memory optimized in RepeatableRead or Serializable isolation.",
            )
            .with_reach(Reach::Batch)),
            _ => Ok(()),
        }
    }

    /// Begins what the block is undone by. A transaction that is open keeps its isolation level.
    fn enter(&mut self, atomic: &Atomic) -> Result<Unit, SqlError> {
        let state = &mut *self.state;
        if state.functions > 0 {
            return Ok(Unit::Statement);
        }
        if state.transaction.count > 0 {
            let name = SAVEPOINT.to_owned();
            state.transaction.save(name, &state.database, &state.options)?;
            return Ok(Unit::Savepoint);
        }
        state.options.isolation = atomic.isolation;
        state.transaction.begin(None, &state.options);
        Ok(Unit::Own)
    }

    /// Commits or undoes.
    fn leave(
        &mut self,
        unit: Unit,
        atomic: &Atomic,
        result: Result<i32, Halt>,
    ) -> Result<i32, Halt> {
        let state = &mut *self.state;
        let transaction = &mut state.transaction;
        let left = match (unit, &result) {
            (Unit::Statement, _) => Ok(()),
            (Unit::Own, Ok(_)) => transaction.commit(&state.database, atomic.delayed),
            (Unit::Own, Err(_)) if transaction.count > 0 => transaction.rollback_all(),
            (Unit::Own, Err(_)) => Ok(()),
            // All of the transaction has been undone.
            (Unit::Savepoint, _) if transaction.count == 0 || transaction.doomed => Ok(()),
            (Unit::Savepoint, Ok(_)) => {
                transaction.forget_savepoint(SAVEPOINT);
                Ok(())
            }
            (Unit::Savepoint, Err(_)) => {
                let undone = transaction.rollback(Some(SAVEPOINT));
                transaction.forget_savepoint(SAVEPOINT);
                undone
            }
        };
        match (left, result) {
            (Err(error), Ok(_)) => {
                // A commit that failed has ended the transaction.
                let _ = self.state.transaction.rollback_all();
                Err(Halt::Throw(Box::new(error)))
            }
            (_, result) => result,
        }
    }
}

/// Parameters declared NOT NULL have values: 515.
fn check_given(code: &Code, frame: &[Value]) -> Result<(), SqlError> {
    let vars = code.program.vars.iter().zip(frame).take(code.params.len());
    match vars.enumerate().find(|(_, (var, value))| var.not_null && value.is_null()) {
        Some((i, _)) => Err(code.null_in(i, "EXECUTE")),
        None => Ok(()),
    }
}
