//! Machine code of natively compiled modules: which of their instructions crate `native` compiles, and who does the rest.
//!
//! ```text
//! Vm::run_inner ──> run_compiled ──> machine code: numbers, comparisons, jumps
//!                        ^                │ every other instruction: Vm::step, one of it
//!                        └── an instruction that failed, by Vm::step, which says what the error is
//! ```
//!
//! Promise: a module does the same with machine code and without, to the number and line of an error: what is not the
//! usual case is done by the interpreter, on the frame that it would have had. Where there is no machine code (the
//! system forbids memory that is executable, the program is too large, [`crate::compiled::use_machine_code`]) the interpreter runs it all;
//! the first to call the module is told why.
//!
//! Compiled when it is first called, once for all sessions, as its plan is.

use crate::code::Code;
use crate::compiled::in_use;
use crate::op::{Op, Pc, Reg};
use crate::plan::CodeState;
use crate::vm::{Stepped, Vm};
use executor::SqlMessage;
use ir::CompareOp;
use native::{Arith, Compare, Compiled, Exit, Family, Host, Kind, Operand, Program, Step, Writes};
use session_state::Halted;
use types::{SqlType, Value};

/// One instruction goes on doing what another has begun.
struct Running<'v, 'a> {
    vm: &'v mut Vm<'a>,
    code: &'v Code,
    learnt: &'v mut CodeState,
    guarded: bool,
    halted: Option<Halted>,
}

impl Host for Running<'_, '_> {
    fn step(&mut self, frame: &mut [Value], at: u32) -> Option<u32> {
        let mut pc = at;
        match self.vm.step::<true>(self.code, self.learnt, frame, &mut pc, self.guarded) {
            Ok(Stepped::On) => Some(pc),
            Ok(Stepped::Returned(_)) => stdx::fatal!("a module returns in the middle of itself"),
            Err(halted) => {
                self.halted = Some(halted);
                None
            }
        }
    }

    fn breathe(&mut self) -> bool {
        self.vm.breathe().is_ok()
    }

    fn said(&mut self, rows: u8) {
        (self.vm.state.rowcount, self.vm.state.error) = (i64::from(rows), 0);
    }
}

impl Vm<'_> {
    /// Sees to the machine code of a module that is about to run.
    pub fn compile_module(&mut self, code: &Code) {
        if code.machine_code.is_decided() || !in_use() {
            return;
        }
        let mut why = None;
        code.machine_code.decide(|| match compile(code) {
            Ok(compiled) => Some(compiled),
            Err(unavailable) => {
                why = Some(unavailable);
                None
            }
        });
        if let Some(why) = why {
            let name = code.name.as_deref().unwrap_or("");
            let text = format!("The module '{name}' is run by the interpreter: {why}.");
            let mut message = SqlMessage::info(0, 1, text);
            message.procedure = code.name.clone();
            self.sink.message(&message);
        }
    }

    /// As [`Vm::step`], by machine code where there is some for what comes.
    pub fn run_compiled(
        &mut self,
        compiled: &Compiled,
        code: &Code,
        learnt: &mut CodeState,
        frame: &mut [Value],
        pc: &mut Pc,
        guarded: bool,
    ) -> Result<Stepped, Halted> {
        loop {
            if compiled.is_entry(*pc) {
                let mut running = Running { vm: self, code, learnt, guarded, halted: None };
                match compiled.run(&mut running, frame, *pc) {
                    Exit::At(at) => *pc = at,
                    Exit::Halted(at) => {
                        *pc = at;
                        let halted = running.halted.take();
                        return Err(halted.unwrap_or_else(|| executor::cancelled().into()));
                    }
                }
            }
            // Whatever brought it back here is done by the interpreter, so it goes on in any case.
            let stepped = self.step::<true>(code, learnt, frame, pc, guarded)?;
            if let Stepped::Returned(_) = stepped {
                return Ok(stepped);
            }
        }
    }
}

fn compile(code: &Code) -> Result<Compiled, native::Unavailable> {
    let kinds: Vec<Option<Kind>> = code.types.iter().map(|ty| kind(*ty)).collect();
    let translator = Translator { kinds: &kinds };
    let steps: Vec<Step> = (0..).zip(&code.ops).map(|(at, op)| translator.step(at, *op)).collect();
    let entries: Vec<Pc> = code.handlers.iter().map(|h| h.target).collect();
    let program = Program {
        steps: &steps,
        kinds: &kinds,
        template: &code.template,
        variables: code.vars.len() as u32,
        entries: &entries,
        turns: crate::scalar::TURNS,
    };
    native::compile(&program, code.name.as_deref().unwrap_or("module"))
}

