//! Working through tasks by several threads. A task may lead to further ones, as a folder leads to those in it.

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder, Scope};

/// The most threads. The number is chosen, not measured: more would wait for the locks of the file system rather than for a core.
const THREADS_MAX: usize = 8;

/// Returns how many threads this machine can use.
pub(crate) fn thread_count() -> usize {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    cores.min(THREADS_MAX)
}

/// What a task gave, and the tasks that it leads to.
pub(crate) struct Step<T, O> {
    pub(crate) done: O,
    /// Tasks that hold something open. No task of `later` begins before all of these have, whichever thread made them: so at most
    /// as many things are open as there are threads, if each task of `later` opens one.
    pub(crate) first: Vec<T>,
    pub(crate) later: Vec<T>,
}

impl<T, O> Step<T, O> {
    /// A step that leads to no more.
    pub(crate) fn last(done: O) -> Self {
        Self {
            done,
            first: Vec::new(),
            later: Vec::new(),
        }
    }
}

/// Works through tasks and those that they lead to, the newest first, and returns what each gave, in no order.
///
/// This thread works, too. Another one begins when a task is left for it, up to the number of threads.
///
/// # Errors
/// The first error of any task. No task begins after it.
///
/// # Panics
/// When a task panics; the others end first.
pub(crate) fn work_through<T: Send, O: Send, E: Send>(
    threads: usize,
    tasks: Vec<T>,
    step: impl Fn(T) -> Result<Step<T, O>, E> + Sync,
) -> Result<Vec<O>, E> {
    let queue = Queue::new(threads, tasks);
    thread::scope(|scope| queue.work(scope, &step));
    let state = queue.state.into_inner();
    let state = state.unwrap_or_else(PoisonError::into_inner);
    match state.end {
        Some(End::Failed(error)) => Err(error),
        Some(End::Panicked(panic)) => resume_unwind(panic),
        None => Ok(state.done),
    }
}

/// Divides items into parts for one task each.
pub(crate) fn parts_of<T>(mut items: Vec<T>, items_a_task: NonZero<usize>) -> Vec<Vec<T>> {
    let mut parts = Vec::new();
    while !items.is_empty() {
        let rest = items.len().saturating_sub(items_a_task.get());
        parts.push(items.split_off(rest));
    }
    parts
}

/// Tasks that wait for a thread.
struct Queue<T, O, E> {
    state: Mutex<State<T, O, E>>,
    /// Wakes threads that wait for a task, or for the end.
    changed: Condvar,
}

struct State<T, O, E> {
    first: Vec<T>,
    later: Vec<T>,
    /// Tasks that threads are working on. Each may lead to more.
    busy: usize,
    /// Threads without a task, also those that are about to begin.
    free: usize,
    /// How many threads may still begin.
    unused: usize,
    done: Vec<O>,
    end: Option<End<E>>,
}

/// Why no further task begins.
enum End<E> {
    Failed(E),
    Panicked(Box<dyn std::any::Any + Send>),
}

/// A task for a thread.
struct Taken<T> {
    task: T,
    /// Whether another thread should begin before this task does.
    leaves_more: bool,
}

