//! What holds for any value: keys order as comparison does, rows and texts read back, decimals agree with integers.

use super::{VARCHAR, ty};
use crate::collation::Rule;
use crate::row::Projection;
use crate::{ArithOp, Decimal, KeyLayout, KeyPart, Len, RowColumn, RowLayout, SqlType, Value};
use crate::{compare, convert, datetime};

/// A small generator: numbers for the properties below, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// Some value of a type, biased to the small and to the edges.
fn some_value(ty: SqlType, n: &mut Numbers) -> Value {
    let small = n.below(4) == 0;
    let int = |n: &mut Numbers| if small { n.below(5) as i64 - 2 } else { n.next() as i64 };
    let text = |n: &mut Numbers, max: usize| -> String {
        const CHARS: [char; 16] =
            ['a', 'A', 'b', 'B', 'z', ' ', ' ', '0', '-', 'é', 'É', 'ö', '€', 'æ', 'x', '~'];
        (0..n.below(max as u64 + 1)).map(|_| CHARS[n.below(16) as usize]).collect()
    };
    match ty {
        SqlType::Variant => {
            const HELD: [&str; 12] = [
                "bit",
                "int",
                "bigint",
                "decimal(9,3)",
                "decimal(38,10)",
                "smallmoney",
                "float",
                "varchar(9)",
                "nchar(3)",
                "varbinary(9)",
                "datetime2(7)",
                "uniqueidentifier",
            ];
            let held = super::ty(HELD[n.below(12) as usize]);
            let value = some_value(held, n);
            crate::Variant::wrap(value, held).expect("a type that it may hold")
        }
        SqlType::Bit => Value::Bit(n.below(2) == 1),
        SqlType::TinyInt => Value::TinyInt(int(n) as u8),
        SqlType::SmallInt => Value::SmallInt(int(n) as i16),
        SqlType::Int => Value::Int(int(n) as i32),
        SqlType::BigInt => Value::BigInt(int(n)),
        SqlType::Decimal { precision, scale, .. } => {
            let wide = ((n.next() as i64 as i128) << 62) | n.next() as i128;
            let limit = 10i128.pow(precision as u32);
            let units = if small { int(n) as i128 % limit } else { wide % limit };
            Value::Decimal(Decimal::new(units, precision, scale).expect("in range"))
        }
        SqlType::Money => Value::Money(int(n)),
        SqlType::SmallMoney => Value::Money(int(n) as i32 as i64),
        SqlType::Float => Value::Float(if small { int(n) as f64 } else { int(n) as f64 / 1e7 }),
        SqlType::Real => Value::Real(if small { int(n) as f32 } else { int(n) as f32 / 1e7 }),
        SqlType::Char(len) | SqlType::NChar(len) => {
            convert::cast(&Value::str(&text(n, len as usize)), ty, ty, 0).expect("char")
        }
        SqlType::VarChar(len) | SqlType::NVarChar(len) => Value::str(&text(n, len.limit().min(12))),
        SqlType::Clr(ty) => {
            let text = match ty.is_spatial() {
                true => format!("POINT ({} {})", n.below(99), n.below(9)),
                false => format!("/{}/{}.{}/", n.below(99), n.below(9), n.below(9)),
            };
            Value::binary(&ty.parse(&text).expect("its text").expect("no NULL"))
        }
        SqlType::Xml | SqlType::TypedXml { .. } => {
            Value::str(&format!("<a b=\"{}\"/>", text(n, 9)))
        }
        SqlType::Binary(len) => {
            let bytes: Vec<u8> = (0..len).map(|_| n.below(3) as u8).collect();
            Value::binary(&bytes)
        }
        SqlType::VarBinary(_) => {
            let bytes: Vec<u8> = (0..n.below(5)).map(|_| n.below(3) as u8).collect();
            Value::binary(&bytes)
        }
        SqlType::Date => Value::Date(n.below(datetime::DAYS_MAX as u64 + 1) as i32),
        SqlType::Time(_) => Value::Time(n.below(datetime::TICKS_PER_DAY)),
        SqlType::DateTime => Value::DateTime(crate::DateTime {
            days: n.below(100) as i32 - 50,
            ticks: n.below(25_920_000) as u32,
        }),
        SqlType::SmallDateTime => Value::DateTime(crate::DateTime {
            days: n.below(65_536) as i32,
            ticks: n.below(1440) as u32 * 18_000,
        }),
        SqlType::DateTime2(_) => Value::DateTime2(crate::DateTime2 {
            days: n.below(datetime::DAYS_MAX as u64) as i32,
            ticks: n.below(datetime::TICKS_PER_DAY),
        }),
        SqlType::DateTimeOffset(_) => Value::DateTimeOffset(crate::DateTimeOffset {
            utc: crate::DateTime2 {
                days: 1000 + n.below(1000) as i32,
                ticks: n.below(datetime::TICKS_PER_DAY),
            },
            offset_minutes: n.below(1680) as i16 - 840,
        }),
        SqlType::UniqueIdentifier => {
            let mut g = [0; 16];
            g.iter_mut().for_each(|b| *b = n.below(3) as u8);
            Value::Guid(g)
        }
    }
}

