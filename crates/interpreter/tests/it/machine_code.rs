//! Machine code against the interpreter: generated modules do the same both ways, to the number and line of an error.
//!
//! `MACHINE_CODE_SEEDS=0..100000 cargo test -p interpreter --test it machine_code` tries more than the usual number.

use crate::support::Session;
use std::fmt::Write;

/// A program from a number.
struct Generator {
    state: u64,
    text: String,
    loops: u32,
    line_depth: u32,
}

/// Variables by kind of type; those of loops are written by their loops alone.
const INTS: [&str; 3] = ["@a", "@b", "@i"];
const BIGS: [&str; 2] = ["@c", "@d"];
const FLOATS: [&str; 2] = ["@e", "@f"];
const SMALLS: [&str; 3] = ["@g", "@h", "@k"];

const HEAD: &str = "@a int OUTPUT, @b int OUTPUT, @c bigint OUTPUT, @d bigint OUTPUT, @e float OUTPUT, \
    @f float OUTPUT, @g bit OUTPUT, @h smallint OUTPUT, @k tinyint OUTPUT, @s varchar(60) OUTPUT";

impl Generator {
    fn below(&mut self, n: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n
    }

    fn one<'x>(&mut self, of: &[&'x str]) -> &'x str {
        of[self.below(of.len() as u64) as usize]
    }

    fn line(&mut self, text: &str) {
        let depth = self.line_depth as usize;
        let _ = writeln!(self.text, "{:depth$}{text}", "");
    }

    fn int(&mut self, depth: u32) -> String {
        match self.below(if depth == 0 { 4 } else { 14 }) {
            0 | 1 => self.one(&INTS).into(),
            2 => self
                .one(&["0", "1", "2", "3", "7", "-1", "100", "65536", "2147483647", "-5"])
                .into(),
            3 => self.one(&SMALLS[1..]).into(),
            4 => match self.below(3) {
                0 => "CAST(NULL AS int)".into(),
                _ => format!("-({})", self.int(depth - 1)),
            },
            5 => format!("~({})", self.int(depth - 1)),
            6 => format!(
                "CASE WHEN {} THEN {} ELSE {} END",
                self.condition(depth - 1),
                self.int(depth - 1),
                self.int(depth - 1)
            ),
            7 => format!("ISNULL({}, {})", self.one(&INTS), self.int(depth - 1)),
            8 => format!("CAST({} AS int)", self.big(depth - 1)),
            _ => {
                let op = self.one(&["+", "-", "*", "/", "%", "&", "|", "^"]);
                format!("({} {op} {})", self.int(depth - 1), self.int(depth - 1))
            }
        }
    }

    fn big(&mut self, depth: u32) -> String {
        match self.below(if depth == 0 { 3 } else { 8 }) {
            0 | 1 => self.one(&BIGS).into(),
            2 => self.one(&["CAST(5 AS bigint)", "4294967296", "9223372036854775807"]).into(),
            3 => self.int(depth - 1),
            _ => {
                let op = self.one(&["+", "-", "*", "/", "%", "&", "|", "^"]);
                format!("({} {op} {})", self.big(depth - 1), self.big(depth - 1))
            }
        }
    }

    fn float(&mut self, depth: u32) -> String {
        match self.below(if depth == 0 { 3 } else { 8 }) {
            0 | 1 => self.one(&FLOATS).into(),
            2 => self.one(&["1.5E0", "-2E0", "1E300", "0E0", "3E-5"]).into(),
            3 => self.int(depth - 1),
            _ => {
                let op = self.one(&["+", "-", "*", "/"]);
                format!("({} {op} {})", self.float(depth - 1), self.float(depth - 1))
            }
        }
    }

    fn condition(&mut self, depth: u32) -> String {
        let compare = self.one(&["=", "<>", "<", "<=", ">", ">="]);
        match self.below(if depth == 0 { 4 } else { 11 }) {
            0 | 1 => format!("{} {compare} {}", self.int(depth), self.int(depth)),
            2 => format!("{} {compare} {}", self.big(depth), self.big(depth)),
            3 => format!("{} {compare} {}", self.float(depth), self.float(depth)),
            4 => format!("({} AND {})", self.condition(depth - 1), self.condition(depth - 1)),
            5 => format!("({} OR {})", self.condition(depth - 1), self.condition(depth - 1)),
            6 => format!("NOT ({})", self.condition(depth - 1)),
            7 => {
                let not = self.one(&["", "NOT "]);
                let var = self.one(&["@a", "@c", "@e", "@s", "@g"]);
                format!("{var} IS {not}NULL")
            }
            8 => {
                let not = self.one(&["", "NOT "]);
                format!("{} {not}IN ({}, 1, {})", self.int(0), self.int(0), self.int(0))
            }
            9 => format!("@s {compare} '{}'", self.one(&["a", "bb", ""])),
            _ => format!("{} BETWEEN {} AND {}", self.int(0), self.int(0), self.int(0)),
        }
    }

    fn assignment(&mut self) -> String {
        let op = self.one(&["=", "=", "=", "+=", "-=", "*=", "/=", "%="]);
        match self.below(10) {
            0..=3 => format!("SET {} {op} {}", self.one(&INTS[..2]), self.int(3)),
            4 | 5 => format!("SET {} {op} {}", self.one(&BIGS), self.big(3)),
            6 | 7 => {
                let op = if op == "%=" { "=" } else { op };
                format!("SET {} {op} {}", self.one(&FLOATS), self.float(3))
            }
            8 => format!("SET {} = {}", self.one(&SMALLS), self.int(1)),
            _ => match self.below(3) {
                0 => "SET @s = @s + 'x'".into(),
                1 => format!("SET @s = CAST({} AS varchar(20))", self.int(1)),
                _ => format!("SET @a = @@ROWCOUNT + {}", self.int(1)),
            },
        }
    }

    fn block(&mut self, statements: u64, depth: u32) {
        self.line("BEGIN");
        self.line_depth += 1;
        for _ in 0..=self.below(statements) {
            self.statement(depth);
        }
        self.line_depth -= 1;
        self.line("END");
    }

    fn statement(&mut self, depth: u32) {
        match self.below(if depth == 0 { 6 } else { 12 }) {
            0..=5 => {
                let text = self.assignment();
                self.line(&text);
            }
            6 | 7 => {
                let text = format!("IF {}", self.condition(2));
                self.line(&text);
                self.block(3, depth - 1);
                if self.below(2) == 0 {
                    self.line("ELSE");
                    self.block(3, depth - 1);
                }
            }
            8 | 9 if self.loops < 2 => {
                self.loops += 1;
                // One counter a level, so that every loop ends.
                let counter = format!("@n{}", self.loops);
                let text = format!("SET {counter} = 0");
                self.line(&text);
                let turns = 1 + self.below(if depth > 1 { 100 } else { 20 });
                let text = format!("WHILE {counter} < {turns}");
                self.line(&text);
                self.line("BEGIN");
                self.line_depth += 1;
                let text = format!("SET {counter} += 1 SET @i = {counter}");
                self.line(&text);
                for _ in 0..=self.below(4) {
                    self.statement(depth - 1);
                }
                if self.below(3) == 0 {
                    let leave = self.one(&["RETURN 3", "RETURN"]);
                    let text = format!("IF {} {leave}", self.condition(1));
                    self.line(&text);
                }
                self.line_depth -= 1;
                self.line("END");
                self.loops -= 1;
            }
            10 => {
                self.line("BEGIN TRY");
                self.statement(depth - 1);
                self.statement(depth - 1);
                self.line("END TRY");
                self.line("BEGIN CATCH");
                self.line("SET @b = ERROR_NUMBER() * 1000 + ERROR_LINE()");
                self.statement(depth - 1);
                self.line("END CATCH");
            }
            _ => {
                let text = self.assignment();
                self.line(&text);
            }
        }
    }

    /// A module and a call of it.
    fn program(seed: u64) -> (String, String) {
        let mut g = Generator { state: seed, text: String::new(), loops: 0, line_depth: 1 };
        for _ in 0..3 + g.below(6) {
            g.statement(3);
        }
        if g.below(2) == 0 {
            let text = format!("RETURN {}", g.int(1));
            g.line(&text);
        }
        let create = format!(
            "CREATE PROCEDURE dbo.p{seed} {HEAD} WITH NATIVE_COMPILATION, SCHEMABINDING AS\n\
             BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')\n \
             DECLARE @i int, @n1 int NOT NULL = 0, @n2 int NOT NULL = 0\n{}END",
            g.text
        );
        let mut value = |of: &[&'static str]| g.one(of);
        let call = format!(
            "DECLARE @r int, @a int = {}, @b int = {}, @c bigint = {}, @d bigint = 3, @e float = {}, @f float = 2, \
             @g bit = {}, @h smallint = {}, @k tinyint = 200, @s varchar(60) = {}\n\
             EXEC @r = dbo.p{seed} @a OUTPUT, @b OUTPUT, @c OUTPUT, @d OUTPUT, @e OUTPUT, @f OUTPUT, @g OUTPUT, \
             @h OUTPUT, @k OUTPUT, @s OUTPUT\n\
             SELECT @r, @a, @b, @c, @d, @e, @f, @g, @h, @k, @s, @@ERROR, @@ROWCOUNT",
            value(&["0", "1", "-7", "NULL", "2147483600"]),
            value(&["0", "5", "NULL"]),
            value(&["0", "NULL", "9223372036854775000"]),
            value(&["0", "1.5", "NULL", "1E200"]),
            value(&["0", "1", "NULL"]),
            value(&["0", "-3", "NULL", "32000"]),
            value(&["'a'", "''", "NULL"]),
        );
        (create, call)
    }
}

