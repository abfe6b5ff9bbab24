//! The filter as the kernel would run it, and the report as it is read back.

use super::*;

/// What the filter answers for a call.
fn verdict(number: u32) -> u32 {
    let program = filter();
    let mut at = 1;
    loop {
        let step = &program[at];
        if u32::from(step.code) & 7 == libc::BPF_RET {
            return step.k;
        }
        at += 1 + usize::from(if step.k == number { step.jt } else { step.jf });
    }
}

#[test]
fn the_filter_stops_at_every_listed_call_and_at_no_other() {
    for call in CALLS {
        assert_eq!(verdict(call.number as u32), libc::SECCOMP_RET_TRACE, "{}", call.name);
    }
    for number in [libc::SYS_futex, libc::SYS_close, libc::SYS_clock_gettime, libc::SYS_exit_group]
    {
        assert_eq!(verdict(number as u32), libc::SECCOMP_RET_ALLOW);
    }
}

#[test]
fn each_call_is_listed_once() {
    let numbers: std::collections::BTreeSet<i64> = CALLS.iter().map(|c| c.number).collect();
    assert_eq!(numbers.len(), CALLS.len());
    assert!(CALLS.len() < 200, "jumps of the filter are of one byte");
}

#[test]
fn a_report_is_read_as_it_was_written() {
    let stack = vec![0x10, 0xabc];
    let key = key_of(257, &stack);
    let seen = Seen { key, number: 257, count: 3, whole: true, stack };
    let tracer = Tracer {
        pid: 0,
        text: (0, 0, 0),
        records: true,
        faults: Vec::new(),
        fired: PathBuf::new(),
        seen: BTreeMap::from([(key, seen)]),
    };
    let file = std::env::temp_dir().join(format!("trace-report-{}", std::process::id()));
    std::fs::write(&file, tracer.report()).unwrap();
    let read = read_report(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(read.len(), 1);
    assert_eq!((read[0].key, read[0].number, read[0].count), (key, 257, 3));
    assert_eq!(read[0].stack, [0x10, 0xabc]);
    assert!(read[0].whole);
    assert_ne!(key_of(257, &[0x10]), key, "the whole stack counts");
}

#[test]
fn a_fault_is_read_as_it_is_written() {
    for how in [How::Short, How::Error(libc::ENOSPC)] {
        let fault = Fault { key: 0xfeed, nth: 3, how };
        assert_eq!(fault.to_string().parse(), Ok(fault));
    }
    for bad in ["", "feed:1", "feed:1:short:2", "x:1:5", "feed:-1:5", "feed:1:much"] {
        assert!(bad.parse::<Fault>().is_err(), "{bad}");
    }
}
