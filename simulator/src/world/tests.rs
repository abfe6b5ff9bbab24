//! A few worlds, and one twice; `cargo xtask simulate` has the rest.

use super::*;

fn options(seed: u64) -> Options {
    Options { seed, workload: None, faults: Faults::ALL, level: None, tables: None }
}

#[test]
fn a_world_is_its_seed() {
    let template = Template::make();
    // Of each kind of tables one.
    let worlds = [3, 4, 5].map(|seed| {
        let (a, b) = (run(&template, &options(seed)), run(&template, &options(seed)));
        assert_eq!(a, b);
        a.trace
    });
    assert_ne!(worlds[0], worlds[1]);
}

#[test]
fn nothing_is_odd_where_nothing_fails() {
    let template = Template::make();
    for (seed, name) in WORKLOADS.iter().enumerate() {
        for tables in Tables::ALL {
            let workload = Some((*name).to_owned());
            let options = Options {
                seed: seed as u64,
                workload,
                faults: Faults::NONE,
                level: None,
                tables: Some(tables),
            };
            let found = run(&template, &options);
            assert!(found.odd.is_empty() && found.committed > 20, "{name}, {tables:?}: {found}");
        }
    }
}

#[test]
fn names_of_faults_are_read_as_they_are_written() {
    for text in ["none", "disk", "disk,crash", "disk,network,crash,clock"] {
        let faults: Faults = text.parse().expect("faults");
        assert_eq!(faults.to_string(), text);
    }
    assert_eq!("all".parse(), Ok(Faults::ALL));
    assert!("disc".parse::<Faults>().is_err());
}