const ALL: [&str; 31] = [
    "bit",
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "decimal(5,2)",
    "decimal(18,0)",
    "decimal(19,4)",
    "decimal(38,10)",
    "money",
    "smallmoney",
    "float",
    "real",
    "char(7)",
    "varchar(9)",
    "varchar(max)",
    "nchar(5)",
    "nvarchar(9)",
    "nvarchar(max)",
    "binary(4)",
    "varbinary(8)",
    "date",
    "time(7)",
    "time(2)",
    "datetime",
    "smalldatetime",
    "datetime2(7)",
    "datetimeoffset(7)",
    "uniqueidentifier",
    "varbinary(max)",
    "sql_variant",
];

#[test]
fn key_order_is_compare_order() {
    let mut n = Numbers(0x1234_5678_9abc_def1);
    for name in ALL {
        let ty = ty(name);
        for desc in [false, true] {
            let layout = KeyLayout::new(vec![
                KeyPart { ty, nullable: true, desc, rule: Rule::CiAs },
                KeyPart { ty: SqlType::BigInt, nullable: false, desc: false, rule: Rule::CiAs },
            ]);
            let rows: Vec<[Value; 2]> = (0..60)
                .map(|_| {
                    let v = if n.below(8) == 0 { Value::Null } else { some_value(ty, &mut n) };
                    [v, Value::BigInt(n.below(3) as i64 - 1)]
                })
                .collect();
            for a in &rows {
                for b in &rows {
                    let first = compare::sort_order(&a[0], &b[0]);
                    let first = if desc { first.reverse() } else { first };
                    let expected = first.then(compare::sort_order(&a[1], &b[1]));
                    let (x, y) = (layout.encode(a), layout.encode(b));
                    let got = x.expect("key").cmp(&y.expect("key"));
                    assert_eq!(got, expected, "{name} desc={desc} {a:?} {b:?}");
                }
            }
        }
    }
}

/// Types that stand beside each other in comparisons.
const COMPARED: [&str; 24] = [
    "bit",
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "decimal(5,0)",
    "decimal(9,3)",
    "decimal(12,4)",
    "decimal(38,10)",
    "decimal(38,0)",
    "smallmoney",
    "money",
    "real",
    "float",
    "date",
    "time(0)",
    "time(7)",
    "smalldatetime",
    "datetime",
    "datetime2(0)",
    "datetime2(3)",
    "datetime2(7)",
    "varchar(9)",
    "uniqueidentifier",
];

