//! Small programs, and what the host is asked.

use crate::*;
use types::Value;

/// What a call does to the frame, and where it leads.
type Does = fn(&mut [Value], u32) -> Option<u32>;

/// Notes what it is asked; does step `at` by `does`.
#[derive(Default)]
struct Noting {
    steps: Vec<u32>,
    breaths: u32,
    /// Breaths until it stops.
    breath_max: u32,
    said: Vec<u8>,
    does: Option<Does>,
}

impl Host for Noting {
    fn step(&mut self, frame: &mut [Value], at: u32) -> Option<u32> {
        self.steps.push(at);
        self.does.and_then(|does| does(frame, at))
    }
    fn breathe(&mut self) -> bool {
        self.breaths += 1;
        self.breaths < self.breath_max
    }
    fn said(&mut self, rows: u8) {
        self.said.push(rows);
    }
}

fn program<'a>(
    steps: &'a [Step],
    kinds: &'a [Option<Kind>],
    template: &'a [Value],
    variables: u32,
) -> Program<'a> {
    Program { steps, kinds, template, variables, entries: &[], turns: 64 }
}

fn compiled(program: &Program<'_>) -> Compiled {
    match compile(program, "test") {
        Ok(compiled) => compiled,
        Err(why) => panic!("{why}"),
    }
}

const INT: Option<Kind> = Some(Kind::Int);
const BIG: Option<Kind> = Some(Kind::BigInt);
const FLOAT: Option<Kind> = Some(Kind::Float);

fn add(d: u32, a: u32, b: Operand) -> Step {
    Step::Arith { family: Family::Int, op: Arith::Add, d, a, b }
}

#[test]
fn a_loop_counts_and_asks_whether_it_may() {
    let below = Step::Branch {
        family: Family::Int,
        compare: Compare::Lt,
        a: 0,
        b: Operand::Int(1000),
        to: 3,
        on_true: false,
    };
    let steps = [below, add(0, 0, Operand::Int(1)), Step::Loop { to: 0 }, Step::Exit];
    let template = [Value::Int(0)];
    let program = program(&steps, &[INT], &template, 1);
    let code = compiled(&program);
    let mut host = Noting { breath_max: u32::MAX, ..Noting::default() };
    let mut frame = template.to_vec();
    assert_eq!(code.run(&mut host, &mut frame, 0), Exit::At(3));
    assert_eq!(frame, [Value::Int(1000)]);
    assert_eq!(host.breaths, 1 + 999 / 64);
    // Told to stop, it leaves the loop's step to the host.
    let mut host = Noting { breath_max: 2, ..Noting::default() };
    let mut frame = template.to_vec();
    assert_eq!(code.run(&mut host, &mut frame, 0), Exit::At(2));
    assert_eq!(frame, [Value::Int(65)]);
}

#[test]
fn null_goes_through_and_what_fails_is_left_to_the_host() {
    let big = |op| Step::Arith { family: Family::BigInt, op, d: 1, a: 1, b: Operand::Register(0) };
    for (op, int, bigint, expected) in [
        (Arith::Add, Value::Int(2), Value::BigInt(40), Some(Value::BigInt(42))),
        (Arith::Add, Value::Null, Value::BigInt(40), Some(Value::Null)),
        (Arith::Add, Value::Int(1), Value::BigInt(i64::MAX), None),
        (Arith::Sub, Value::Int(1), Value::BigInt(i64::MIN), None),
        (Arith::Mul, Value::Int(2), Value::BigInt(i64::MAX), None),
        (Arith::Mul, Value::Int(-7), Value::BigInt(6), Some(Value::BigInt(-42))),
        (Arith::Div, Value::Int(0), Value::BigInt(6), None),
        (Arith::Div, Value::Int(-1), Value::BigInt(i64::MIN), None),
        (Arith::Div, Value::Int(-2), Value::BigInt(7), Some(Value::BigInt(-3))),
        (Arith::Mod, Value::Int(3), Value::BigInt(-7), Some(Value::BigInt(-1))),
        (Arith::Xor, Value::Int(-1), Value::BigInt(5), Some(Value::BigInt(!5))),
    ] {
        let steps = [big(op), Step::Exit];
        let template = [int, bigint];
        let code = compiled(&program(&steps, &[INT, BIG], &template, 2));
        let mut frame = template.to_vec();
        let ended = code.run(&mut Noting::default(), &mut frame, 0);
        match expected {
            Some(value) => assert_eq!((ended, &frame[1]), (Exit::At(1), &value), "{op:?}"),
            None => assert_eq!((ended, &frame[1]), (Exit::At(0), &template[1]), "{op:?}"),
        }
    }
}

