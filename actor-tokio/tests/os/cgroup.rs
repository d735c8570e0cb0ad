//! A control group for a child, of either version.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process, thread,
    time::Duration,
};

/// A group that goes away with the value.
pub struct Cgroup {
    directory: PathBuf,
}

impl Cgroup {
    /// Makes a group below this process's own, and writes to its files.
    ///
    /// # Errors
    ///
    /// Why not: it takes a control group that this process may write to.
    pub fn with(controller: &str, settings: &[(&str, &str)]) -> Result<Self, String> {
        let parent = parent(controller).ok_or_else(|| format!("no mounted control group for {controller}"))?;
        let directory = parent.join(format!("actor-test-{}-{controller}", process::id()));
        fs::create_dir(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
        let group = Self { directory };
        for (file, value) in settings {
            let file = group.directory.join(file);
            // Not `fs::write`, which would make an ordinary file of a name that is unknown here.
            let written =
                fs::OpenOptions::new().write(true).open(&file).and_then(|mut it| it.write_all(value.as_bytes()));
            written.map_err(|error| format!("{}: {error}", file.display()))?;
        }
        Ok(group)
    }

    /// A command that moves itself into the group and becomes its arguments. The last of its own words is the group's
    /// directory.
    pub fn wrapper(&self) -> [&str; 4] {
        ["sh", "-c", "echo $$ > \"$0/cgroup.procs\" && exec \"$@\"", self.directory.to_str().expect("a path in UTF-8")]
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // The kernel lets go of a group a moment after its last process was waited for.
        for _ in 0..100 {
            if fs::remove_dir(&self.directory).is_ok() {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        eprintln!("{} stays behind", self.directory.display());
    }
}

/// This process's group in the hierarchy of `controller`.
fn parent(controller: &str) -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let one = mounts.lines().find_map(|line| {
        let (mount, filesystem) = line.split_once(" - cgroup ")?;
        filesystem.split([' ', ',']).any(|word| word == controller).then(|| mount.split(' ').nth(4))?
    });
    let two = mounts.lines().find_map(|line| line.split_once(" - cgroup2 ")?.0.split(' ').nth(4));
    let (point, group) = match (one, two) {
        (Some(point), _) => (point, groups.lines().find(|line| line.split([':', ',']).any(|word| word == controller))),
        (None, two) => (two?, groups.lines().find(|line| line.starts_with("0::"))),
    };
    let group = group?.splitn(3, ':').nth(2)?;
    let below = Path::new(point).join(group.trim_start_matches('/'));
    Some(if below.is_dir() { below } else { PathBuf::from(point) })
}