#[test]
fn the_nearest_value_grows_with_its_bound_and_leads_back() {
    let mut n = Numbers(23);
    let mut pairs = 0;
    let decimals =
        |a, b| matches!((a, b), (SqlType::Decimal { .. }, SqlType::Decimal { .. })) && a != b;
    for (narrow, wide) in COMPARED.iter().flat_map(|a| COMPARED.iter().map(move |b| (*a, *b))) {
        let (narrow, wide) = (ty(narrow), ty(wide));
        let is_embedded = convert::is_embedded(narrow, wide);
        if !is_embedded && !decimals(narrow, wide) {
            continue;
        }
        pairs += 1;
        let nearest = |v: &Value| convert::nearest(v, wide, narrow).expect("the ends are there");
        for _ in 0..2_000 {
            let (a, b) = (some_value(wide, &mut n), some_value(wide, &mut n));
            let order = compare::compare(&a, &b).expect("no NULL");
            let (low, high) = if order.is_le() { (a, b) } else { (b, a) };
            let (l, h) = (nearest(&low), nearest(&high));
            let grows = compare::compare(&l, &h).expect("no NULL").is_le();
            assert!(grows, "{narrow} in {wide}: {low:?} is {l:?}, {high:?} is {h:?}");
            for own in [l, h] {
                let Ok(widened) = convert::cast(&own, narrow, wide, 0) else { continue };
                if is_embedded {
                    assert_eq!(nearest(&widened), own, "{narrow} in {wide}, by {widened:?}");
                }
            }
        }
    }
    assert!(pairs > 60, "only {pairs} pairs of types");
}

#[test]
fn a_text_that_begins_so_has_a_key_that_begins_so() {
    let mut n = Numbers(29);
    for rule in [Rule::CiAs, Rule::CsAs, Rule::CiAi, Rule::CsAi, Rule::Bin] {
        for (nullable, desc) in [(false, false), (true, false), (true, true)] {
            let part = KeyPart { ty: VARCHAR, nullable, desc, rule };
            for _ in 0..20_000 {
                let text = |n: &mut Numbers| match some_value(ty("varchar(9)"), n) {
                    Value::Str(text) => text.to_string(),
                    other => panic!("{other:?} is no text"),
                };
                let (mut start, rest) = (text(&mut n), text(&mut n));
                start.extend(['\u{1f600}', '\u{e9}', '\0'].get(n.below(9) as usize));
                let same = match n.below(2) {
                    0 => start.to_uppercase(),
                    _ => start.clone(),
                };
                let whole = Value::str(&format!("{same}{rest}"));
                let pattern = format!("{start}%");
                let like = compare::Pattern::under(rule, &pattern, None).expect("a pattern");
                let Value::Str(whole_text) = &whole else { panic!("a text") };
                if !like.matches(whole_text) {
                    continue;
                }
                let (mut key, mut begin) = (Vec::new(), Vec::new());
                crate::key::encode_part(&part, &whole, &mut key);
                crate::key::encode_start(&part, &compare::like_start(&pattern, None), &mut begin);
                assert!(key.starts_with(&begin), "{rule:?}: {whole:?} like {pattern:?}");
            }
        }
    }
    assert_eq!(compare::like_start("a!%b_c", Some("!")), "a%b");
    assert_eq!(compare::like_start("ab[c]", None), "ab");
    assert_eq!(compare::like_start("%a", None), "");
    assert_eq!(compare::like_start("ab%", Some("%")), "ab");
}

#[test]
fn equal_values_hash_alike() {
    use std::hash::{DefaultHasher, Hasher};
    let hash = |v: &Value| {
        let mut h = DefaultHasher::new();
        compare::hash_value(v, &mut h);
        h.finish()
    };
    let mut n = Numbers(77);
    for name in ALL {
        let values: Vec<Value> = (0..80).map(|_| some_value(ty(name), &mut n)).collect();
        for a in &values {
            for b in &values {
                if compare::sort_order(a, b).is_eq() {
                    assert_eq!(hash(a), hash(b), "{name} {a:?} {b:?}");
                }
            }
        }
    }
    assert_eq!(hash(&Value::Float(0.0)), hash(&Value::Float(-0.0)));
}