#[test]
fn floats_are_finite_or_the_hosts() {
    let div =
        Step::Arith { family: Family::Float, op: Arith::Div, d: 1, a: 1, b: Operand::Register(0) };
    let steps = [div, Step::Exit];
    for (a, b, expected) in [
        (1.0, Value::Int(4), Some(0.25)),
        (1.0, Value::Int(0), None),
        (f64::MAX, Value::Float(0.5), None),
    ] {
        let kinds = [if matches!(b, Value::Int(_)) { INT } else { FLOAT }, FLOAT];
        let template = [b, Value::Float(a)];
        let code = compiled(&program(&steps, &kinds, &template, 2));
        let mut frame = template.to_vec();
        let ended = code.run(&mut Noting::default(), &mut frame, 0);
        match expected {
            Some(value) => assert_eq!((ended, &frame[1]), (Exit::At(1), &Value::Float(value))),
            None => assert_eq!((ended, &frame[1]), (Exit::At(0), &Value::Float(a))),
        }
    }
}

#[test]
fn the_host_reads_and_writes_the_frame() {
    fn does(frame: &mut [Value], at: u32) -> Option<u32> {
        assert_eq!((at, &frame[0]), (1, &Value::Int(8)));
        frame[0] = Value::Int(100);
        frame[1] = Value::str("a text that is longer than what lies inline");
        Some(2)
    }
    let steps = [
        add(0, 0, Operand::Int(1)),
        Step::Call { writes: Writes::Variables, or: None },
        Step::Said { rows: 1 },
        add(0, 0, Operand::Register(2)),
        Step::Exit,
    ];
    let template = [Value::Int(7), Value::Null, Value::Int(11)];
    let code = compiled(&program(&steps, &[INT, None, INT], &template, 2));
    let mut host = Noting { does: Some(does), ..Noting::default() };
    let mut frame = template.to_vec();
    assert_eq!(code.run(&mut host, &mut frame, 0), Exit::At(4));
    assert_eq!(frame[0], Value::Int(111));
    assert_eq!((host.steps, host.said), (vec![1], vec![1]));
}

#[test]
fn a_value_of_another_kind_is_the_hosts() {
    fn does(frame: &mut [Value], _: u32) -> Option<u32> {
        frame[0] = Value::str("no int");
        Some(1)
    }
    let steps = [
        Step::Call { writes: Writes::Variables, or: None },
        add(0, 0, Operand::Int(1)),
        Step::Exit,
    ];
    let template = [Value::Int(7)];
    let code = compiled(&program(&steps, &[INT], &template, 1));
    let mut host = Noting { does: Some(does), ..Noting::default() };
    let mut frame = template.to_vec();
    assert_eq!(code.run(&mut host, &mut frame, 0), Exit::At(1));
    assert_eq!(frame[0], Value::str("no int"));
    // Nor does it begin with one.
    assert_eq!(code.run(&mut host, &mut frame, 0), Exit::At(0));
}

#[test]
fn the_hosts_end_and_its_panic_come_through() {
    let steps = [Step::Call { writes: Writes::Nothing, or: None }, Step::Exit];
    let code = compiled(&program(&steps, &[], &[], 0));
    assert_eq!(code.run(&mut Noting::default(), &mut [], 0), Exit::Halted(0));
    fn panics(_: &mut [Value], _: u32) -> Option<u32> {
        panic!("in the host")
    }
    let caught = std::panic::catch_unwind(|| {
        code.run(&mut Noting { does: Some(panics), ..Noting::default() }, &mut [], 0)
    });
    let said = caught.err().and_then(|panic| panic.downcast_ref::<&str>().copied());
    assert_eq!(said, Some("in the host"));
}
