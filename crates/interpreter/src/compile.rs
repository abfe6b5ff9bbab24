//! Programs to bytecode.
//!
//! Promise: arithmetic, comparison and logic of integers and floats become instructions of their own ([`values`]),
//! everything else an expression tree behind one instruction. Statements over tables stay whole and are planned at
//! their first run. What no one can see is left out ([`shorten`]).

mod shorten;
mod values;

use crate::block::Atomic;
use crate::code::{Code, Handler, Span};
use crate::op::{Op, Pc, Reg};
use ir::{Condition, Expr, ExprKind, LabelId, Program, Stmt, StmtKind};
use std::sync::Arc;
use types::{SqlType, Value};

/// A program of nothing: the caller of what has no caller.
pub(crate) fn nothing() -> Code {
    compile(Arc::default(), None, 0)
}

/// Compiles a program.
pub(crate) fn compile(program: Arc<Program>, name: Option<String>, object_id: i32) -> Code {
    let mut compiler = Compiler {
        ops: Vec::new(),
        template: vec![Value::Null; program.vars.len()],
        types: program.vars.iter().map(|v| Some(v.ty)).collect(),
        handlers: Vec::new(),
        spans: Vec::new(),
        exprs: Vec::new(),
        statements: Vec::new(),
        conditions: Vec::new(),
        returns: Vec::new(),
        labels: vec![None; program.labels.len()],
        gotos: Vec::new(),
        loops: Vec::new(),
        catches: 0,
        label_catches: vec![0; program.labels.len()],
        not_null: not_null_vars(&program),
    };
    label_catches(&program.body, 0, &mut compiler.label_catches);
    compiler.block(&program.body);
    compiler.ops.push(Op::Return { status: None });
    for (at, label) in std::mem::take(&mut compiler.gotos) {
        // The binder has checked that the label exists.
        let to = compiler.labels[label.0 as usize].unwrap_or(compiler.here());
        compiler.ops[at] = if to <= at as Pc { Op::Loop { to } } else { Op::Jump { to } };
    }
    compiler.fuse_commits();
    compiler.shorten();
    let changes_database =
        compiler.statements.iter().any(|s| matches!(s.kind, StmtKind::Use { .. }));
    Code {
        ops: compiler.ops,
        template: compiler.template,
        handlers: compiler.handlers,
        spans: compiler.spans,
        exprs: compiler.exprs,
        statements: compiler.statements,
        conditions: compiler.conditions,
        returns: compiler.returns,
        atomic: program.atomic.as_ref().map(|atomic| Box::new(Atomic::of(atomic))),
        vars: program.vars.iter().map(|v| v.ty).collect(),
        types: compiler.types,
        params: program.params.clone(),
        tables: program.tables.iter().map(|t| t.def.clone()).collect(),
        program,
        name,
        object_id,
        declarations: None,
        runs_as: None,
        changes_database,
        machine_code: Default::default(),
    }
}

struct Compiler {
    ops: Vec<Op>,
    template: Vec<Value>,
    /// See [`Code::types`].
    types: Vec<Option<SqlType>>,
    handlers: Vec<Handler>,
    spans: Vec<Span>,
    exprs: Vec<planner::ExprPlan>,
    statements: Vec<Stmt>,
    conditions: Vec<Condition>,
    returns: Vec<Expr>,
    labels: Vec<Option<Pc>>,
    /// Instructions that jump to labels.
    gotos: Vec<(usize, LabelId)>,
    loops: Vec<Loop>,
    /// CATCH blocks that are open here, and at each label.
    catches: usize,
    label_catches: Vec<usize>,
    /// Variables declared NOT NULL: none but in natively compiled modules.
    not_null: Vec<Reg>,
}

fn not_null_vars(program: &Program) -> Vec<Reg> {
    let vars = program.vars.iter().enumerate();
    vars.filter(|(_, var)| var.not_null).map(|(i, _)| i as Reg).collect()
}

/// How many CATCH blocks are open at each label.
fn label_catches(statements: &[Stmt], open: usize, labels: &mut [usize]) {
    for statement in statements {
        match &statement.kind {
            StmtKind::Block(body) | StmtKind::While { body, .. } => {
                label_catches(body, open, labels)
            }
            StmtKind::If { then, otherwise, .. } => {
                label_catches(then, open, labels);
                label_catches(otherwise, open, labels);
            }
            StmtKind::TryCatch { body, handler } => {
                label_catches(body, open, labels);
                label_catches(handler, open + 1, labels);
            }
            StmtKind::Label(label) => labels[label.0 as usize] = open,
            _ => {}
        }
    }
}

