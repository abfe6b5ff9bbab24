//! What holds of bytes and texts, whoever wrote them; and answers that are known.

use crate::overlay::{Op, overlay};
use crate::relate::{Question, ask, matrix};
use crate::*;

fn value(world: World, text: &str) -> Spatial {
    let shape = wkt::read(world, text, None).unwrap_or_else(|e| panic!("{text}: {e}"));
    let srid = if world == World::Earth { srid::DEFAULT } else { 0 };
    Spatial::new(world, srid, shape.expect("no NULL")).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn plane(text: &str) -> Spatial {
    value(World::Plane, text)
}

const TEXTS: [&str; 14] = [
    "POINT (1.5 -2)",
    "POINT (1 2 3 4)",
    "POINT EMPTY",
    "LINESTRING (0 0, 1 1)",
    "LINESTRING (0 0 5, 1 1, 2 0 NULL 7)",
    "POLYGON ((0 0, 9 0, 9 9, 0 9, 0 0), (1 1, 2 1, 2 2, 1 1))",
    "MULTIPOINT ((1 2), EMPTY, (3 4))",
    "MULTILINESTRING ((0 0, 1 1), (2 2, 3 3, 4 2))",
    "MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)), EMPTY, ((5 5, 6 5, 6 6, 5 5)))",
    "GEOMETRYCOLLECTION (POINT (1 1), GEOMETRYCOLLECTION (POLYGON EMPTY, LINESTRING (0 0, 1 1)))",
    "CIRCULARSTRING (0 0, 1 1, 2 0, 3 -1, 4 0)",
    "COMPOUNDCURVE ((0 0, 1 0, 2 0), CIRCULARSTRING (2 0, 3 1, 4 0, 5 -1, 6 0), (6 0, 7 7))",
    "CURVEPOLYGON (CIRCULARSTRING (0 0, 4 0, 0 0), (1 0, 2 0, 2 0.5, 1 0))",
    "CURVEPOLYGON (COMPOUNDCURVE ((0 0, 4 0), CIRCULARSTRING (4 0, 2 2, 0 0)))",
];

#[test]
fn texts_and_bytes_come_back() {
    for text in TEXTS {
        for world in [World::Plane, World::Earth] {
            let value = value(world, text);
            let bytes = bytes::write(&value);
            let read = bytes::read(world, &bytes).expect("its own bytes").expect("no NULL");
            assert_eq!(bytes::write(&read), bytes, "{text}");
            assert_eq!(wkt::write(&read, true).expect("a text"), text);
            let shape = wkb::read(&wkb::write(&value, true).expect("a binary"), None);
            let text_again = wkt::write(&Spatial { shape: shape.expect(text), ..read }, true);
            assert_eq!(text_again.expect("a text"), text);
        }
    }
}

/// Every beginning of good bytes, and good bytes with one byte changed, are read or refused; what is read is asked.
#[test]
fn junk_is_refused_or_read() {
    for text in TEXTS {
        let bytes = bytes::write(&plane(text));
        for len in 0..bytes.len() {
            assert!(bytes::read(World::Plane, &bytes[..len]).is_err(), "{text} {len}");
        }
        let binary = wkb::write(&plane(text), true).expect("a binary");
        for (of, bytes) in [(0, &bytes), (1, &binary)] {
            for at in 0..bytes.len() {
                for byte in [0u8, 1, 2, 3, 7, 8, 16, 0x7f, 0x80, 0xff] {
                    let mut bad = bytes.clone();
                    bad[at] = byte;
                    let read = match of {
                        0 => bytes::read(World::Plane, &bad).ok().flatten().map(|v| v.shape),
                        _ => wkb::read(&bad, None).ok(),
                    };
                    let Some(shape) = read else { continue };
                    let Ok(value) = Spatial::new(World::Plane, 0, shape) else { continue };
                    let _ = wkt::write(&value, true).expect("a text");
                    let again = bytes::write(&value);
                    assert!(bytes::read(World::Plane, &again).is_ok(), "{text} {at} {byte}");
                }
            }
        }
        for len in 0..text.len() {
            let _ = wkt::read(World::Earth, &text[..len], None);
            let _ = wkt::read(World::Plane, &text.replacen(&text[len..=len], "é(", 1), None);
        }
    }
    let deep = "GEOMETRYCOLLECTION(".repeat(100_000);
    assert!(wkt::read(World::Plane, &deep, None).is_err());
    let head = [1u8, 7, 0, 0, 0, 1, 0, 0, 0];
    assert!(wkb::read(&head.repeat(100_000), None).is_err());
}

/// The matrix of the other way round is the turned one, and areas of unions and intersections add up: on the earth but
/// for new corners on arcs, between which geodesics are measured.
#[test]
fn operations_agree_with_each_other() {
    let shapes = [
        "POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0))",
        "POLYGON ((2 2, 6 2, 6 6, 2 6, 2 2), (3 3, 3 5, 5 5, 5 3, 3 3))",
        "POLYGON ((4 0, 8 0, 8 4, 4 4, 4 0))",
        "MULTIPOLYGON (((0 0, 1 0, 1 1, 0 1, 0 0)), ((2.5 2.5, 9 2.5, 9 3.5, 2.5 3.5, 2.5 2.5)))",
        "POLYGON ((1 1, 3 0.3, 5.7 1.1, 2.2 4.9, 1 1))",
        "LINESTRING (-1 2, 5 2, 5 5)",
        "MULTIPOINT ((1 1), (4 4), (9 9))",
    ];
    for world in [World::Plane, World::Earth] {
        for a in shapes {
            for b in shapes {
                let (x, y) = (value(world, a), value(world, b));
                let (m, n) = (matrix(&x, &y).expect(a).0, matrix(&y, &x).expect(a).0);
                let turned = [n[0], n[3], n[6], n[1], n[4], n[7], n[2], n[5], n[8]];
                assert_eq!(m, turned, "{a} {b}");
                let area = |v: &Spatial| measure::area(v).expect("an area");
                let made = |op| overlay(op, &x, &y).unwrap_or_else(|e| panic!("{a} {b}: {e}"));
                let (both, either) = (made(Op::Intersection), made(Op::Union));
                assert!(both.is_valid && either.is_valid, "{world:?} {a} {b}");
                let (sum, parts) = (area(&x) + area(&y), area(&both) + area(&either));
                let close = if world == World::Earth { 1e-5 } else { 1e-9 } * sum.max(1.0);
                assert!((sum - parts).abs() <= close, "{world:?} {a} {b}: {sum} {parts}");
                let less = made(Op::Difference);
                let left = area(&x) - area(&both) - area(&less);
                assert!(left.abs() <= close, "{world:?} {a} {b}: {left} of {sum}");
                assert_eq!(
                    ask(Question::Disjoint, &x, &y).expect(a),
                    both.shape.is_empty(),
                    "{a} {b}"
                );
            }
        }
    }
}

#[test]
fn hulls_and_buffers_hold_what_they_are_of() {
    for world in [World::Plane, World::Earth] {
        for text in ["POLYGON ((1 1, 3 0.3, 5.7 1.1, 2.2 4.9, 1 1))", "LINESTRING (0 0, 3 3, 4 1)"]
        {
            let shape = value(world, text);
            let hull = make::convex_hull(&shape).expect("a hull");
            let far = if world == World::Earth { 20_000.0 } else { 0.2 };
            let around = make::buffer(&shape, far, far / 1000.0).expect("a buffer");
            assert!(around.is_valid && hull.is_valid);
            assert!(ask(Question::Within, &shape, &around).expect(text), "{world:?} {text}");
            let (distance, ..) = measure::nearest(&shape, &value(world, "POINT (60 3)"))
                .expect("a distance")
                .expect("no NULL");
            let (less, ..) = measure::nearest(&around, &value(world, "POINT (60 3)"))
                .expect("a distance")
                .expect("no NULL");
            assert!(
                (distance - less - far).abs() < far / 500.0,
                "{world:?} {text} {distance} {less}"
            );
            if shape.shape.dimension() == 2 {
                let smaller = make::buffer(&shape, -far, far / 1000.0).expect("a buffer");
                assert!(ask(Question::Contains, &shape, &smaller).expect(text));
            }
        }
    }
}

/// A comb across another one: more crossings than are looked at.
#[test]
fn too_many_crossings_are_refused() {
    let comb = |turn: bool| {
        let points: Vec<String> = (0..3000)
            .map(|n| {
                let (x, y) = (n / 2 * 2 + n % 2, if (n / 2 + n) % 2 == 0 { 0 } else { 3000 });
                if turn { format!("{y} {x}") } else { format!("{x} {y}") }
            })
            .collect();
        plane(&format!("LINESTRING ({})", points.join(", ")))
    };
    let (a, b) = (comb(false), comb(true));
    assert!(overlay(Op::Intersection, &a, &b).is_err());
}