impl<T, O, E> Queue<T, O, E> {
    fn new(threads: usize, tasks: Vec<T>) -> Self {
        Self {
            state: Mutex::new(State {
                first: Vec::new(),
                later: tasks,
                busy: 0,
                free: 1,
                unused: threads.saturating_sub(1),
                done: Vec::new(),
                end: None,
            }),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T, O, E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a task; `None` at the end.
    fn take(&self) -> Option<Taken<T>> {
        let mut state = self.lock();
        loop {
            if state.end.is_some() {
                return None;
            }
            let next = state.first.pop();
            if let Some(task) = next.or_else(|| state.later.pop()) {
                state.busy += 1;
                state.free = state.free.saturating_sub(1);
                let open = state.first.len() + state.later.len();
                let leaves_more = open > state.free && state.unused > 0;
                if leaves_more {
                    state.unused -= 1;
                    state.free += 1;
                }
                return Some(Taken { task, leaves_more });
            }
            if state.busy == 0 {
                return None;
            }
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes what a task led to. Each task that was taken must come back: otherwise the other threads would wait for it forever.
    fn give_back(&self, outcome: thread::Result<Result<Step<T, O>, E>>) {
        let mut state = self.lock();
        state.busy -= 1;
        state.free += 1;
        match outcome {
            Ok(Ok(step)) => {
                state.done.push(step.done);
                state.first.extend(step.first);
                state.later.extend(step.later);
            }
            Ok(Err(error)) => {
                state.end.get_or_insert(End::Failed(error));
            }
            Err(panic) => state.end = Some(End::Panicked(panic)),
        }
        self.changed.notify_all();
    }

    /// A thread that the system refuses is no failure: those that are there do all the work then.
    fn work_without_more_threads(&self) {
        let mut state = self.lock();
        state.free -= 1;
        state.unused = 0;
    }
}

impl<T: Send, O: Send, E: Send> Queue<T, O, E> {
    fn work<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        step: &'scope (impl Fn(T) -> Result<Step<T, O>, E> + Sync),
    ) {
        while let Some(Taken { task, leaves_more }) = self.take() {
            if leaves_more {
                let begun = Builder::new().spawn_scoped(scope, || self.work(scope, step));
                if begun.is_err() {
                    self.work_without_more_threads();
                }
            }
            // No task begins after a panic, so none reads what the one that panicked shares with others.
            self.give_back(catch_unwind(AssertUnwindSafe(|| step(task))));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn later<T, O>(done: O, later: Vec<T>) -> Step<T, O> {
        Step {
            later,
            ..Step::last(done)
        }
    }

    #[test]
    fn each_task_is_done_once_whatever_the_number_of_threads() {
        for threads in [1, 2, 8] {
            let Ok(mut done) = work_through(threads, vec![1_u32], |task| {
                let further = [task * 2, task * 2 + 1].into_iter();
                let further = further.filter(|next| *next < 500).collect();
                Ok::<_, Infallible>(later(task, further))
            });
            done.sort_unstable();
            assert_eq!(done, (1..500).collect::<Vec<_>>(), "{threads} threads");
            let none = work_through(threads, Vec::<u32>::new(), |_| {
                Ok::<_, Infallible>(Step::last(()))
            });
            assert_eq!(none, Ok(Vec::new()));
        }
    }

    #[test]
    fn parts_have_each_item_once() {
        let size = NonZero::new(4).unwrap();
        for (items, parts) in [(0_u32, 0), (1, 1), (4, 1), (5, 2), (8, 2), (9, 3)] {
            let made = parts_of((0..items).collect(), size);
            assert_eq!(made.len(), parts, "{items} items");
            assert!(made.iter().all(|part| part.len() <= 4), "{items} items");
            let mut all = made.concat();
            all.sort_unstable();
            assert_eq!(all, (0..items).collect::<Vec<_>>());
        }
    }

    #[test]
    fn after_an_error_no_task_begins() {
        // The last one is taken first.
        let begun = AtomicUsize::new(0);
        let failed = work_through(1, (1..=100_u32).collect(), |task| {
            begun.fetch_add(1, Ordering::SeqCst);
            if task == 100 {
                return Err("the hundredth");
            }
            Ok(Step::last(()))
        });
        assert_eq!(failed, Err("the hundredth"));
        assert_eq!(begun.into_inner(), 1);

        // What several threads do, in an order that is known.
        let queue: Queue<u32, (), &str> = Queue::new(3, (1..=100).collect());
        for task in [100, 99, 98] {
            assert_eq!(queue.take().unwrap().task, task);
        }
        queue.give_back(Ok(Err("the hundredth")));
        assert!(queue.take().is_none());
        queue.give_back(Ok(Ok(later((), vec![101]))));
        queue.give_back(Ok(Err("another")));
        assert!(queue.take().is_none());
        assert!(matches!(
            queue.lock().end,
            Some(End::Failed("the hundredth"))
        ));
    }

    #[test]
    fn a_panic_reaches_the_caller_and_leaves_no_thread_waiting() {
        for threads in [1, 2, 8] {
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                work_through(threads, (0..100_u32).collect(), |task| {
                    assert_ne!(task, 50, "a broken task");
                    Ok::<_, Infallible>(Step::last(()))
                })
            }));
            assert!(outcome.is_err(), "{threads} threads");
        }
    }

    #[test]
    fn threads_begin_only_for_tasks_that_are_left() {
        let Ok(done) = work_through(8, vec![1_u32], |task| {
            let further = Some(task + 1).filter(|next| *next <= 100);
            let further = further.into_iter().collect();
            Ok::<_, Infallible>(later(thread::current().id(), further))
        });
        assert_eq!(done, vec![thread::current().id(); 100]);
        for (tasks, others) in [(1, 0), (2, 1), (3, 2), (8, 7), (100, 7)] {
            let queue: Queue<u32, (), ()> = Queue::new(8, (0..tasks).collect());
            let begins = |_| queue.take().unwrap().leaves_more;
            let begun = (0..tasks).map(begins).filter(|more| *more).count();
            assert_eq!(begun, others, "{tasks} tasks");
        }
    }

    #[test]
    fn tasks_that_hold_something_open_are_taken_first() {
        let queue: Queue<u32, (), ()> = Queue::new(2, vec![10, 20]);
        let take = || queue.take().unwrap().task;
        let give_back = |first, later| {
            queue.give_back(Ok(Ok(Step {
                done: (),
                first,
                later,
            })));
        };
        assert_eq!([take(), take()], [20, 10]);
        give_back(vec![21, 22], vec![23]);
        give_back(vec![11, 12], vec![13]);
        assert_eq!([take(), take()], [12, 11]);
        give_back(vec![], vec![14]);
        assert_eq!([take(), take(), take()], [22, 21, 14]);
    }

    const DEPTH: usize = 200;

    /// What a folder and its files do: a folder is open until the last task with files of it has ended.
    enum Task {
        Folder(usize),
        Files(Arc<Open>),
    }

    struct Open(Arc<AtomicUsize>);

    impl Drop for Open {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn no_more_is_open_than_threads_work() {
        for threads in [1, 2, 8] {
            let (open, most) = (Arc::new(AtomicUsize::new(0)), AtomicUsize::new(0));
            let step = |task: Task| {
                thread::yield_now();
                let depth = match task {
                    Task::Folder(depth) => depth,
                    Task::Files(held) => {
                        thread::yield_now();
                        drop(held);
                        return Ok::<_, Infallible>(Step::last(()));
                    }
                };
                let now = open.fetch_add(1, Ordering::SeqCst) + 1;
                most.fetch_max(now, Ordering::SeqCst);
                let held = Arc::new(Open(Arc::clone(&open)));
                let files = (0..20).map(|_| Task::Files(Arc::clone(&held)));
                // One of the two goes on, so that folders of several depths are at work.
                let inner = [depth + 1, DEPTH].map(Task::Folder);
                Ok(Step {
                    done: (),
                    first: files.collect(),
                    later: inner.into_iter().filter(|_| depth < DEPTH).collect(),
                })
            };
            let Ok(done) = work_through(threads, vec![Task::Folder(1)], step);
            assert_eq!(done.len(), (2 * DEPTH - 1) * 21);
            let most = most.into_inner();
            assert!(most <= threads, "{most} by {threads} threads");
            assert_eq!(open.load(Ordering::SeqCst), 0);
        }
    }
}
