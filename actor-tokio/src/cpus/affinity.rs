//! The system calls of pinning, behind a trait: a test can refuse them.

use std::io;

/// What placement asks of the system. All of it is about the calling thread.
pub(crate) trait Affinity: Send + Sync {
    /// The CPUs that the calling thread may run on, ascending.
    fn current(&self) -> io::Result<Vec<usize>>;

    /// Restricts the calling thread to `cpus`. Threads that it starts later inherit this.
    fn restrict(&self, cpus: &[usize]) -> io::Result<()>;
}

/// The system that we run on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct System;

#[cfg(any(target_os = "linux", target_os = "android"))]
impl Affinity for System {
    fn current(&self) -> io::Result<Vec<usize>> {
        let mask = rustix::thread::sched_getaffinity(None)?;
        Ok((0..rustix::thread::CpuSet::MAX_CPU).filter(|&cpu| mask.is_set(cpu)).collect())
    }

    fn restrict(&self, cpus: &[usize]) -> io::Result<()> {
        use rustix::thread::CpuSet;

        let mut mask = CpuSet::new();
        for &cpu in cpus {
            // A larger number would be a panic in `set`. The kernel's own answer to an unknown CPU is EINVAL as well.
            if cpu >= CpuSet::MAX_CPU {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            mask.set(cpu);
        }
        rustix::thread::sched_setaffinity(None, &mask)?;
        Ok(())
    }
}

/// Elsewhere a thread can be sent to one CPU, and how many there are is known, but no mask can be set.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
impl Affinity for System {
    fn current(&self) -> io::Result<Vec<usize>> {
        let mut cpus: Vec<usize> =
            core_affinity::get_core_ids().ok_or(io::ErrorKind::Unsupported)?.into_iter().map(|core| core.id).collect();
        cpus.sort_unstable();
        Ok(cpus)
    }

    fn restrict(&self, cpus: &[usize]) -> io::Result<()> {
        match cpus {
            [id] if core_affinity::set_for_current(core_affinity::CoreId { id: *id }) => Ok(()),
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

#[cfg(all(test, any(target_os = "linux", target_os = "android")))]
mod tests {
    use super::{Affinity, System};

    #[test]
    fn a_pin_is_read_back_and_undone() {
        std::thread::spawn(|| {
            let before = System.current().unwrap();
            let last = *before.last().unwrap();

            System.restrict(&[last]).unwrap();
            assert_eq!(System.current().unwrap(), [last]);

            System.restrict(&before).unwrap();
            assert_eq!(System.current().unwrap(), before);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_cpu_that_cannot_be_is_an_error() {
        for cpu in [1_023, 1_024, usize::MAX] {
            assert!(System.restrict(&[cpu]).is_err(), "CPU {cpu}");
        }
    }
}
