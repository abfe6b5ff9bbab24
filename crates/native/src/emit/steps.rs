//! Steps that calculate, that go back in a loop, and that are the host's.

use super::{Emitter, Number};
use crate::program::{Arith, Compare, Family, Kind, Operand, Writes};
use crate::run::{Context, HALT, HALTED};
use cranelift_codegen::ir::InstBuilder;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{I32, I64};
use std::mem::offset_of;

impl Emitter<'_, '_> {
    pub(super) fn arithmetic(
        &mut self,
        at: u32,
        family: Family,
        op: Arith,
        d: u32,
        a: u32,
        b: Operand,
    ) {
        let x = self.read_as(family, a);
        let y = self.operand(family, b);
        let null = self.either(x.null, y.null);
        let (p, q) = (x.value, y.value);
        let value = match op {
            Arith::Add | Arith::Sub | Arith::Mul => {
                let (value, overflows) = match op {
                    Arith::Add => self.b.ins().sadd_overflow(p, q),
                    Arith::Sub => self.b.ins().ssub_overflow(p, q),
                    _ => self.b.ins().smul_overflow(p, q),
                };
                self.leave_if(overflows, at);
                value
            }
            Arith::Div | Arith::Mod => {
                if !matches!(b, Operand::Int(c) if !matches!(c, 0 | -1)) {
                    // The one is 8134, the other may overflow, and both stop the processor.
                    let above = self.b.ins().iadd_imm(q, 1);
                    let bad = self.b.ins().icmp_imm(IntCC::UnsignedLessThanOrEqual, above, 1);
                    self.leave_if(bad, at);
                }
                match op {
                    Arith::Div => self.b.ins().sdiv(p, q),
                    _ => self.b.ins().srem(p, q),
                }
            }
            Arith::And => self.b.ins().band(p, q),
            Arith::Or => self.b.ins().bor(p, q),
            Arith::Xor => self.b.ins().bxor(p, q),
        };
        self.write(d, family.kind(), Number { value, null });
    }

    pub(super) fn float_arithmetic(&mut self, at: u32, op: Arith, d: u32, a: u32, b: Operand) {
        let x = self.read_as(Family::Float, a);
        let y = self.operand(Family::Float, b);
        let null = self.either(x.null, y.null);
        let (p, q) = (x.value, y.value);
        let value = match op {
            Arith::Add => self.b.ins().fadd(p, q),
            Arith::Sub => self.b.ins().fsub(p, q),
            Arith::Mul => self.b.ins().fmul(p, q),
            // By zero it is not finite.
            _ => self.b.ins().fdiv(p, q),
        };
        let size = self.b.ins().fabs(value);
        let most = self.b.ins().f64const(f64::MAX);
        let finite = self.b.ins().fcmp(FloatCC::LessThanOrEqual, size, most);
        let bad = self.b.ins().bxor_imm(finite, 1);
        self.leave_if(bad, at);
        self.write(d, Kind::Float, Number { value, null });
    }

    pub(super) fn convert(&mut self, at: u32, d: u32, s: u32) {
        let kind = self.kind(d);
        let number = match kind {
            Kind::Float => self.read_as(Family::Float, s),
            Kind::BigInt => self.read_as(Family::BigInt, s),
            Kind::Bit => {
                let n = self.read(s);
                let set = self.b.ins().icmp_imm(IntCC::NotEqual, n.value, 0);
                Number { value: self.b.ins().uextend(I32, set), null: n.null }
            }
            _ if self.kind(s).is_small() => self.read(s),
            _ => {
                let n = self.read(s);
                let value = self.b.ins().ireduce(I32, n.value);
                let back = self.b.ins().sextend(I64, value);
                let lost = self.b.ins().icmp(IntCC::NotEqual, back, n.value);
                self.leave_if(lost, at);
                Number { value, null: n.null }
            }
        };
        self.write(d, kind, number);
    }