#[test]
fn rows_read_back() {
    let mut n = Numbers(42);
    let types: Vec<SqlType> = ALL.iter().map(|name| ty(name)).collect();
    let columns: Vec<RowColumn> =
        types.iter().map(|ty| RowColumn { ty: *ty, nullable: true, rule: Rule::CiAs }).collect();
    let layout = RowLayout::new(&columns);
    for round in 0..200 {
        let values: Vec<Value> = types
            .iter()
            .map(|ty| if n.below(5) == 0 { Value::Null } else { some_value(*ty, &mut n) })
            .collect();
        let mut row = vec![0xEE; round % 5];
        let start = row.len();
        layout.encode(&values, &mut row).expect("fits");
        let row = &mut row[start..];
        for (i, v) in values.iter().enumerate() {
            assert_eq!(layout.decode_column(row, i).as_ref(), Some(v), "{}", ALL[i]);
            assert_eq!(layout.is_null(row, i), v.is_null());
        }
        // Patching gives the row that encoding would.
        let i = n.below(types.len() as u64) as usize;
        let mut other = values.clone();
        other[i] = if n.below(3) == 0 { Value::Null } else { some_value(types[i], &mut n) };
        let mut expected = Vec::new();
        layout.encode(&other, &mut expected).expect("fits");
        // So does splicing, of two columns as of one.
        let mut spliced = vec![0xEE; round % 3];
        let at = spliced.len();
        layout.splice(row, |c| (c == i).then_some(&other[i]), &mut spliced).expect("fits");
        assert_eq!(spliced[at..], expected, "splice of {}", ALL[i]);
        let j = n.below(types.len() as u64) as usize;
        spliced.clear();
        let back = |c: usize| (c == i || c == j).then_some(&values[c]);
        layout.splice(&expected, back, &mut spliced).expect("fits");
        assert_eq!(spliced, row, "splice of {} and {}", ALL[i], ALL[j]);
        if layout.patch(row, i, &other[i]) {
            assert_eq!(row, expected.as_slice(), "patch of {}", ALL[i]);
        } else {
            assert_eq!(layout.fixed_offset(i), None);
        }
    }
}

/// Any columns of a row, in any order, behind a first one that is given apart; and the keys of each.
#[test]
fn projected_rows_and_keys_are_those_of_the_values() {
    let mut n = Numbers(4711);
    let types: Vec<SqlType> = ALL.iter().map(|name| ty(name)).collect();
    let column = |ty: &SqlType, nullable| RowColumn { ty: *ty, nullable, rule: Rule::CiAs };
    for round in 0..300 {
        let columns: Vec<RowColumn> = types.iter().map(|ty| column(ty, n.below(2) == 0)).collect();
        let layout = RowLayout::new(&columns);
        let value = |c: &RowColumn, n: &mut Numbers| match c.nullable && n.below(3) == 0 {
            true => Value::Null,
            false => some_value(c.ty, n),
        };
        let values: Vec<Value> = columns.iter().map(|c| value(c, &mut n)).collect();
        let mut row = Vec::new();
        layout.encode(&values, &mut row).expect("fits");
        // Runs of neighbours among them, too.
        let mut chosen: Vec<usize> = Vec::new();
        while chosen.len() < round % 12 {
            let next = match chosen.last() {
                Some(last) if n.below(2) == 0 => last + 1,
                _ => n.below(types.len() as u64) as usize,
            };
            if next < types.len() && !chosen.contains(&next) {
                chosen.push(next);
            }
        }
        let first = RowColumn { nullable: false, ..column(&ty("varbinary(900)"), false) };
        let made = std::iter::once(first).chain(chosen.iter().map(|i| columns[*i]));
        let made = RowLayout::new(&made.collect::<Vec<_>>());
        let name: Vec<u8> = (0..n.below(30)).map(|_| n.next() as u8).collect();
        let mut all = vec![Value::binary(&name)];
        all.extend(chosen.iter().map(|i| values[*i].clone()));
        let mut expected = vec![0xEE; round % 5];
        let mut projected = expected.clone();
        made.encode(&all, &mut expected).expect("fits");
        Projection::new(&layout, &chosen, &made).project(&layout, &row, &name, &mut projected);
        assert_eq!(projected, expected, "columns {chosen:?}");
        for (i, c) in columns.iter().enumerate() {
            let desc = n.below(2) == 0;
            let part = KeyPart { ty: c.ty, nullable: c.nullable, desc, rule: c.rule };
            let (mut from_value, mut from_row) = (vec![0xEE], vec![0xEE]);
            crate::key::encode_part(&part, &values[i], &mut from_value);
            layout.key_part(&row, i, &part, &mut from_row);
            assert_eq!(from_row, from_value, "{} {:?}", ALL[i], values[i]);
        }
    }
}