/// An open WHILE.
struct Loop {
    start: Pc,
    /// CATCH blocks around it.
    catches: usize,
    breaks: Vec<usize>,
}

impl Compiler {
    fn here(&self) -> Pc {
        self.ops.len() as Pc
    }

    fn block(&mut self, statements: &[Stmt]) {
        statements.iter().for_each(|s| self.statement(s));
    }

    /// A span over what `emit` emits.
    fn spanned(&mut self, line: u32, emit: impl FnOnce(&mut Self)) -> usize {
        let start = self.here();
        emit(self);
        let end = self.here();
        self.spans.push(Span { start, end, resume: end, line });
        self.spans.len() - 1
    }

    fn statement(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Block(body) => self.block(body),
            StmtKind::Nothing => {}
            StmtKind::If { condition, then, otherwise } => {
                let mut skips = Vec::new();
                let span = self.spanned(statement.line, |c| {
                    if !resets_itself(condition) {
                        c.ops.push(Op::Done { rows: 0 });
                    }
                    skips = c.unless(condition);
                });
                self.block(then);
                if otherwise.is_empty() {
                    self.land(&skips);
                } else {
                    let over = self.jump();
                    self.land(&skips);
                    self.block(otherwise);
                    self.land(&[over]);
                }
                self.spans[span].resume = self.here();
            }
            StmtKind::While { condition, body } => {
                let start = self.here();
                let mut skips = Vec::new();
                let span = self.spanned(statement.line, |c| skips = c.unless(condition));
                // A turn has mostly a statement that says so, too; so it is said on both ways, not before them.
                let says = !resets_itself(condition);
                if says {
                    self.ops.push(Op::Done { rows: 0 });
                }
                let catches = self.catches;
                self.loops.push(Loop { start, catches, breaks: Vec::new() });
                self.block(body);
                self.spanned(statement.line, |c| c.ops.push(Op::Loop { to: start }));
                self.land(&skips);
                if says {
                    self.ops.push(Op::Done { rows: 0 });
                }
                if let Some(open) = self.loops.pop() {
                    self.land(&open.breaks);
                }
                self.spans[span].resume = self.here();
            }
            StmtKind::Break => {
                self.leave_catches(self.loops.last().map_or(0, |open| open.catches));
                let at = self.jump();
                if let Some(open) = self.loops.last_mut() {
                    open.breaks.push(at);
                }
            }
            StmtKind::Continue => {
                self.leave_catches(self.loops.last().map_or(0, |open| open.catches));
                let to = self.loops.last().map_or(self.here() + 1, |open| open.start);
                self.spanned(statement.line, |c| c.ops.push(Op::Loop { to }));
            }
            StmtKind::TryCatch { body, handler } => {
                let start = self.here();
                self.block(body);
                let end = self.here();
                let over = self.jump();
                let (target, depth) = (self.here(), self.catches);
                let at = self.handlers.len();
                self.handlers.push(Handler { start, end, target, catch_end: target, depth });
                self.catches += 1;
                self.block(handler);
                self.catches -= 1;
                self.handlers[at].catch_end = self.here();
                self.ops.push(Op::EndCatch);
                self.land(&[over]);
            }
            StmtKind::Label(label) => self.labels[label.0 as usize] = Some(self.here()),
            StmtKind::Goto(label) => {
                let label = *label;
                self.leave_catches(self.label_catches.get(label.0 as usize).copied().unwrap_or(0));
                self.spanned(statement.line, |c| {
                    let at = c.jump();
                    c.gotos.push((at, label));
                });
            }
            StmtKind::Return(status) => {
                let reads =
                    |expr: &&Expr| expr.any(&mut |e| matches!(e.kind, ExprKind::Subquery { .. }));
                self.returns.extend(status.iter().filter(reads).cloned());
                self.spanned(statement.line, |c| {
                    let status = status.as_ref().map(|expr| c.value(expr, None));
                    c.ops.push(Op::Return { status });
                });
            }
            StmtKind::SetVars(sets) if statement.source.is_none() => {
                self.spanned(statement.line, |c| {
                    for (var, expr) in sets {
                        let d = var.0 as Reg;
                        let watched: Vec<Reg> =
                            c.not_null.iter().copied().filter(|v| *v == d).collect();
                        c.watching(&watched, |c| {
                            c.value(expr, Some(d));
                        });
                    }
                    c.ops.push(Op::Done { rows: 1 });
                });
            }
            StmtKind::Begin { name: None, .. } => {
                self.spanned(statement.line, |c| c.ops.push(Op::Begin));
            }
            StmtKind::Commit { delayed } => {
                let delayed = *delayed;
                self.spanned(statement.line, |c| c.ops.push(Op::Commit { delayed }));
            }
            _ => {
                let index = self.statements.len() as u32;
                self.statements.push(statement.clone());
                let watched = self.not_null.clone();
                self.spanned(statement.line, |c| {
                    c.watching(&watched, |c| c.ops.push(Op::Statement { index }));
                });
            }
        }
    }

    /// What `emit` emits, and behind it a look at the variables that it may have set to NULL and must not.
    fn watching(&mut self, watched: &[Reg], emit: impl FnOnce(&mut Self)) {
        let mut looks = Vec::with_capacity(watched.len());
        for &d in watched {
            let saved = self.register(Value::Null, self.types[d as usize]);
            self.ops.push(Op::Move { d: saved, s: d });
            looks.push(Op::NotNull { d, saved });
        }
        emit(self);
        self.ops.append(&mut looks);
    }

    /// INSERT followed by COMMIT. The COMMIT stays where it is, for the times when they cannot be one.
    fn fuse_commits(&mut self) {
        for i in 1..self.ops.len() {
            let (Op::Statement { index }, Op::Commit { delayed }) = (self.ops[i - 1], self.ops[i])
            else {
                continue;
            };
            // A boundary of a TRY block between the two would be stepped over.
            let crosses = self.handlers.iter().any(|h| {
                (h.start..h.end).contains(&(i as Pc - 1)) != (h.start..h.end).contains(&(i as Pc))
            });
            let kind = &self.statements[index as usize].kind;
            if matches!(kind, StmtKind::Insert(_) | StmtKind::Deferred) && !crosses {
                self.ops[i - 1] = Op::InsertCommit { index, delayed };
            }
        }
    }

    /// What a jump does first that goes where `outer` CATCH blocks are open: the others end.
    fn leave_catches(&mut self, outer: usize) {
        for _ in outer..self.catches {
            self.ops.push(Op::EndCatch);
        }
    }

    fn jump(&mut self) -> usize {
        self.ops.push(Op::Jump { to: Pc::MAX });
        self.ops.len() - 1
    }

    /// Makes forward jumps land here.
    fn land(&mut self, jumps: &[usize]) {
        let here = self.here();
        for &at in jumps {
            match self.ops[at].target() {
                Some(to) => *to = here,
                None => stdx::fatal!("{:?} is no jump", self.ops[at]),
            }
        }
    }

    fn register(&mut self, value: Value, ty: Option<SqlType>) -> Reg {
        self.template.push(value);
        self.types.push(ty);
        match Reg::try_from(self.template.len() - 1) {
            Ok(reg) => reg,
            // A text has fewer bytes than that.
            Err(_) => unreachable!("a program of {} registers", self.template.len()),
        }
    }
}