    pub(super) fn go_back(&mut self, at: u32, to: u32) {
        let turns = self.b.use_var(self.turns);
        let left = self.b.ins().iadd_imm(turns, -1);
        self.b.def_var(self.turns, left);
        let to = self.block(to);
        let ask = self.b.create_block();
        self.b.set_cold_block(ask);
        self.b.ins().brif(left, to, &[], ask, &[]);
        self.b.switch_to_block(ask);
        let breathe = offset_of!(Context, breathe) as i32;
        let breathe = self.b.ins().load(I64, self.flags, self.context, breathe);
        let call = self.b.ins().call_indirect(self.breathe_signature, breathe, &[self.context]);
        let goes_on = self.b.inst_results(call)[0];
        let turns = self.b.ins().iconst(I32, i64::from(self.program.turns));
        self.b.def_var(self.turns, turns);
        let exit = self.exit(u64::from(at));
        self.b.ins().brif(goes_on, to, &[], exit, &[]);
    }

    pub(super) fn call(&mut self, at: u32, writes: Writes, or: Option<u32>) {
        let step = offset_of!(Context, step) as i32;
        let step = self.b.ins().load(I64, self.flags, self.context, step);
        let number = self.b.ins().iconst(I32, i64::from(at));
        let arguments = [self.context, number];
        let call = self.b.ins().call_indirect(self.step_signature, step, &arguments);
        let next = self.b.inst_results(call)[0];
        let halted = self.b.ins().icmp_imm(IntCC::Equal, next, i64::from(HALT));
        let (halt, on) = (self.exit(HALTED | u64::from(at)), self.b.create_block());
        self.b.ins().brif(halted, halt, &[], on, &[]);
        self.b.switch_to_block(on);
        let one = self.b.ins().iconst(I32, 1);
        self.b.def_var(self.turns, one);
        let written: Vec<u32> = match writes {
            Writes::Nothing => Vec::new(),
            Writes::One(r) => vec![r],
            Writes::Variables => {
                let variables = self.program.variables;
                self.held.keys().copied().filter(|r| *r < variables).collect()
            }
        };
        let elsewhere = self.b.create_block();
        self.b.set_cold_block(elsewhere);
        if !written.is_empty() {
            let wrong = self.load(&written);
            let fine = self.b.create_block();
            self.b.ins().brif(wrong, elsewhere, &[], fine, &[]);
            self.b.switch_to_block(fine);
        }
        let go = self.b.create_block();
        let is_next = self.b.ins().icmp_imm(IntCC::Equal, next, i64::from(at + 1));
        match or {
            Some(or) => {
                let other = self.b.create_block();
                self.b.ins().brif(is_next, go, &[], other, &[]);
                self.b.switch_to_block(other);
                let is_or = self.b.ins().icmp_imm(IntCC::Equal, next, i64::from(or));
                let or = self.block(or);
                self.b.ins().brif(is_or, or, &[], elsewhere, &[]);
            }
            None => {
                self.b.ins().brif(is_next, go, &[], elsewhere, &[]);
            }
        }
        // Wherever that is, the host goes on from there.
        self.b.switch_to_block(elsewhere);
        let ended = self.b.ins().uextend(I64, next);
        self.b.ins().return_(&[ended]);
        self.b.switch_to_block(go);
    }
}

pub(super) fn condition(compare: Compare) -> IntCC {
    match compare {
        Compare::Eq => IntCC::Equal,
        Compare::Ne => IntCC::NotEqual,
        Compare::Lt => IntCC::SignedLessThan,
        Compare::Le => IntCC::SignedLessThanOrEqual,
        Compare::Gt => IntCC::SignedGreaterThan,
        Compare::Ge => IntCC::SignedGreaterThanOrEqual,
    }
}

pub(super) fn float_condition(compare: Compare) -> FloatCC {
    match compare {
        Compare::Eq => FloatCC::Equal,
        Compare::Ne => FloatCC::NotEqual,
        Compare::Lt => FloatCC::LessThan,
        Compare::Le => FloatCC::LessThanOrEqual,
        Compare::Gt => FloatCC::GreaterThan,
        Compare::Ge => FloatCC::GreaterThanOrEqual,
    }
}