#[test]
fn rows_of_an_older_layout() {
    let column = |name: &str| RowColumn { ty: ty(name), nullable: true, rule: Rule::CiAs };
    let all = [
        column("int"),
        column("varchar(9)"),
        column("bigint"),
        column("varchar(9)"),
        column("char(3)"),
    ];
    let values =
        [Value::Int(7), Value::str("seven"), Value::BigInt(77), Value::Null, Value::str("x  ")];
    let new = RowLayout::new(&all);
    for width in 0..=all.len() {
        let old = RowLayout::new(&all[..width]);
        let mut row = Vec::new();
        old.encode(&values[..width], &mut row).expect("fits");
        for (i, v) in values.iter().enumerate() {
            let expected = (i < width).then_some(v);
            assert_eq!(new.decode_column(&row, i).as_ref(), expected, "{width} {i}");
        }
    }
}

#[test]
fn a_row_to_the_byte() {
    let layout = RowLayout::new(&[
        RowColumn { ty: SqlType::BigInt, nullable: false, rule: Rule::CiAs },
        RowColumn { ty: SqlType::VarChar(Len::N(9)), nullable: true, rule: Rule::CiAs },
        RowColumn { ty: SqlType::Char(4), nullable: true, rule: Rule::CiAs },
        RowColumn { ty: SqlType::Int, nullable: true, rule: Rule::CiAs },
    ]);
    let values = [Value::BigInt(258), Value::str("hé"), Value::str("ab  "), Value::Null];
    let mut row = Vec::new();
    layout.encode(&values, &mut row).expect("fits");
    let expected = [
        20, 0, 4, 0, // end of the fixed part, columns
        2, 1, 0, 0, 0, 0, 0, 0, // 258
        b'a', b'b', b' ', b' ', // padded
        0, 0, 0, 0,      // NULL
        0b1000, // the fourth column is NULL
        25, 0, // end of the varchar
        b'h', 0xE9, // code page 1252
    ];
    assert_eq!(row, expected);
    // The page that describes the format shows this very row.
    let page = include_str!("../../../../docs/formats/row.md");
    let hex: Vec<String> = row.iter().map(|b| format!("{b:02X}")).collect();
    let shown = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains(&hex.join(" ")), "docs/formats/row.md shows another row");
    assert_eq!(layout.longest_run(&row, 2), Some((14, 2, b' ')));
    assert_eq!(layout.longest_run(&row, 3), None);
    layout.patch_i64(&mut row, 0, -2);
    assert_eq!(layout.decode_column(&row, 0), Some(Value::BigInt(-2)));
    assert_eq!(layout.read_i64(&row, 0), Some(-2));
    assert_eq!(layout.read_i64(&row, 3), None);
}

#[test]
fn row_too_large() {
    let column = RowColumn { ty: ty("varchar(8000)"), nullable: true, rule: Rule::CiAs };
    let layout = RowLayout::new(&[column, column]);
    let long = Value::str(&"x".repeat(5000));
    let mut row = vec![1, 2, 3];
    let error = layout.encode(&[long.clone(), long.clone()], &mut row).expect_err("too large");
    assert_eq!(error.number(), 511);
    assert_eq!(row, [1, 2, 3], "the buffer is as before");
    assert!(layout.encode(&[long.clone(), Value::Null], &mut row).is_ok());
    let mut other = vec![7];
    let error = layout.splice(&row[3..], |_| Some(&long), &mut other).expect_err("too large");
    assert_eq!((error.number(), &other[..]), (511, &[7][..]));
}

