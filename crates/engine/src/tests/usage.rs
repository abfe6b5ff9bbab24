//! Uses are counted in each form, and none is lost when the form changes.

use super::{fresh, make_tree};
use crate::{UsageForm, Use, set_usage_form, usage_form};

/// One test: the form is the process's.
#[test]
fn every_form_counts_what_it_should() {
    const THREADS: u64 = 4;
    const EACH: u64 = 5_000;
    let db = fresh();
    let tree = make_tree(&db);
    assert_eq!(usage_form(), UsageForm::PerScheduler);
    assert!(tree.usage().is_unused() && db.index_usage().is_empty());
    let mut expected = 0;
    for form in [UsageForm::PerScheduler, UsageForm::Shared, UsageForm::Off] {
        set_usage_form(form);
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| (0..EACH).for_each(|_| tree.note_use(Use::Update)));
            }
        });
        expected += if form == UsageForm::Off { 0 } else { THREADS * EACH };
        assert_eq!(tree.usage().count(Use::Update), expected, "{form:?}");
    }
    set_usage_form(UsageForm::default());
    let before_ns = runtime::clock::coarse_unix_ns();
    db.tree(tree.id()).note_use(Use::Seek);
    let usage = tree.usage();
    assert_eq!(usage.count(Use::Seek), 1);
    assert!(usage.last_unix_ns(Use::Seek).is_some_and(|ns| ns >= before_ns));
    assert_eq!((usage.count(Use::Scan), usage.last_unix_ns(Use::Scan)), (0, None));
    assert_eq!(db.index_usage(), [(tree.id(), usage)]);
    db.forget_tree(tree.id());
    assert!(db.index_usage().is_empty(), "what is dropped has no row");
}
