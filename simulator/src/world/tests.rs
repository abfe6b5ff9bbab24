//! A few worlds, and one twice; `cargo xtask simulate` has the rest.

use super::*;

fn options(seed: u64) -> Options {
    Options { seed, workload: None, faults: Faults::ALL, level: None }
}

#[test]
fn a_world_is_its_seed() {
    let template = Template::make();
    let (a, b) = (run(&template, &options(3)), run(&template, &options(3)));
    assert_eq!(a, b);
    assert_ne!(a.trace, run(&template, &options(4)).trace);
}

#[test]
fn nothing_is_odd_where_nothing_fails() {
    let template = Template::make();
    for (seed, name) in WORKLOADS.iter().enumerate() {
        let workload = Some((*name).to_owned());
        let options = Options { seed: seed as u64, workload, faults: Faults::NONE, level: None };
        let found = run(&template, &options);
        assert!(found.odd.is_empty() && found.committed > 20, "{name}: {found}");
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