#[test]
fn columns_outside_of_the_row() {
    let types = ["varchar(8000)", "int", "nvarchar(max)", "varbinary(max)", "varchar(10)"];
    let columns: Vec<RowColumn> = types
        .iter()
        .map(|name| RowColumn { ty: ty(name), nullable: true, rule: Rule::CiAs })
        .collect();
    let layout = RowLayout::new(&columns);
    assert!(layout.may_overflow());
    assert!(!RowLayout::new(&columns[..2]).may_overflow());
    let long = Value::str(&"ß".repeat(5000));
    let values = [Value::str("in"), Value::Int(7), long.clone(), Value::Null, Value::str("last")];
    let mut stored = Vec::new();
    layout.encode_variable(2, &long, &mut stored);
    assert_eq!(stored.len(), 10_000);
    let outside = crate::External { id: 77, len: stored.len() as u64 };
    let mut row = Vec::new();
    layout.encode_with(&values, &[None, None, Some(outside)], &mut row).expect("fits");
    for (i, value) in values.iter().enumerate() {
        if i == 2 {
            assert_eq!(layout.external(&row, i), Some(outside));
            assert_eq!(layout.decode_variable(i, &stored), long);
        } else {
            assert_eq!(layout.external(&row, i), None);
            assert_eq!(layout.decode_column(&row, i).as_ref(), Some(value));
        }
    }
    // What lies outside stays there when other columns change, and comes in when it is set.
    let mut spliced = Vec::new();
    let (first, short) = (Value::str("longer than that"), Value::str("in"));
    layout.splice(&row, |i| (i == 0).then_some(&first), &mut spliced).expect("fits");
    assert_eq!(layout.external(&spliced, 2), Some(outside));
    assert_eq!(layout.decode_column(&spliced, 4), Some(Value::str("last")));
    spliced.clear();
    layout.splice(&row, |i| (i == 2).then_some(&short), &mut spliced).expect("fits");
    assert_eq!(layout.external(&spliced, 2), None);
    assert_eq!(layout.decode_column(&spliced, 2), Some(short));
    // A row from before the last two columns, read by the newer layout.
    let old = RowLayout::new(&columns[..3]);
    let mut row = Vec::new();
    old.encode_with(&values[..3], &[None, None, Some(outside)], &mut row).expect("fits");
    assert_eq!(layout.external(&row, 2), Some(outside));
    assert_eq!(layout.external(&row, 3), None);
    assert_eq!(layout.decode_column(&row, 0), Some(Value::str("in")));
}

#[test]
fn text_round_trips() {
    // Every value comes back from its widest text form.
    let mut n = Numbers(7);
    for name in ALL {
        let ty = ty(name);
        if ty == SqlType::Variant {
            // Its text does not say which type it was.
            continue;
        }
        let style = match ty {
            _ if ty.is_binary() => 1,
            SqlType::Float | SqlType::Real => 3,
            SqlType::Money | SqlType::SmallMoney => 2,
            _ if ty.is_temporal() => 121,
            _ => 0,
        };
        for _ in 0..100 {
            let mut v = some_value(ty, &mut n);
            if let (Value::Time(t), SqlType::Time(2)) = (&mut v, ty) {
                *t = *t / 100_000 * 100_000;
            }
            let text = convert::cast(&v, ty, VARCHAR, style).expect("text");
            let back = convert::cast(&text, VARCHAR, ty, style);
            assert_eq!(back.as_ref(), Ok(&v), "{name} {text:?}");
        }
    }
}

#[test]
fn decimals_against_integers() {
    // Sums, products and quotients of random decimals, checked against integer arithmetic.
    let mut n = Numbers(99);
    for _ in 0..20_000 {
        let mut one = || {
            let scale = n.below(7) as u8;
            let units = n.next() as i64 as i128 % 1_000_000_000_000;
            (units, scale, Decimal::new(units, 12, scale).expect("in range"))
        };
        let ((a, sa, x), (b, sb, y)) = (one(), one());
        let sum = x.op(ArithOp::Add, y).expect("sum");
        let scale = sa.max(sb);
        let up = |v: i128, s: u8| v * 10i128.pow((scale - s) as u32);
        assert_eq!((sum.units(), sum.scale()), (up(a, sa) + up(b, sb), scale));
        let product = x.op(ArithOp::Mul, y).expect("product");
        assert_eq!((product.units(), product.scale()), (a * b, sa + sb));
        assert_eq!(x.compare(y), up(a, sa).cmp(&up(b, sb)));
        if b != 0 {
            let q = x.op(ArithOp::Div, y).expect("quotient");
            let shift = q.scale() as i32 - sa as i32 + sb as i32;
            assert_eq!(q.units(), a * 10i128.pow(shift as u32) / b);
        }
    }
    // Products wider than 128 bits: (10^37 + 1)^2 at scale 37 + 37.
    let big = Decimal::new(10i128.pow(37) + 1, 38, 37).expect("in range");
    let square = big.op(ArithOp::Mul, big).expect("fits");
    assert_eq!(
        (square.to_string().as_str(), square.precision()),
        ("1.00000000000000000000000000000000000", 38)
    );
}