fn kind(ty: Option<SqlType>) -> Option<Kind> {
    Some(match ty? {
        SqlType::Bit => Kind::Bit,
        SqlType::TinyInt => Kind::TinyInt,
        SqlType::SmallInt => Kind::SmallInt,
        SqlType::Int => Kind::Int,
        SqlType::BigInt => Kind::BigInt,
        SqlType::Float => Kind::Float,
        _ => return None,
    })
}

struct Translator<'c> {
    kinds: &'c [Option<Kind>],
}

impl Translator<'_> {
    fn kind(&self, r: Reg) -> Option<Kind> {
        self.kinds[r as usize]
    }

    fn reads(&self, family: Family, r: Reg) -> bool {
        self.kind(r).is_some_and(|kind| family.reads(kind))
    }

    fn step(&self, at: Pc, op: Op) -> Step {
        use native::Family::{BigInt, Float, Int};
        let call = |writes| Step::Call { writes, or: None };
        match op {
            Op::Move { d, s } if self.kind(d).is_some() && self.kind(d) == self.kind(s) => {
                Step::Move { d, s }
            }
            Op::Null { d } if self.kind(d).is_some() => Step::Null { d },
            Op::Move { d, .. }
            | Op::Null { d }
            | Op::Eval { d, .. }
            | Op::ToTiny { d, .. }
            | Op::ToSmall { d, .. } => call(Writes::One(d)),
            Op::AddInt { d, a, b } => self.arith(Int, Arith::Add, d, a, b),
            Op::SubInt { d, a, b } => self.arith(Int, Arith::Sub, d, a, b),
            Op::MulInt { d, a, b } => self.arith(Int, Arith::Mul, d, a, b),
            Op::DivInt { d, a, b } => self.arith(Int, Arith::Div, d, a, b),
            Op::ModInt { d, a, b } => self.arith(Int, Arith::Mod, d, a, b),
            Op::AndInt { d, a, b } => self.arith(Int, Arith::And, d, a, b),
            Op::OrInt { d, a, b } => self.arith(Int, Arith::Or, d, a, b),
            Op::XorInt { d, a, b } => self.arith(Int, Arith::Xor, d, a, b),
            Op::AddIntBy { d, a, c } => self.arith_by(Arith::Add, d, a, c),
            Op::MulIntBy { d, a, c } => self.arith_by(Arith::Mul, d, a, c),
            Op::DivIntBy { d, a, c } => self.arith_by(Arith::Div, d, a, c),
            Op::ModIntBy { d, a, c } => self.arith_by(Arith::Mod, d, a, c),
            Op::AddBig { d, a, b } => self.arith(BigInt, Arith::Add, d, a, b),
            Op::SubBig { d, a, b } => self.arith(BigInt, Arith::Sub, d, a, b),
            Op::MulBig { d, a, b } => self.arith(BigInt, Arith::Mul, d, a, b),
            Op::DivBig { d, a, b } => self.arith(BigInt, Arith::Div, d, a, b),
            Op::ModBig { d, a, b } => self.arith(BigInt, Arith::Mod, d, a, b),
            Op::AndBig { d, a, b } => self.arith(BigInt, Arith::And, d, a, b),
            Op::OrBig { d, a, b } => self.arith(BigInt, Arith::Or, d, a, b),
            Op::XorBig { d, a, b } => self.arith(BigInt, Arith::Xor, d, a, b),
            Op::AddFloat { d, a, b } => self.arith(Float, Arith::Add, d, a, b),
            Op::SubFloat { d, a, b } => self.arith(Float, Arith::Sub, d, a, b),
            Op::MulFloat { d, a, b } => self.arith(Float, Arith::Mul, d, a, b),
            Op::DivFloat { d, a, b } => self.arith(Float, Arith::Div, d, a, b),
            Op::ToBit { d, s } | Op::ToInt { d, s } | Op::ToBig { d, s } => {
                self.convert(BigInt, d, s)
            }
            Op::ToFloat { d, s } => self.convert(Float, d, s),
            Op::Jump { to } if to > at => Step::Jump { to },
            Op::Jump { to } | Op::Loop { to } => Step::Loop { to },
            Op::UnlessInt { when, a, b, to } => self.branch(Int, when, a, b, to, false),
            Op::UnlessBig { when, a, b, to } => self.branch(BigInt, when, a, b, to, false),
            Op::UnlessFloat { when, a, b, to } => self.branch(Float, when, a, b, to, false),
            Op::IfInt { when, a, b, to } => self.branch(Int, when, a, b, to, true),
            Op::IfBig { when, a, b, to } => self.branch(BigInt, when, a, b, to, true),
            Op::IfFloat { when, a, b, to } => self.branch(Float, when, a, b, to, true),
            Op::UnlessIntIs { when, a, c, to } => {
                self.branch_on(Int, when, a, Operand::Int(c), to, false)
            }
            Op::IfIntIs { when, a, c, to } => {
                self.branch_on(Int, when, a, Operand::Int(c), to, true)
            }
            Op::IfNull { s, to } if self.kind(s).is_some() => {
                Step::BranchNull { s, to, on_null: true }
            }
            Op::UnlessNull { s, to } if self.kind(s).is_some() => {
                Step::BranchNull { s, to, on_null: false }
            }
            Op::NotNull { d, .. } if self.kind(d).is_some() => Step::NotNull { s: d },
            Op::NotNull { d, .. } => call(Writes::One(d)),
            Op::IfNull { to, .. }
            | Op::UnlessNull { to, .. }
            | Op::UnlessValue { to, .. }
            | Op::IfValue { to, .. }
            | Op::UnlessExpr { to, .. }
            | Op::IfExpr { to, .. }
            | Op::UnlessCondition { to, .. } => {
                Step::Call { writes: Writes::Nothing, or: Some(to) }
            }
            Op::Done { rows } => Step::Said { rows },
            Op::Begin | Op::Commit { .. } | Op::Statement { .. } => call(Writes::Variables),
            Op::InsertCommit { .. } => Step::Call { writes: Writes::Variables, or: Some(at + 2) },
            Op::EndCatch => call(Writes::Nothing),
            Op::Return { .. } => Step::Exit,
        }
    }

    fn arith(&self, family: Family, op: Arith, d: Reg, a: Reg, b: Reg) -> Step {
        let known = self.kind(d) == Some(family.kind());
        match known && self.reads(family, a) && self.reads(family, b) {
            true => Step::Arith { family, op, d, a, b: Operand::Register(b) },
            false => Step::Call { writes: Writes::One(d), or: None },
        }
    }

    fn arith_by(&self, op: Arith, d: Reg, a: Reg, c: i32) -> Step {
        match self.kind(d) == Some(Kind::Int) && self.reads(Family::Int, a) {
            true => Step::Arith { family: Family::Int, op, d, a, b: Operand::Int(c) },
            false => Step::Call { writes: Writes::One(d), or: None },
        }
    }

    fn convert(&self, family: Family, d: Reg, s: Reg) -> Step {
        match self.kind(d).is_some() && self.reads(family, s) {
            true => Step::Convert { d, s },
            false => Step::Call { writes: Writes::One(d), or: None },
        }
    }

    fn branch(
        &self,
        family: Family,
        when: crate::op::When,
        a: Reg,
        b: Reg,
        to: Pc,
        on_true: bool,
    ) -> Step {
        match self.reads(family, b) {
            true => self.branch_on(family, when, a, Operand::Register(b), to, on_true),
            false => Step::Call { writes: Writes::Nothing, or: Some(to) },
        }
    }

    fn branch_on(
        &self,
        family: Family,
        when: crate::op::When,
        a: Reg,
        b: Operand,
        to: Pc,
        on_true: bool,
    ) -> Step {
        match self.reads(family, a) {
            true => {
                let compare = match when.op() {
                    CompareOp::Eq => Compare::Eq,
                    CompareOp::Ne => Compare::Ne,
                    CompareOp::Lt => Compare::Lt,
                    CompareOp::Le => Compare::Le,
                    CompareOp::Gt => Compare::Gt,
                    CompareOp::Ge => Compare::Ge,
                };
                Step::Branch { family, compare, a, b, to, on_true }
            }
            false => Step::Call { writes: Writes::Nothing, or: Some(to) },
        }
    }
}
