//! Programs to machine code.
//!
//! ```text
//! entry:  load the registers, check their tags, go to the step asked for
//! steps:  in order, a block for each that is jumped to
//! cold:   for each step that may not go the usual way: return its number
//! ```
//!
//! A register with a kind is two variables of the processor's: its number, and whether it is NULL. A NULL's number is
//! zero or rubbish, which nobody sees: at worst a step is left to the host that need not be. Each change is written to
//! the frame as well, tag and number; over a register with a kind there is never a value that owns anything, unless
//! the host broke that rule, and then it is leaked.
//!
//! Invariants: a division is reached with a divisor that is neither 0 nor -1; after a step of the host every variable
//! that it may have written is loaded again, and its tag checked.

mod registers;
mod steps;

use crate::program::{Family, Kind, Operand, Program, Step, Unavailable};
use crate::run::{Compiled, Context, Entry, NO_ENTRY};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, I8, I32, I64};
use cranelift_codegen::ir::{
    AbiParam, Block, InstBuilder, MemFlags, SigRef, Signature, Type, UserFuncName, Value,
};
use cranelift_codegen::isa::CallConv;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Switch, Variable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module, default_libcall_names};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::mem::offset_of;
use steps::{condition, float_condition};

/// Larger programs are the host's: compiling takes longer than it should on a thread that others wait for.
const STEPS_MAX: usize = 4096;
const REGISTERS_MAX: usize = 512;
/// Those that live long: they may all lie on the stack, in a frame of less than the page that guards it.
const VARIABLES_MAX: usize = 128;

/// Machine code for a program. `name` is what profilers call it.
pub fn compile(program: &Program<'_>, name: &str) -> Result<Compiled, Unavailable> {
    let used = used_registers(program);
    let variables = used.range(..program.variables).count();
    if program.steps.len() > STEPS_MAX || used.len() > REGISTERS_MAX || variables > VARIABLES_MAX {
        return Err(Unavailable::TooLarge);
    }
    // The compiler says some refusals by a panic: one of a processor that it does not know, say.
    let compiled = std::panic::catch_unwind(|| compile_checked(program, &used, name));
    compiled.unwrap_or_else(|_| Err(refused("the compiler failed")))
}

fn refused(why: impl ToString) -> Unavailable {
    Unavailable::Refused(why.to_string())
}

fn compile_checked(
    program: &Program<'_>,
    used: &BTreeMap<u32, Kind>,
    name: &str,
) -> Result<Compiled, Unavailable> {
    let mut flags = settings::builder();
    for (flag, value) in [
        ("opt_level", "speed"),
        ("use_colocated_libcalls", "false"),
        ("is_pic", "false"),
        ("preserve_frame_pointers", "true"),
        ("enable_probestack", "false"),
        ("unwind_info", "false"),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
    ] {
        flags.set(flag, value).map_err(refused)?;
    }
    let isa = cranelift_native::builder().map_err(refused)?;
    let isa = isa.finish(settings::Flags::new(flags)).map_err(refused)?;
    let mut module = JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()));
    let call_conv = module.isa().default_call_conv();
    let mut context = module.make_context();
    context.func.signature = entry_signature(call_conv);
    let id = module
        .declare_function("program", Linkage::Local, &context.func.signature)
        .map_err(refused)?;
    context.func.name = UserFuncName::user(0, id.as_u32());
    let mut builder_context = FunctionBuilderContext::new();
    let builder = FunctionBuilder::new(&mut context.func, &mut builder_context);
    let entries = Emitter::new(builder, program, used, call_conv).emit();
    module.define_function(id, &mut context).map_err(refused)?;
    let bytes = context.compiled_code().map_or(0, |code| code.code_buffer().len());
    module.clear_context(&mut context);
    module.finalize_definitions().map_err(refused)?;
    let code = module.get_finalized_function(id);
    crate::perf::note(code, bytes, name);
    // SAFETY: `code` is the beginning of a function of the signature `entry_signature`, which is that of `Entry`.
    let entry = unsafe { std::mem::transmute::<*const u8, Entry>(code) };
    Ok(Compiled::new(module, entry, entries, program.kinds.len(), bytes))
}

