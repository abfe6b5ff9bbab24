//! Bytes as SQL Server writes them, and what holds of every path.

use crate::hierarchy_id::descendant_limit;
use crate::*;

const H: ClrType = ClrType::HierarchyId;

fn bytes(path: &str) -> Vec<u8> {
    H.parse(path).unwrap_or_else(|e| panic!("{path}: {e}")).expect("a path is no NULL")
}

fn hex(path: &str) -> String {
    bytes(path).iter().map(|b| format!("{b:02X}")).collect()
}

#[test]
fn paths_have_the_bytes_of_sql_server() {
    // The first two are the examples of [MS-SSCLRT] 3.2; then the ends of each range.
    let cases = [
        ("/1/", "58"),
        ("/1/-2.18/", "59FB0540"),
        ("/", ""),
        ("/1/1/3/", "5ADE"),
        ("/0/", "48"),
        ("/3/", "78"),
        ("/4/", "84"),
        ("/7/", "9C"),
        ("/8/", "A2"),
        ("/15/", "BE"),
        ("/16/", "C110"),
        ("/79/", "DBF0"),
        ("/80/", "E00440"),
        ("/1103/", "EEEFC0"),
        ("/1104/", "F00088"),
        ("/5199/", "F7DDF8"),
        ("/5200/", "F80000000220"),
        ("/4294972495/", "FBFFFFBF77E0"),
        ("/4294972496/", "FC00000000000110"),
        ("/281479271683151/", "FFFFF7FFFFDFBBF0"),
        ("/-1/", "3F80"),
        ("/-8/", "3880"),
        ("/-9/", "2DF8"),
        ("/-72/", "2088"),
        ("/-73/", "1BEEFC"),
        ("/-4168/", "180044"),
        ("/-4169/", "17FFFFBF77E0"),
        ("/-4294971464/", "140000000220"),
        ("/-281479271682120/", "1000000000000110"),
        ("/1000000/-1000000/5200/", "F8003C9B7222FFF86380C7E00000000880"),
        ("/100000.200000/", "F80005A4525F0001762E44"),
        ("/281479271683150.1/", "FFFFF7FFFFDFBBE580"),
        ("/1.281479271683151/", "67FFFFBFFFFEFDDF80"),
        ("/1/2.5/3/", "5BA378"),
        ("/6/1/10/", "957540"),
    ];
    for (path, expected) in cases {
        assert_eq!(hex(path), expected, "{path}");
        assert_eq!(H.text(&bytes(path)).expect("a path"), path);
        assert_eq!(H.admit(&bytes(path)).expect("its bytes").as_deref(), Some(&*bytes(path)));
    }
}

#[test]
fn what_is_no_path_is_refused() {
    for text in [
        "",
        "1/",
        "/1",
        "//",
        "/1//",
        "/a/",
        "/1./",
        "/.1/",
        "/01/",
        "/1.01/",
        "/-/",
        "/-0/",
        "/ 1/",
        "/1/ ",
        "/+1/",
        "/281479271683152/",
        "/-281479271682121/",
        "/281479271683151.1/",
        "/9223372036854775808/",
    ] {
        assert!(H.parse(text).is_err(), "{text}");
    }
    let long: String = std::iter::once("/").chain(std::iter::repeat_n("1/", 1500)).collect();
    assert!(H.parse(&long).is_err());
    for bytes in [&[0x59][..], &[0], &[0xff, 0xff], &[0x58, 0], &[0x50], &[0x58, 0x08]] {
        assert!(H.admit(bytes).is_err(), "{bytes:x?}");
    }
}

/// Paths of all ranges, in depth-first order.
fn ordered() -> Vec<String> {
    let numbers = [
        "-281479271682120",
        "-4294971465",
        "-4294971464",
        "-4169",
        "-4168",
        "-200",
        "-73",
        "-72",
        "-9",
        "-8",
        "-1",
        "0",
        "1",
        "1.-1",
        "1.0",
        "1.0.5",
        "1.1",
        "1.5200",
        "2",
        "3",
        "4",
        "7",
        "8",
        "15",
        "16",
        "79",
        "80",
        "1103",
        "1104",
        "5199",
        "5200",
        "4294972495",
        "4294972496",
        "281479271683150",
        "281479271683150.1",
        "281479271683151",
    ];
    let mut all = vec!["/".to_owned()];
    for a in numbers {
        all.push(format!("/{a}/"));
        all.extend(numbers.iter().map(|b| format!("/{a}/{b}/")));
    }
    all
}

