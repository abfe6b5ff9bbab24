//! Binding lets others go first where it looks for each of many names among many columns.
//!
//! What is counted are the looks at the clock: they are in proportion to the work, and so to the square of the columns.

use std::cell::Cell;

use binder::Names;
use runtime::task::{self, Parked, TaskHooks, Waker};

mod fixture;

thread_local! {
    static LOOKS: Cell<usize> = const { Cell::new(0) };
}

struct Counts;

impl TaskHooks for Counts {
    fn current_waker(&self) -> Waker {
        unreachable!("nothing waits here")
    }
    fn park(&self, _: telemetry::WaitType, _: Option<u64>, _: Option<u64>) -> Parked {
        unreachable!("nothing waits here")
    }
    fn yield_now(&self) {}
    fn maybe_yield(&self) -> u32 {
        LOOKS.set(LOOKS.get() + 1);
        0
    }
}

fn looks(sql: &str, names: &dyn Names) -> usize {
    let batch = syntax::parse_batch(sql, &Default::default()).expect("it parses");
    let before = task::install_hooks(Some(&Counts));
    LOOKS.set(0);
    let bound = binder::bind_batch(&batch, sql, names);
    let looks = LOOKS.get();
    task::install_hooks(before);
    assert!(bound.is_ok(), "it binds");
    looks
}

#[test]
fn many_names_among_many_columns_let_others_go_first() {
    const COLUMNS: usize = 2000;
    let list =
        |each: &dyn Fn(usize) -> String| (0..COLUMNS).map(each).collect::<Vec<String>>().join(", ");
    let (columns, names) = (list(&|i| format!("{i} AS a{i}")), list(&|i| format!("a{i}")));
    let texts = [
        (
            "unpivot",
            format!("SELECT COUNT(*) FROM (SELECT {columns}) s UNPIVOT (v FOR c IN ({names})) u"),
        ),
        ("order by", format!("SELECT {columns} ORDER BY {names}")),
        ("group by", format!("SELECT {names} FROM (SELECT {columns}) s GROUP BY {names}")),
    ];
    let catalog = fixture::Fixture::new("");
    for (name, text) in texts {
        let looks = looks(&text, &catalog);
        assert!(looks > 300, "{name}: {looks} looks");
    }
}
