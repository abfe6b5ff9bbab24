//! Registers of a program in those of the processor, and in the frame.

use super::{Emitter, Number, constant, register_type};
use crate::layout;
use crate::program::{Family, Kind, Operand};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, I8, I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};

impl Emitter<'_, '_> {
    pub(super) fn kind(&self, r: u32) -> Kind {
        self.program.kinds[r as usize].unwrap_or_else(|| unreachable!("register {r} has a kind"))
    }

    pub(super) fn read(&mut self, r: u32) -> Number {
        if let Some(value) = constant(self.program, r) {
            let value = match value {
                types::Value::Float(v) => self.b.ins().f64const(*v),
                types::Value::BigInt(v) => self.b.ins().iconst(I64, *v),
                value => {
                    let v = value.as_i64().unwrap_or(0);
                    // Of 32 bits as the compiler wants them.
                    self.b.ins().iconst(I32, i64::from(v as i32 as u32))
                }
            };
            return Number { value, null: None };
        }
        let held = self.held[&r];
        let value = self.b.use_var(held.number);
        Number { value, null: Some(self.b.use_var(held.null)) }
    }

    /// As a number of a family.
    pub(super) fn read_as(&mut self, family: Family, r: u32) -> Number {
        let kind = self.kind(r);
        let number = self.read(r);
        let value = match (family, kind) {
            (Family::BigInt, kind) if kind.is_small() => self.b.ins().sextend(I64, number.value),
            (Family::Float, kind) if kind != Kind::Float => {
                self.b.ins().fcvt_from_sint(F64, number.value)
            }
            _ => number.value,
        };
        Number { value, null: number.null }
    }

    pub(super) fn operand(&mut self, family: Family, operand: Operand) -> Number {
        match operand {
            Operand::Register(r) => self.read_as(family, r),
            Operand::Int(v) => {
                let value = match family {
                    Family::Int => self.b.ins().iconst(I32, i64::from(v as u32)),
                    Family::BigInt => self.b.ins().iconst(I64, i64::from(v)),
                    Family::Float => self.b.ins().f64const(f64::from(v)),
                };
                Number { value, null: None }
            }
        }
    }

    /// Sets a register, in the processor and in the frame.
    pub(super) fn write(&mut self, r: u32, kind: Kind, number: Number) {
        let held = self.held[&r];
        let place = layout::place(kind);
        let at = (r as usize * layout::STRIDE) as i32;
        let tag = self.b.ins().iconst(I8, i64::from(place.tag));
        let (null, tag) = match number.null {
            None => (self.b.ins().iconst(I8, 0), tag),
            Some(null) => {
                let of_null = self.b.ins().iconst(I8, i64::from(layout::null()));
                (null, self.b.ins().select(null, of_null, tag))
            }
        };
        self.b.def_var(held.number, number.value);
        self.b.def_var(held.null, null);
        self.b.ins().store(self.flags, tag, self.frame, at);
        let offset = at + place.offset;
        match kind {
            Kind::Bit | Kind::TinyInt => {
                self.b.ins().istore8(self.flags, number.value, self.frame, offset);
            }
            Kind::SmallInt => {
                self.b.ins().istore16(self.flags, number.value, self.frame, offset);
            }
            _ => {
                self.b.ins().store(self.flags, number.value, self.frame, offset);
            }
        }
    }

    /// Takes registers from the frame; whether a tag among them is neither its kind's nor NULL's.
    pub(super) fn load(&mut self, registers: &[u32]) -> Value {
        let mut wrong = self.b.ins().iconst(I8, 0);
        let mut sorted: Vec<u32> = registers.to_vec();
        sorted.sort_unstable();
        for r in sorted {
            let Some(held) = self.held.get(&r).copied() else { continue };
            let place = layout::place(held.kind);
            let at = (r as usize * layout::STRIDE) as i32;
            let tag = self.b.ins().load(I8, self.flags, self.frame, at);
            let is_kind = self.b.ins().icmp_imm(IntCC::Equal, tag, i64::from(place.tag));
            let null = self.b.ins().icmp_imm(IntCC::Equal, tag, i64::from(layout::null()));
            let known = self.b.ins().bor(is_kind, null);
            let unknown = self.b.ins().bxor_imm(known, 1);
            wrong = self.b.ins().bor(wrong, unknown);
            let offset = at + place.offset;
            let loaded = match held.kind {
                Kind::Bit | Kind::TinyInt => {
                    self.b.ins().uload8(I32, self.flags, self.frame, offset)
                }
                Kind::SmallInt => self.b.ins().sload16(I32, self.flags, self.frame, offset),
                kind => self.b.ins().load(register_type(kind), self.flags, self.frame, offset),
            };
            let zero = self.zero(register_type(held.kind));
            let number = self.b.ins().select(null, zero, loaded);
            self.b.def_var(held.number, number);
            self.b.def_var(held.null, null);
        }
        wrong
    }
}