/// Whether the instruction of a condition sets @@ROWCOUNT and @@ERROR itself, behind what it asks: it may ask for them.
fn resets_itself(condition: &Condition) -> bool {
    match (&condition.expr, &condition.source) {
        (Some(expr), None) => values::observes(expr),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::When;
    use ir::{ArithOp, CompareOp, VarId};

    fn expr(kind: ExprKind, ty: SqlType) -> Expr {
        Expr::new(kind, ty, true)
    }

    fn var(i: u32) -> Expr {
        expr(ExprKind::Var(VarId(i)), SqlType::Int)
    }

    fn stmt(kind: StmtKind) -> Stmt {
        Stmt { line: 1, span: Default::default(), kind, source: None }
    }

    fn program(vars: usize, body: Vec<Stmt>) -> Arc<Program> {
        Arc::new(Program {
            vars: (0..vars)
                .map(|i| ir::VarDef { name: format!("@v{i}"), ty: SqlType::Int, not_null: false })
                .collect(),
            body,
            ..Program::default()
        })
    }

    #[test]
    fn a_counting_loop_is_five_instructions() {
        let one = expr(ExprKind::Const(Value::Int(1)), SqlType::Int);
        let sum =
            ExprKind::Arith { op: ArithOp::Add, left: Box::new(var(0)), right: Box::new(one) };
        let condition = ExprKind::Compare {
            op: CompareOp::Lt,
            left: Box::new(var(0)),
            right: Box::new(var(1)),
        };
        let body = vec![stmt(StmtKind::While {
            condition: Condition { expr: Some(expr(condition, SqlType::Bit)), source: None },
            body: vec![stmt(StmtKind::SetVars(vec![(VarId(0), expr(sum, SqlType::Int))]))],
        })];
        let code = compile(program(2, body), None, 0);
        assert_eq!(
            code.ops,
            [
                Op::UnlessInt { when: When::of(CompareOp::Lt), a: 0, b: 1, to: 3 },
                Op::AddIntBy { d: 0, a: 0, c: 1 },
                Op::Loop { to: 0 },
                // What the condition says that ends the loop; all the rest is unheard.
                Op::Done { rows: 0 },
                Op::Return { status: None },
            ]
        );
        assert_eq!(code.template, [Value::Null, Value::Null]);
        assert_eq!(code.span(1).map(|s| s.resume), Some(2));
    }

    #[test]
    fn an_error_in_try_finds_the_innermost_catch() {
        let print = || stmt(StmtKind::Print(var(0)));
        let inner = stmt(StmtKind::TryCatch { body: vec![print()], handler: vec![print()] });
        let body = vec![
            stmt(StmtKind::TryCatch { body: vec![print(), inner], handler: vec![print()] }),
            print(),
        ];
        let code = compile(program(1, body), None, 0);
        let prints: Vec<Pc> = (0..code.ops.len() as Pc)
            .filter(|pc| matches!(code.ops[*pc as usize], Op::Statement { .. }))
            .collect();
        let [outer, inner, inner_catch, outer_catch, after] = prints[..] else {
            panic!("{prints:?}");
        };
        assert_eq!(code.handler(outer).map(|h| h.target), Some(outer_catch));
        assert_eq!(code.handler(inner).map(|h| h.target), Some(inner_catch));
        assert_eq!(code.handler(inner_catch).map(|h| h.target), Some(outer_catch));
        assert_eq!(code.handler(outer_catch).map(|h| h.target), None);
        assert_eq!(code.handler(after).map(|h| h.target), None);
    }

    struct Nothing;

    impl binder::Names for Nothing {
        fn version(&self) -> u64 {
            1
        }
        fn table(&self, _: &ir::ObjectName) -> Option<Arc<catalog::TableDef>> {
            None
        }
        fn system_view(&self, _: &ir::ObjectName) -> Option<Arc<ir::SystemView>> {
            None
        }
        fn database(&self) -> String {
            "test".to_string()
        }
    }

    fn compiled(text: &str) -> Code {
        let batch = syntax::parse_batch(text, &syntax::LexOptions::default()).expect("parse");
        let program = binder::bind_batch(&batch, text, &Nothing).expect("bind");
        compile(Arc::new(program), None, 0)
    }

    #[test]
    fn integers_stay_out_of_expression_trees() {
        let code = compiled(
            "DECLARE @i int = 0, @k bigint, @base bigint = 5
             WHILE @i < 10 BEGIN BEGIN TRAN; SET @k = @base + @i; COMMIT; SET @i += 1 END",
        );
        assert!(code.exprs.is_empty(), "{:?}", code.ops);
        assert!(code.statements.is_empty(), "{:?}", code.statements);
    }

    #[test]
    fn numbers_and_logic_stay_out_of_expression_trees() {
        let code = compiled(
            "DECLARE @i int, @k bigint, @f float, @b bit, @s smallint, @t varchar(9)
             IF (@i % 3 = 0 OR NOT (@k > @i AND @f IS NULL)) AND @s IN (1, @i) AND @t <> 'x'
                 SET @b = CASE WHEN @f * 2 > @k THEN 1 ELSE 0 END
             ELSE SET @f = ISNULL(@f, -@k) / (@i & ~@i)",
        );
        assert!(code.exprs.is_empty(), "{:?}", code.ops);
    }

    #[test]
    fn what_a_statement_says_is_kept_where_it_may_be_asked() {
        let says = |text| {
            let code = compiled(text);
            code.ops.iter().filter(|op| matches!(op, Op::Done { .. })).count()
        };
        // The caller may ask for what the last one said.
        assert_eq!(says("DECLARE @i int SET @i = 1 SET @i = 2 SET @i = 3"), 1);
        assert_eq!(says("DECLARE @i int SET @i = 1 SET @i = @@ROWCOUNT"), 2);
        assert_eq!(says("DECLARE @i int SET @i = 1 PRINT 'x' SET @i = 2"), 2);
        assert_eq!(says("DECLARE @i int IF @i = 1 SET @i = 2 SET @i = 3"), 1);
    }
}