#[test]
fn bytes_compare_in_depth_first_order() {
    let all = ordered();
    for pair in all.windows(2) {
        assert!(bytes(&pair[0]) < bytes(&pair[1]), "{} {}", pair[0], pair[1]);
    }
}

#[test]
fn the_limit_lies_above_all_below_and_under_all_beyond() {
    let all = ordered();
    for parent in all.iter().step_by(17).chain(&all[..3]) {
        let (low, high) = (bytes(parent), descendant_limit(&bytes(parent)));
        for path in &all {
            let of = bytes(path);
            let below = path.starts_with(parent.as_str());
            assert_eq!(low <= of && of <= high, below, "{path} below {parent}");
            let args = [Arg::Bytes(&of), Arg::Bytes(&low)];
            assert_eq!(call("IsDescendantOf", &args), Made::Bit(below));
        }
    }
}

fn call(name: &str, args: &[Arg<'_>]) -> Made {
    let method = MethodId::find(H, name).expect("a method");
    method.call(args).unwrap_or_else(|e| panic!("{name}: {e}"))
}

#[test]
fn a_child_lies_between_its_neighbours() {
    let cases = [
        ("/", None, None, "/1/"),
        ("/9/", Some("/9/1/"), None, "/9/2/"),
        ("/9/", None, Some("/9/1/"), "/9/0/"),
        ("/9/", Some("/9/1/"), Some("/9/3/"), "/9/2/"),
        ("/9/", Some("/9/1/"), Some("/9/2/"), "/9/1.1/"),
        ("/9/", Some("/9/1.1/"), Some("/9/2/"), "/9/1.2/"),
        ("/9/", Some("/9/1/"), Some("/9/1.1/"), "/9/1.0/"),
        ("/2/", Some("/2/1.0/"), Some("/2/1.1/"), "/2/1.0.1/"),
        ("/", Some("/-1/"), Some("/0/"), "/-1.1/"),
        ("/", Some("/1/"), Some("/2.5/"), "/2/"),
        ("/42/1/33.1/", Some("/42/1/33.1/1.5/"), Some("/42/1/33.1/1.6/"), "/42/1/33.1/1.5.1/"),
    ];
    for (parent, child1, child2, expected) in cases {
        let this = bytes(parent);
        let [child1, child2] = [child1, child2].map(|c| c.map(bytes));
        let arg = |c: &Option<Vec<u8>>| c.clone().map_or(Arg::Null, |c| Arg::Bytes(c.leak()));
        let made = call("GetDescendant", &[Arg::Bytes(&this), arg(&child1), arg(&child2)]);
        assert_eq!(made, Made::Bytes(bytes(expected)), "{expected}");
        assert!(child1.is_none_or(|c| c < bytes(expected)));
        assert!(child2.is_none_or(|c| c > bytes(expected)));
    }
}

#[test]
fn ancestors_and_moved_paths() {
    let this = bytes("/1/2.5/3/");
    let up = |n| call("GetAncestor", &[Arg::Bytes(&this), Arg::Int(n)]);
    assert_eq!(up(0), Made::Bytes(this.clone()));
    assert_eq!(up(1), Made::Bytes(bytes("/1/2.5/")));
    assert_eq!(up(3), Made::Bytes(Vec::new()));
    assert_eq!(up(4), Made::Null);
    assert_eq!(call("GetLevel", &[Arg::Bytes(&this)]), Made::Small(3));
    let (old, new) = (bytes("/1/2.5/"), bytes("/300/-7/"));
    let args = [Arg::Bytes(&this), Arg::Bytes(&old), Arg::Bytes(&new)];
    assert_eq!(call("GetReparentedValue", &args), Made::Bytes(bytes("/300/-7/3/")));
}