/// (context, frame, entry) -> where it ended: [`Entry`].
fn entry_signature(call_conv: CallConv) -> Signature {
    let mut signature = Signature::new(call_conv);
    signature.params.extend([I64, I64, I32].map(AbiParam::new));
    signature.returns.push(AbiParam::new(I64));
    signature
}

/// The registers that steps read or write as numbers, without constants.
fn used_registers(program: &Program<'_>) -> BTreeMap<u32, Kind> {
    let mut used = BTreeMap::new();
    let mut note = |r: u32| {
        if constant(program, r).is_none()
            && let Some(kind) = program.kinds[r as usize]
        {
            used.insert(r, kind);
        }
    };
    for step in program.steps {
        match *step {
            Step::Move { d, s } | Step::Convert { d, s } => {
                note(d);
                note(s);
            }
            Step::Null { d } => note(d),
            Step::Arith { d, a, b, .. } => {
                note(d);
                note(a);
                if let Operand::Register(b) = b {
                    note(b);
                }
            }
            Step::Branch { a, b, .. } => {
                note(a);
                if let Operand::Register(b) = b {
                    note(b);
                }
            }
            Step::BranchNull { s, .. } | Step::NotNull { s } => note(s),
            Step::Jump { .. }
            | Step::Loop { .. }
            | Step::Said { .. }
            | Step::Call { .. }
            | Step::Exit => {}
        }
    }
    used
}

/// The value of a register that nobody writes.
fn constant<'p>(program: &'p Program<'_>, r: u32) -> Option<&'p types::Value> {
    let value = program.template.get(r as usize)?;
    (r >= program.variables && !value.is_null()).then_some(value)
}

/// A register of the frame in the processor.
#[derive(Clone, Copy)]
struct Held {
    kind: Kind,
    number: Variable,
    null: Variable,
}

/// A number, and whether it is NULL; none: it is not.
#[derive(Clone, Copy)]
struct Number {
    value: Value,
    null: Option<Value>,
}

struct Emitter<'p, 'f> {
    b: FunctionBuilder<'f>,
    program: &'p Program<'p>,
    held: HashMap<u32, Held>,
    blocks: Vec<Option<Block>>,
    /// By what they return.
    exits: BTreeMap<u64, Block>,
    turns: Variable,
    context: Value,
    frame: Value,
    step_signature: SigRef,
    breathe_signature: SigRef,
    flags: MemFlags,
}

fn register_type(kind: Kind) -> Type {
    match kind {
        Kind::BigInt => I64,
        Kind::Float => F64,
        _ => I32,
    }
}

impl<'p, 'f> Emitter<'p, 'f> {
    fn new(
        mut b: FunctionBuilder<'f>,
        program: &'p Program<'p>,
        used: &BTreeMap<u32, Kind>,
        call_conv: CallConv,
    ) -> Emitter<'p, 'f> {
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        let (context, frame) = (b.block_params(entry)[0], b.block_params(entry)[1]);
        let mut step = Signature::new(call_conv);
        step.params.extend([I64, I32].map(AbiParam::new));
        step.returns.push(AbiParam::new(I32));
        let mut breathe = Signature::new(call_conv);
        breathe.params.push(AbiParam::new(I64));
        breathe.returns.push(AbiParam::new(I32));
        let held = used.iter().map(|(r, kind)| {
            let number = b.declare_var(register_type(*kind));
            (*r, Held { kind: *kind, number, null: b.declare_var(I8) })
        });
        let held = held.collect();
        let mut blocks = vec![None; program.steps.len() + 1];
        for at in leaders(program) {
            blocks[at as usize] = Some(b.create_block());
        }
        Emitter {
            program,
            held,
            blocks,
            exits: BTreeMap::new(),
            turns: b.declare_var(I32),
            context,
            frame,
            step_signature: b.import_signature(step),
            breathe_signature: b.import_signature(breathe),
            flags: MemFlags::trusted(),
            b,
        }
    }

