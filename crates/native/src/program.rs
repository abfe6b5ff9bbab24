//! What can be compiled.

use types::Value;

/// What a register holds, if it is not NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Bit,
    TinyInt,
    SmallInt,
    Int,
    BigInt,
    Float,
}

impl Kind {
    /// Integers that fit an int, which is what they are in the processor.
    pub(crate) fn is_small(self) -> bool {
        !matches!(self, Kind::BigInt | Kind::Float)
    }
}

/// In which numbers a step calculates or compares. It reads registers of smaller kinds as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    Int,
    BigInt,
    Float,
}

impl Family {
    /// The kind of its results.
    pub fn kind(self) -> Kind {
        match self {
            Family::Int => Kind::Int,
            Family::BigInt => Kind::BigInt,
            Family::Float => Kind::Float,
        }
    }

    /// Whether its steps read registers of that kind.
    pub fn reads(self, kind: Kind) -> bool {
        match self {
            Family::Int => kind.is_small(),
            Family::BigInt => kind != Kind::Float,
            Family::Float => true,
        }
    }
}

/// An operation. Floats know the first four, of which the host does those that give no finite number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arith {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// An operand: a register, or an int that the step has with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    Register(u32),
    Int(i32),
}

/// Registers that a step of the host may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    Nothing,
    One(u32),
    /// Every variable: registers below [`Program::variables`].
    Variables,
}

/// One step. NULL in, NULL out; a comparison with NULL is not true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// d = s, of one kind
    Move {
        d: u32,
        s: u32,
    },
    /// d = NULL
    Null {
        d: u32,
    },
    /// d = a op b
    Arith {
        family: Family,
        op: Arith,
        d: u32,
        a: u32,
        b: Operand,
    },
    /// d = s as the kind of d: bit, int, bigint or float, from any integer
    Convert {
        d: u32,
        s: u32,
    },
    Jump {
        to: u32,
    },
    /// A jump back that asks whether it may.
    Loop {
        to: u32,
    },
    /// A jump if the comparison is true, or unless it is.
    Branch {
        family: Family,
        compare: Compare,
        a: u32,
        b: Operand,
        to: u32,
        on_true: bool,
    },
    /// A jump if a register is NULL, or unless it is.
    BranchNull {
        s: u32,
        to: u32,
        on_null: bool,
    },
    /// The host does this step if a register is NULL; else nobody does anything.
    NotNull {
        s: u32,
    },
    /// A statement is over, with so many rows: [`crate::Host::said`].
    Said {
        rows: u8,
    },
    /// The host does this step, and says where to go on: mostly at the next one, or at `or`.
    Call {
        writes: Writes,
        or: Option<u32>,
    },
    /// Machine code ends here.
    Exit,
}

/// See the crate.
pub struct Program<'a> {
    pub steps: &'a [Step],
    /// The kinds of the registers; none for those that only the host reads and writes.
    pub kinds: &'a [Option<Kind>],
    /// The frame to begin with. What is not NULL behind the variables is a constant: no step writes it.
    pub template: &'a [Value],
    /// How many registers are variables.
    pub variables: u32,
    /// Where the host may come in again, besides at the beginning and at loops' beginnings.
    pub entries: &'a [u32],
    /// Turns of loops between two questions whether to go on. A step of the host counts as so many.
    pub turns: u32,
}

/// Why there is no machine code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// The program has too many steps or registers.
    TooLarge,
    /// The processor, or the system, does not let us: what the compiler says.
    Refused(String),
}

impl std::fmt::Display for Unavailable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unavailable::TooLarge => f.write_str("the program is too large"),
            Unavailable::Refused(why) => f.write_str(why),
        }
    }
}