#[test]
fn money_beside_whole_numbers() {
    let mut n = Numbers(77);
    for i in 0..4000 {
        let (x, y) = (some_value(ty("money"), &mut n), some_value(ty("money"), &mut n));
        let whole_type = ["tinyint", "smallint", "int", "bigint"][i % 4];
        let whole = some_value(ty(whole_type), &mut n);
        let units = |v: &Value| match v {
            Value::Money(units) => i128::from(*units),
            other => i128::from(other.as_i64().expect("whole")) * 10_000,
        };
        let op = [ArithOp::Add, ArithOp::Sub, ArithOp::Mul][i % 3];
        for (a, b) in [(&x, &y), (&x, &whole), (&whole, &x)] {
            let type_of = |v: &Value| match v {
                Value::Money(_) => ty("money"),
                _ => ty(whole_type),
            };
            let expected = match op {
                ArithOp::Add => units(a) + units(b),
                ArithOp::Sub => units(a) - units(b),
                _ => match (a, b) {
                    (Value::Money(a), Value::Money(b)) => {
                        // Half away from zero.
                        let product = i128::from(*a) * i128::from(*b);
                        let half = if product < 0 { -5_000 } else { 5_000 };
                        (product + half) / 10_000
                    }
                    (Value::Money(m), n) | (n, Value::Money(m)) => {
                        i128::from(*m) * i128::from(n.as_i64().expect("whole"))
                    }
                    _ => unreachable!("money is among them"),
                },
            };
            let got = crate::arith::binary(op, a, type_of(a), b, type_of(b));
            match i64::try_from(expected) {
                Ok(units) => assert_eq!(got, Ok(Value::Money(units)), "{a:?} {op:?} {b:?}"),
                Err(_) => assert!(got.is_err(), "{a:?} {op:?} {b:?} is {got:?}"),
            }
        }
    }
}

#[test]
fn concurrent_clones_are_cheap() {
    // Short texts live in the value: nothing shared, nothing counted.
    assert!(std::mem::size_of::<Value>() <= 32);
    for len in [0, 1, 21, 22, 23, 200] {
        let text = "é".repeat(len / 2) + &"x".repeat(len % 2);
        assert_eq!(Value::str(&text).as_str(), Some(text.as_str()));
    }
}

#[test]
fn texts_compare_as_their_bytes_do() {
    const CHARS: [char; 10] = ['a', 'A', 'b', 'Z', ' ', ' ', '0', '-', 'é', '€'];
    let mut n = Numbers(17);
    let mut told = 0;
    for _ in 0..50_000 {
        let mut some =
            || -> String { (0..n.below(6)).map(|_| CHARS[n.below(10) as usize]).collect() };
        let (a, b) = (some(), some());
        let key = |text: &str| {
            let mut key = Vec::new();
            crate::collation::sort_key_into(text, &mut key);
            key
        };
        let order = key(&a).cmp(&key(&b));
        assert_eq!(compare::compare_text(&a, &b), order, "{a:?} {b:?}");
        assert_eq!(compare::compare(&Value::str(&a), &Value::str(&b)), Some(order));
        if let Ok(told_by_bytes) = crate::collation::compare_ascii(a.as_bytes(), b.as_bytes()) {
            assert_eq!(told_by_bytes, order, "{a:?} {b:?}");
            told += 1;
        }
    }
    assert!(told > 20_000, "{told} were told apart by bytes");
}