    /// Everything; the entries by step.
    fn emit(mut self) -> Box<[u32]> {
        let steps = self.program.steps;
        let mut entries = vec![NO_ENTRY; steps.len() + 1].into_boxed_slice();
        let all: Vec<u32> = self.held.keys().copied().collect();
        let one = self.b.ins().iconst(I32, 1);
        self.b.def_var(self.turns, one);
        let asked =
            self.b.block_params(self.b.current_block().unwrap_or_else(|| unreachable!()))[2];
        let mut switch = Switch::new();
        for (i, at) in entry_points(self.program).into_iter().enumerate() {
            entries[at as usize] = i as u32;
            if let Some(block) = self.blocks[at as usize] {
                switch.set_entry(i as u128, block);
            }
        }
        // The entry is wanted again where a tag is wrong: the host does that step itself.
        let wrong = self.load(&all);
        let (go, stop) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(stop);
        self.b.ins().brif(wrong, stop, &[], go, &[]);
        self.b.switch_to_block(stop);
        self.return_entry(asked);
        self.b.switch_to_block(go);
        let nowhere = self.b.create_block();
        self.b.set_cold_block(nowhere);
        switch.emit(&mut self.b, asked, nowhere);
        self.b.switch_to_block(nowhere);
        self.return_entry(asked);
        let mut open = false;
        for at in 0..=steps.len() {
            if let Some(block) = self.blocks[at] {
                if open {
                    self.b.ins().jump(block, &[]);
                }
                self.b.switch_to_block(block);
                open = true;
            }
            // Nobody comes here but the host.
            if !open {
                continue;
            }
            open = match steps.get(at) {
                Some(step) => self.step(at as u32, *step),
                None => {
                    self.leave(at as u64);
                    false
                }
            };
        }
        for (ended, block) in std::mem::take(&mut self.exits) {
            self.b.switch_to_block(block);
            self.leave(ended);
        }
        self.b.seal_all_blocks();
        self.b.finalize();
        entries
    }

    /// Returns the step of the entry that was asked for.
    fn return_entry(&mut self, asked: Value) {
        let mut ended = self.b.ins().iconst(I64, 0);
        for (i, at) in entry_points(self.program).into_iter().enumerate() {
            let is = self.b.ins().icmp_imm(IntCC::Equal, asked, i as i64);
            let at = self.b.ins().iconst(I64, i64::from(at));
            ended = self.b.ins().select(is, at, ended);
        }
        self.b.ins().return_(&[ended]);
    }

    fn leave(&mut self, ended: u64) {
        let ended = self.b.ins().iconst(I64, ended as i64);
        self.b.ins().return_(&[ended]);
    }

    /// The block that returns so.
    fn exit(&mut self, ended: u64) -> Block {
        match self.exits.get(&ended) {
            Some(block) => *block,
            None => {
                let block = self.b.create_block();
                self.b.set_cold_block(block);
                self.exits.insert(ended, block);
                block
            }
        }
    }

    fn block(&self, at: u32) -> Block {
        self.blocks[at as usize].unwrap_or_else(|| unreachable!("step {at} is jumped to"))
    }