fn seeds() -> std::ops::Range<u64> {
    let named = std::env::var("MACHINE_CODE_SEEDS").ok();
    let range = named.as_deref().and_then(|range| {
        let (from, to) = range.split_once("..")?;
        Some(from.parse().ok()?..to.parse().ok()?)
    });
    range.unwrap_or(0..300)
}

#[test]
fn generated_modules_do_the_same_both_ways() {
    let database = crate::support::database();
    let mut session = Session::new(&database, 51);
    let (mut made, mut failed, mut tried) = (0, 0, 0);
    let mut refusals = std::collections::BTreeSet::new();
    for seed in seeds() {
        tried += 1;
        let (create, call) = Generator::program(seed);
        let refused = session.run(&create);
        if !refused.is_empty() {
            // The binder knows what cannot be: NULL + NULL, say.
            refusals.insert(refused.lines().next().unwrap_or("").to_owned());
            continue;
        }
        made += 1;
        interpreter::use_machine_code(false);
        let interpreted = session.run(&call);
        interpreter::use_machine_code(true);
        let compiled = session.run(&call);
        assert_eq!(interpreted, compiled, "seed {seed}\n{create}\n{call}");
        assert!(!compiled.contains("is run by the interpreter"), "seed {seed}: {compiled}");
        failed += usize::from(compiled.contains("Msg "));
        session.run(&format!("DROP PROCEDURE dbo.p{seed}"));
    }
    assert!(made * 5 > tried, "{made} of {tried} were modules: {refusals:#?}");
    assert!(failed * 10 > made && failed < made, "{failed} of {made} ended with an error");
}
