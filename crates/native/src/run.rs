//! Into machine code and out of it.
//!
//! ```text
//! Compiled::run ──> machine code ──> step_of, breathe_of ──> Host
//! ```
//!
//! The machine code is called with a [`Context`] and the frame, both borrowed by [`Compiled::run`] for as long as it
//! runs, and with nothing else; it calls the two functions in the context and nothing else. While it is in one of them
//! it looks at neither, so each may take them as references. A panic of the host, of which a coroutine that is taken
//! down is one, ends in the context, machine code returns, and it goes on from there.

use crate::layout;
use cranelift_jit::JITModule;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use types::Value;

/// Who does what machine code does not.
pub trait Host {
    /// Does step `at` on the frame. Where to go on; none: not at all, and the host knows why.
    fn step(&mut self, frame: &mut [Value], at: u32) -> Option<u32>;
    /// Between two turns of a loop: whether it goes on. If not, the host will be asked to do the [`crate::Step::Loop`].
    fn breathe(&mut self) -> bool;
    /// What the last [`crate::Step::Said`] said. Told before the host does anything, and at the end.
    fn said(&mut self, rows: u8);
}

/// Where machine code ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The host does this step, and what follows.
    At(u32),
    /// The host said so, at this step.
    Halted(u32),
}

/// What machine code gets of the world. Its fields are named by their offsets in `emit`.
#[repr(C)]
pub(crate) struct Context {
    pub step: extern "C" fn(*mut Context, u32) -> u32,
    pub breathe: extern "C" fn(*mut Context) -> u32,
    /// One more than the rows last said; 0: the host knows.
    pub said: u32,
    host: *mut (),
    frame: *mut Value,
    frame_len: usize,
    panic: Option<Box<dyn Any + Send>>,
}

/// The answer of [`Context::step`] that is no step.
pub(crate) const HALT: u32 = u32::MAX;
/// In the high half of what machine code returns, with the step in the low one.
pub(crate) const HALTED: u64 = 1 << 32;

/// (context, frame, entry) -> step, or [`HALTED`] and step.
pub(crate) type Entry = unsafe extern "C" fn(*mut Context, *mut Value, u32) -> u64;

/// Machine code of a program.
pub struct Compiled {
    entry: Entry,
    /// By step: the number of the entry there, or [`NO_ENTRY`].
    entries: Box<[u32]>,
    registers: usize,
    /// Bytes of machine code.
    bytes: usize,
    /// The memory behind `entry`; taken by `drop` alone.
    module: Mutex<Option<JITModule>>,
}

pub(crate) const NO_ENTRY: u32 = u32::MAX;

impl Compiled {
    /// `entry` must be machine code that `emit` made for a program of that many registers, in `module`.
    pub(crate) fn new(
        module: JITModule,
        entry: Entry,
        entries: Box<[u32]>,
        registers: usize,
        bytes: usize,
    ) -> Compiled {
        Compiled { entry, entries, registers, bytes, module: Mutex::new(Some(module)) }
    }

    /// How long the machine code is.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether machine code can begin at a step.
    #[inline]
    pub fn is_entry(&self, at: u32) -> bool {
        self.entries.get(at as usize).is_some_and(|entry| *entry != NO_ENTRY)
    }

    /// Runs from an entry until the host is asked to go on, or said to end.
    pub fn run<H: Host>(&self, host: &mut H, frame: &mut [Value], at: u32) -> Exit {
        assert!(frame.len() >= self.registers, "a frame of {} registers", frame.len());
        let entry = self.entries[at as usize];
        assert!(entry != NO_ENTRY, "step {at} is no entry");
        let mut context = Context {
            step: step_of::<H>,
            breathe: breathe_of::<H>,
            said: 0,
            host: std::ptr::from_mut(host).cast(),
            frame: frame.as_mut_ptr(),
            frame_len: frame.len(),
            panic: None,
        };
        let pointer: *mut Context = &raw mut context;
        // SAFETY: `self.entry` is machine code of `emit` (see `new`), alive as long as `self`. It reads and writes the
        // context and, by the checks above, registers inside of the frame, of whose values it writes whole tags with
        // their numbers and never over a value that owns something (`emit`). Both are borrowed by us until it returns;
        // it is given them by the pointers that `step_of` and `breathe_of` take them from, and does not hold any
        // reference over their calls.
        let ended = unsafe { (self.entry)(pointer, context.frame, entry) };
        told::<H>(&mut context, host);
        if let Some(panic) = context.panic.take() {
            resume_unwind(panic);
        }
        let at = ended as u32;
        if ended & HALTED != 0 { Exit::Halted(at) } else { Exit::At(at) }
    }
}

impl Drop for Compiled {
    fn drop(&mut self) {
        let module = self.module.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(module) = module.take() {
            // SAFETY: whoever runs the code borrows `self`, so nobody does; `entry` is not called again.
            unsafe { module.free_memory() }
        }
    }
}

/// Tells the host what was said since it was last told.
fn told<H: Host>(context: &mut Context, host: &mut H) {
    if context.said > 0 {
        host.said((context.said - 1) as u8);
        context.said = 0;
    }
}

/// Runs a function of the host; none where it panicked.
fn guarded<H: Host, R>(
    context: *mut Context,
    body: impl FnOnce(&mut H, &mut [Value]) -> R,
) -> Option<R> {
    // SAFETY: machine code passes on the pointer that `Compiled::run` gave it, to a context that lives there, and holds
    // no reference to it while it waits for us.
    let context = unsafe { &mut *context };
    // SAFETY: `host` is the `&mut H` of `Compiled::run::<H>`, which put this very function, of the same H, into the
    // context, and does not use it until machine code has returned.
    let host = unsafe { &mut *context.host.cast::<H>() };
    // SAFETY: pointer and length are of the `&mut [Value]` that `Compiled::run` has and does not use meanwhile; every
    // value in it is whole, since machine code writes tag and number of each before it calls.
    let frame = unsafe { std::slice::from_raw_parts_mut(context.frame, context.frame_len) };
    let told_first = |context: &mut Context| {
        told(context, host);
        body(host, frame)
    };
    match catch_unwind(AssertUnwindSafe(|| told_first(context))) {
        Ok(result) => Some(result),
        Err(panic) => {
            context.panic = Some(panic);
            None
        }
    }
}

extern "C" fn step_of<H: Host>(context: *mut Context, at: u32) -> u32 {
    guarded(context, |host: &mut H, frame| host.step(frame, at)).flatten().unwrap_or(HALT)
}

/// 1: it goes on.
extern "C" fn breathe_of<H: Host>(context: *mut Context) -> u32 {
    u32::from(guarded(context, |host: &mut H, _| host.breathe()) == Some(true))
}

const _: () = assert!(layout::STRIDE <= 64);
