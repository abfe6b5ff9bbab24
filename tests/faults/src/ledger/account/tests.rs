//! The oracle itself: it accepts every allowed state and names what is wrong with the others.

use super::*;

fn put(number: u64) -> Transaction {
    Transaction { number, actions: vec![Action::Put(number, Row { len: 1, letter: b'x' })] }
}

fn state(numbers: &[u64], counter: u64) -> State {
    let row = Row { len: 1, letter: b'x' };
    State { rows: numbers.iter().map(|&n| (n, row)).collect(), counter }
}

/// Transactions 1 to 4, of which one was promised and three were answered.
fn account() -> Account {
    let mut account = Account::new(1, true, Mix::Everything);
    account.after = (1..=4).map(put).collect();
    (account.sure, account.answered) = (1, 3);
    account
}

/// (lost, resurrected, torn, delayed and gone, unanswered and there)
fn found(state: State) -> (u64, u64, u64, u64, u64) {
    let mut tally = Tally::default();
    account().settle(state, &mut tally);
    (tally.lost, tally.resurrected, tally.torn, tally.delayed_gone, tally.unanswered_there)
}

#[test]
fn a_first_part_may_survive_and_nothing_else() {
    assert_eq!(found(state(&[1], 1)), (0, 0, 0, 2, 0));
    assert_eq!(found(state(&[1, 2, 3], 3)), (0, 0, 0, 0, 0));
    assert_eq!(found(state(&[1, 2, 3, 4], 4)), (0, 0, 0, 0, 1));
    assert_eq!(found(state(&[], 0)), (1, 0, 0, 0, 0), "the promised one is lost");
    assert_eq!(found(state(&[1, 3], 3)), (0, 0, 1, 0, 0), "a hole: rows of no one state");
    assert_eq!(found(state(&[1, 2], 3)), (0, 0, 1, 0, 0), "the counter of another state");
    assert_eq!(found(state(&[1, 9], 1)), (0, 1, 0, 0, 0), "what was never sent");
}

#[test]
fn what_is_sure_is_folded_and_stays_so() {
    let mut account = account();
    account.fold();
    assert_eq!(
        (account.base.clone(), account.after.len(), account.answered),
        (state(&[1], 1), 3, 2)
    );
    assert_eq!(account.now(), state(&[1, 2, 3, 4], 4));
    let mut tally = Tally::default();
    account.settle(state(&[], 0), &mut tally);
    assert_eq!(tally.lost, 1);
}