    /// One step; whether it goes on to the next.
    fn step(&mut self, at: u32, step: Step) -> bool {
        match step {
            Step::Move { d, s } => {
                let kind = self.kind(s);
                let number = self.read(s);
                self.write(d, kind, number);
            }
            Step::Null { d } => {
                let kind = self.kind(d);
                let value = self.zero(register_type(kind));
                let null = self.b.ins().iconst(I8, 1);
                self.write(d, kind, Number { value, null: Some(null) });
            }
            Step::Arith { family: Family::Float, op, d, a, b } => {
                self.float_arithmetic(at, op, d, a, b);
            }
            Step::Arith { family, op, d, a, b } => self.arithmetic(at, family, op, d, a, b),
            Step::Convert { d, s } => self.convert(at, d, s),
            Step::Jump { to } => {
                let to = self.block(to);
                self.b.ins().jump(to, &[]);
                return false;
            }
            Step::Loop { to } => {
                self.go_back(at, to);
                return false;
            }
            Step::Branch { family, compare, a, b, to, on_true } => {
                let x = self.read_as(family, a);
                let y = self.operand(family, b);
                let null = self.either(x.null, y.null);
                let holds = match family {
                    Family::Float => self.b.ins().fcmp(float_condition(compare), x.value, y.value),
                    _ => self.b.ins().icmp(condition(compare), x.value, y.value),
                };
                let holds = match null {
                    Some(null) => {
                        let there = self.b.ins().icmp_imm(IntCC::Equal, null, 0);
                        self.b.ins().band(holds, there)
                    }
                    None => holds,
                };
                self.jump_if(holds, on_true, to);
            }
            Step::BranchNull { s, to, on_null } => match self.read(s).null {
                Some(null) => self.jump_if(null, on_null, to),
                None if on_null => {}
                None => {
                    let to = self.block(to);
                    self.b.ins().jump(to, &[]);
                    return false;
                }
            },
            Step::NotNull { s } => {
                if let Some(null) = self.read(s).null {
                    self.leave_if(null, at);
                }
            }
            Step::Said { rows } => {
                let said = self.b.ins().iconst(I32, i64::from(rows) + 1);
                let offset = offset_of!(Context, said) as i32;
                self.b.ins().store(self.flags, said, self.context, offset);
            }
            Step::Call { writes, or } => self.call(at, writes, or),
            Step::Exit => {
                self.leave(u64::from(at));
                return false;
            }
        }
        true
    }

    fn jump_if(&mut self, holds: Value, on_true: bool, to: u32) {
        let to = self.block(to);
        let next = self.b.create_block();
        let (yes, no) = if on_true { (to, next) } else { (next, to) };
        self.b.ins().brif(holds, yes, &[], no, &[]);
        self.b.switch_to_block(next);
    }

    fn zero(&mut self, ty: Type) -> Value {
        match ty {
            F64 => self.b.ins().f64const(0.0),
            ty => self.b.ins().iconst(ty, 0),
        }
    }

    fn either(&mut self, a: Option<Value>, b: Option<Value>) -> Option<Value> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.b.ins().bor(a, b)),
            (one, other) => one.or(other),
        }
    }

    /// Ends at a step where `holds`.
    fn leave_if(&mut self, holds: Value, at: u32) {
        let exit = self.exit(u64::from(at));
        let next = self.b.create_block();
        self.b.ins().brif(holds, exit, &[], next, &[]);
        self.b.switch_to_block(next);
    }
}

/// Where the host may come in.
fn entry_points(program: &Program<'_>) -> BTreeSet<u32> {
    let loops = program.steps.iter().filter_map(|step| match step {
        Step::Loop { to } => Some(*to),
        _ => None,
    });
    std::iter::once(0).chain(loops).chain(program.entries.iter().copied()).collect()
}

/// Steps that something jumps to.
fn leaders(program: &Program<'_>) -> BTreeSet<u32> {
    let mut leaders = entry_points(program);
    for step in program.steps {
        match step {
            Step::Jump { to }
            | Step::Loop { to }
            | Step::Branch { to, .. }
            | Step::BranchNull { to, .. }
            | Step::Call { or: Some(to), .. } => {
                leaders.insert(*to);
            }
            _ => {}
        }
    }
    leaders
}
