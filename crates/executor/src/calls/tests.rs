//! Functions against documented answers.

use super::*;

/// A session of nothing, for expressions that ask it nothing.
#[derive(Default)]
pub(crate) struct NoSession(session_table::PrivateTables);

impl crate::Environment for NoSession {
    fn system_variable(&mut self, _: ir::SysVar) -> Value {
        Value::Null
    }
    fn session_function(&mut self, _: FuncId, _: &[Value]) -> Result<Value, SqlError> {
        Ok(Value::Null)
    }
    fn view_rows(&mut self, _: &ir::SystemView, _: &[Value]) -> Result<Vec<Vec<Value>>, SqlError> {
        Ok(Vec::new())
    }
    fn next_identity(&mut self, _: &catalog::TableDef) -> Result<i64, SqlError> {
        Ok(1)
    }
    fn private(&mut self) -> &mut session_table::PrivateTables {
        &mut self.0
    }
    fn database_name(&self) -> String {
        "d".into()
    }
}

fn constant(value: Value) -> Expr {
    let ty = value.natural_type();
    Expr::constant(value, ty)
}

fn f(func: FuncId, args: &[Value], ty: SqlType) -> Value {
    let args: Vec<Expr> = args.iter().cloned().map(constant).collect();
    let cancel = std::sync::atomic::AtomicBool::new(false);
    let mut session = NoSession::default();
    let mut cx = Cx::new(&mut [], &mut session, None, &cancel);
    call(func, &args, ty, &[], &mut cx).unwrap()
}

#[test]
fn text_functions() {
    let vc = SqlType::VarChar(types::Len::N(100));
    let s = |t: &str| Value::str(t);
    assert_eq!(f(FuncId::Len, &[s("ab  ")], SqlType::Int), Value::Int(2));
    assert_eq!(f(FuncId::Right, &[s("abcdef"), Value::BigInt(2)], vc), s("ef"));
    assert_eq!(f(FuncId::Left, &[s("abc"), Value::BigInt(9)], vc), s("abc"));
    assert_eq!(
        f(FuncId::Substring, &[s("abcdef"), Value::BigInt(0), Value::BigInt(3)], vc),
        s("ab")
    );
    assert_eq!(f(FuncId::Replace, &[s("aXbx"), s("x"), s("--")], vc), s("a--b--"));
    assert_eq!(f(FuncId::CharIndex, &[s("B"), s("abcb")], SqlType::Int), Value::Int(2));
    assert_eq!(
        f(FuncId::CharIndex, &[s("b"), s("abcb"), Value::BigInt(3)], SqlType::Int),
        Value::Int(4)
    );
    assert_eq!(f(FuncId::Replicate, &[s("ab"), Value::BigInt(2)], vc), s("abab"));
    assert_eq!(f(FuncId::QuoteName, &[s("a]b")], vc), s("[a]]b]"));
    assert_eq!(
        f(FuncId::Stuff, &[s("abcd"), Value::BigInt(2), Value::BigInt(2), s("X")], vc),
        s("aXd")
    );
    assert_eq!(f(FuncId::Soundex, &[s("Robert")], vc), s("R163"));
    assert_eq!(f(FuncId::ParseName, &[s("a.[b.c].d"), Value::Int(2)], vc), s("b.c"));
    assert_eq!(f(FuncId::Len, &[Value::Null], SqlType::Int), Value::Null);
}

#[test]
fn random_bytes_have_the_length_asked_for() {
    let vb = SqlType::VarBinary(types::Len::N(8000));
    for n in [1, 8, 100] {
        let Value::Binary(bytes) = f(FuncId::CryptGenRandom, &[Value::Int(n)], vb) else {
            panic!("no binary");
        };
        assert_eq!(bytes.len(), n as usize);
    }
    assert_ne!(
        f(FuncId::NewId, &[], SqlType::UniqueIdentifier),
        f(FuncId::NewId, &[], SqlType::UniqueIdentifier)
    );
}
