//! What a connection sends: packets as the socket takes them, what is kept in a file where a client does not read, and how its
//! task waits for room.

use super::*;

impl Connection {
    /// Sends the packets that are ready, as far as the socket takes them.
    pub fn transmit(&self, writer: &mut TokenWriter) {
        let ready = writer.ready();
        if ready.is_empty() {
            return;
        }
        let n = ready.len();
        let mut state = self.state.lock();
        if let Some(streams) = &mut state.streams {
            streams.answer(ready);
            self.pump(&mut state);
        } else if !state.io.ended
            && let Err(error) = state.io.send(&self.stream, ready)
        {
            self.broken(&mut state, &error);
        }
        writer.consume(n);
    }

    /// Sends of the streams what their windows and the socket have room for.
    pub(super) fn pump(&self, state: &mut State) {
        while !state.io.ended && state.io.unsent() < STREAMED_BYTES {
            let Some(streams) = &mut state.streams else { return };
            let bytes = streams.wire();
            if bytes.is_empty() {
                return;
            }
            if let Err(error) = state.io.send(&self.stream, &bytes) {
                self.broken(state, &error);
            }
        }
    }

    /// Tells the streams' client what it may send, now that something was taken.
    pub(super) fn make_room(&self, state: &mut State) {
        if let Some(streams) = &mut state.streams {
            streams.acknowledge();
            self.pump(state);
        }
    }

    /// Writes and reads what streams keep in files. Suspends.
    pub(super) fn keep(&self) {
        if let Err(error) = self.try_keep() {
            let text = error.to_message().text;
            warn!(connection = self.id, error = %text, "closed: an answer cannot be kept");
            let mut state = self.state.lock();
            state.io.ended = true;
            self.stop(&mut state);
        }
    }

    pub(super) fn try_keep(&self) -> Result<(), SqlError> {
        loop {
            let mut state = self.state.lock();
            let Some(streams) = &mut state.streams else { return Ok(()) };
            if let Some((file, bytes)) = streams.next_write() {
                drop(state);
                let file = match (file, &self.shared.instance.workspace().spill) {
                    (Some(file), _) => file,
                    (None, Some(space)) => SpillFile::create(space)?,
                    (None, None) => return Err(SqlError::new(1105, 17, "There are no files.")),
                };
                let extent = file.write(&bytes)?;
                self.with_streams(|streams| streams.written(file, extent, bytes.len()));
            } else if let Some((stream, file, extent)) = streams.next_read() {
                drop(state);
                let mut bytes = Vec::new();
                file.read(extent, &mut bytes)?;
                self.with_streams(|streams| streams.read(stream, &bytes));
            } else {
                return Ok(());
            }
            self.pump(&mut self.state.lock());
        }
    }

    pub(super) fn with_streams(&self, change: impl FnOnce(&mut Streams)) {
        if let Some(streams) = &mut self.state.lock().streams {
            change(streams);
        }
    }

    /// Waits until the socket has taken what was sent, or until that no longer matters.
    pub fn wait_for_room(&self) {
        if self.state.lock().streams.is_none() {
            return self.wait_until_unsent(0);
        }
        loop {
            // What came may have made room for what lies in a file.
            self.keep();
            let mut state = self.state.lock();
            if state.news && !state.io.ended {
                self.receive(&mut state);
                continue;
            }
            let go_on = state.streams.as_ref().is_none_or(|streams| streams.may_go_on());
            if state.io.ended || state.aborted || state.attention || go_on || self.is_stopped() {
                return;
            }
            state.waiter = Some(task::current_waker());
            state.wants_bytes = true;
            drop(state);
            task::park(WaitType::AsyncNetworkIo, None);
        }
    }

    pub(super) fn wait_until_unsent(&self, bytes: usize) {
        loop {
            let mut state = self.state.lock();
            if state.io.ended {
                return;
            }
            match state.io.flush(&self.stream) {
                Ok(_) if state.io.unsent() <= bytes || state.attention || state.aborted => return,
                Ok(_) => {
                    state.waiter = Some(task::current_waker());
                    state.wants_bytes = false;
                }
                Err(error) => return self.broken(&mut state, &error),
            }
            drop(state);
            task::park(WaitType::AsyncNetworkIo, None);
        }
    }

    /// Reads what is there, or waits for it; false: nothing more will come.
    pub(super) fn wait_for_bytes(&self) -> bool {
        loop {
            let mut state = self.state.lock();
            self.make_room(&mut state);
            if state.io.ended || state.aborted {
                return false;
            }
            // Read for this task, which looked before they were there or has just been woken: nobody will tell it again.
            let came = std::mem::take(&mut state.came);
            if came || state.news {
                if !came {
                    self.receive(&mut state);
                }
                if state.streams.is_some() {
                    drop(state);
                    self.keep();
                }
                return true;
            }
            state.waiter = Some(task::current_waker());
            state.wants_bytes = true;
            drop(state);
            task::park(WaitType::AsyncNetworkIo, None);
        }
    }
}
