//! Working through tasks by several threads. A task may lead to further ones, as a folder leads to those in it.

use std::io;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder};

/// The most threads: more wait for the locks of the file system rather than for a core.
const THREADS_MAX: usize = 8;

/// Works through tasks and those that they lead to, the newest first, and returns what each gave, in no order.
///
/// # Errors
/// The first error of any task. No task begins after it.
///
/// # Panics
/// When a task panics; the others end first.
pub(crate) fn work_through<T: Send, O: Send>(
    first: Vec<T>,
    step: impl Fn(T) -> io::Result<(O, Vec<T>)> + Sync,
) -> io::Result<Vec<O>> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    work_with(cores.min(THREADS_MAX), first, step)
}

fn work_with<T: Send, O: Send>(
    threads: usize,
    first: Vec<T>,
    step: impl Fn(T) -> io::Result<(O, Vec<T>)> + Sync,
) -> io::Result<Vec<O>> {
    let queue = Queue {
        state: Mutex::new(State {
            open: first,
            busy: 0,
            done: Vec::new(),
            end: None,
        }),
        changed: Condvar::new(),
    };
    thread::scope(|scope| {
        let begin = |_| Builder::new().spawn_scoped(scope, || queue.work(&step));
        // A thread that the system refuses is no failure: this one does all the work then.
        let others: Vec<_> = (1..threads).map(begin).filter_map(Result::ok).collect();
        queue.work(&step);
        for other in others {
            if let Err(panic) = other.join() {
                resume_unwind(panic);
            }
        }
    });
    let state = queue.state.into_inner();
    let state = state.unwrap_or_else(PoisonError::into_inner);
    match state.end {
        Some(End::Failed(error)) => Err(error),
        // The panic has gone on to the caller, so this is only reached without one.
        Some(End::Panicked) | None => Ok(state.done),
    }
}

/// Tasks that wait for a thread.
struct Queue<T, O> {
    state: Mutex<State<T, O>>,
    /// Wakes threads that wait for a task, or for the end.
    changed: Condvar,
}

struct State<T, O> {
    open: Vec<T>,
    /// Tasks that threads are working on. Each may lead to more.
    busy: usize,
    done: Vec<O>,
    end: Option<End>,
}

/// Why no further task begins.
enum End {
    Failed(io::Error),
    Panicked,
}

impl<T, O> Queue<T, O> {
    fn lock(&self) -> MutexGuard<'_, State<T, O>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, step: impl Fn(T) -> io::Result<(O, Vec<T>)>) {
        while let Some(task) = self.next() {
            let mut busy = Busy {
                queue: self,
                outcome: None,
            };
            busy.outcome = Some(step(task));
        }
    }

    /// Waits for a task; `None` at the end.
    fn next(&self) -> Option<T> {
        let mut state = self.lock();
        loop {
            if state.end.is_some() {
                return None;
            }
            if let Some(task) = state.open.pop() {
                state.busy += 1;
                return Some(task);
            }
            if state.busy == 0 {
                return None;
            }
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A task at work. It is given back even when it panics: otherwise the other threads would wait for it forever.
struct Busy<'q, T, O> {
    queue: &'q Queue<T, O>,
    outcome: Option<io::Result<(O, Vec<T>)>>,
}

impl<T, O> Drop for Busy<'_, T, O> {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        state.busy -= 1;
        match self.outcome.take() {
            Some(Ok((done, further))) => {
                state.done.push(done);
                state.open.extend(further);
            }
            Some(Err(error)) => {
                state.end.get_or_insert(End::Failed(error));
            }
            None => state.end = Some(End::Panicked),
        }
        self.queue.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn each_task_is_done_once_whatever_the_number_of_threads() {
        for threads in [1, 2, 8] {
            let mut done = work_with(threads, vec![1_u32], |task| {
                let further = [task * 2, task * 2 + 1].into_iter();
                Ok((task, further.filter(|next| *next < 500).collect()))
            })
            .unwrap();
            done.sort_unstable();
            assert_eq!(done, (1..500).collect::<Vec<_>>(), "{threads} threads");
        }
        assert_eq!(
            work_through(Vec::<u32>::new(), |_| Ok(((), Vec::new()))).unwrap(),
            []
        );
    }

    #[test]
    fn after_an_error_no_task_begins() {
        for threads in [1, 2, 8] {
            let begun = AtomicUsize::new(0);
            let failed = work_with(threads, vec![0_u32], |task| {
                begun.fetch_add(1, Ordering::SeqCst);
                if task == 20 {
                    return Err(io::Error::other("the twentieth"));
                }
                // without an end of its own
                Ok(((), vec![task + 1]))
            });
            assert_eq!(failed.unwrap_err().to_string(), "the twentieth");
            assert_eq!(begun.into_inner(), 21, "{threads} threads");
        }
    }

    #[test]
    fn a_panic_reaches_the_caller_and_leaves_no_thread_waiting() {
        for threads in [1, 2, 8] {
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                work_with(threads, (0..100_u32).collect(), |task| {
                    assert_ne!(task, 50, "a broken task");
                    Ok(((), Vec::new()))
                })
            }));
            assert!(outcome.is_err(), "{threads} threads");
        }
    }
}
