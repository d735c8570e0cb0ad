//! The CPU time which control groups allow this process.
//!
//! Version 1 and version 2 can be mounted side by side, and a limit of any ancestor holds for the whole subtree: both are
//! looked at, from the process's own group up to the root of each mount, and the smallest limit wins. What cannot be
//! read does not limit.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// The quota of this process in CPUs, if there is one.
pub(super) fn of_process() -> Option<f64> {
    quota(&|path| fs::read_to_string(path).ok())
}

/// Where the limit of one version is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    /// `cpu.cfs_quota_us` and `cpu.cfs_period_us`.
    One,
    /// `cpu.max`.
    Two,
}

/// One mount of a hierarchy that can limit CPU time.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    version: Version,
    /// The group that is seen at `point`: not the root of the hierarchy in a container without a namespace of its own.
    root: PathBuf,
    point: PathBuf,
}

type Read<'a> = &'a dyn Fn(&Path) -> Option<String>;

fn quota(read: Read<'_>) -> Option<f64> {
    let groups = read(Path::new("/proc/self/cgroup"))?;
    let mounts = read(Path::new("/proc/self/mountinfo"))?;
    let mounts: Vec<Mount> = mounts.lines().filter_map(Mount::parse).collect();
    [Version::One, Version::Two]
        .into_iter()
        .filter_map(|version| {
            let group = group_of(&groups, version)?;
            let mut seen = mounts.iter().filter(|mount| mount.version == version);
            let (mount, directory) = seen
                .clone()
                .find_map(|mount| Some((mount, mount.directory_of(&group)?)))
                // The group is not below any mount: what the first mount shows is the nearest thing to it.
                .or_else(|| seen.next().map(|mount| (mount, mount.point.clone())))?;
            smallest_limit(mount, &directory, read)
        })
        .reduce(f64::min)
}

/// The path of this process's group, from the lines `id:controllers:path`.
fn group_of(groups: &str, version: Version) -> Option<PathBuf> {
    groups.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (id, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let found = match version {
            Version::One => controllers.split(',').any(|controller| controller == "cpu"),
            Version::Two => id == "0" && controllers.is_empty(),
        };
        found.then(|| PathBuf::from(path))
    })
}

/// The smallest limit from `directory` up to the mount point.
fn smallest_limit(mount: &Mount, directory: &Path, read: Read<'_>) -> Option<f64> {
    directory
        .ancestors()
        .take_while(|ancestor| ancestor.starts_with(&mount.point))
        .filter_map(|ancestor| mount.version.limit(ancestor, read))
        .reduce(f64::min)
}

// === impl Version ===

impl Version {
    fn limit(self, directory: &Path, read: Read<'_>) -> Option<f64> {
        let (quota, period) = match self {
            Self::One => (read(&directory.join("cpu.cfs_quota_us"))?, read(&directory.join("cpu.cfs_period_us"))?),
            Self::Two => {
                let max = read(&directory.join("cpu.max"))?;
                let (quota, period) = max.trim().split_once(' ')?;
                (quota.to_owned(), period.to_owned())
            }
        };
        // "No limit" is "-1" in version 1 and "max" in version 2: neither is a number without a sign.
        let quota: u64 = quota.trim().parse().ok()?;
        let period: u64 = period.trim().parse().ok()?;
        (quota > 0 && period > 0).then(|| quota as f64 / period as f64)
    }
}

// === impl Mount ===

impl Mount {
    /// Reads a line of mountinfo: `id parent device root point options [optional..] - type source options`.
    fn parse(line: &str) -> Option<Self> {
        let (mount, filesystem) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(3);
        let (root, point) = (unescape(mount.next()?), unescape(mount.next()?));
        let mut filesystem = filesystem.split(' ');
        let version = match (filesystem.next()?, filesystem.nth(1)?) {
            ("cgroup", options) if options.split(',').any(|option| option == "cpu") => Version::One,
            ("cgroup2", _) => Version::Two,
            _ => return None,
        };
        Some(Self { version, root, point })
    }

    /// Where `group` is seen in this mount.
    fn directory_of(&self, group: &Path) -> Option<PathBuf> {
        let below = group.strip_prefix(&self.root).ok()?;
        // A group outside the process's namespace is shown with "..", which does not lead there from a mount point.
        let inside = below.components().all(|part| matches!(part, Component::Normal(_)));
        inside.then(|| self.point.join(below))
    }
}

/// Undoes the octal escapes of mountinfo (space, tab, newline, backslash).
fn unescape(field: &str) -> PathBuf {
    let mut text = field.to_owned();
    for (escape, plain) in [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")] {
        text = text.replace(escape, plain);
    }
    PathBuf::from(text)
}

#[cfg(test)]
mod tests {
    use super::{Path, quota};

    const V1: &str = "33 31 0:29 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n";
    const V2: &str = "41 31 0:38 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw,nsdelegate\n";

    fn with(files: &[(&str, &str)]) -> Option<f64> {
        quota(&|path| files.iter().find(|(name, _)| Path::new(name) == path).map(|(_, text)| (*text).to_owned()))
    }

    fn v2(group: &str, files: &[(&str, &str)]) -> Option<f64> {
        let group = format!("0::{group}\n");
        let mut all = vec![("/proc/self/cgroup", group.as_str()), ("/proc/self/mountinfo", V2)];
        all.extend_from_slice(files);
        with(&all)
    }

    fn v1(group: &str, mount: &str, files: &[(&str, &str)]) -> Option<f64> {
        let group = format!("3:cpuset:/elsewhere\n2:cpu,cpuacct:{group}\n0::/\n");
        let mut all = vec![("/proc/self/cgroup", group.as_str()), ("/proc/self/mountinfo", mount)];
        all.extend_from_slice(files);
        with(&all)
    }

    #[test]
    fn no_files_no_quota() {
        assert_eq!(with(&[]), None);
        assert_eq!(with(&[("/proc/self/cgroup", "0::/\n"), ("/proc/self/mountinfo", "")]), None);
        assert_eq!(v2("/", &[]), None);
    }

    #[test]
    fn version_two() {
        assert_eq!(v2("/a", &[("/sys/fs/cgroup/a/cpu.max", "150000 100000\n")]), Some(1.5));
        assert_eq!(v2("/a", &[("/sys/fs/cgroup/a/cpu.max", "max 100000\n")]), None);
    }

    #[test]
    fn an_ancestor_can_be_the_narrowest() {
        let files = [
            ("/sys/fs/cgroup/a/b/c/cpu.max", "400000 100000\n"),
            ("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n"),
            ("/sys/fs/cgroup/a/cpu.max", "50000 100000\n"),
            // Above the mount: not ours.
            ("/sys/fs/cpu.max", "1 100000\n"),
        ];
        assert_eq!(v2("/a/b/c", &files), Some(0.5));
    }

    #[test]
    fn an_ancestor_can_be_wider() {
        let files =
            [("/sys/fs/cgroup/a/b/cpu.max", "100000 100000\n"), ("/sys/fs/cgroup/a/cpu.max", "300000 100000\n")];
        assert_eq!(v2("/a/b", &files), Some(1.0));
    }

    #[test]
    fn version_one() {
        let files = [
            ("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "50000\n"),
            ("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n"),
            ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
            ("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
        ];
        assert_eq!(v1("/job", V1, &files), Some(0.5));
        assert_eq!(v1("/", V1, &files), None);
    }

    #[test]
    fn a_container_sees_its_group_at_the_mount_point() {
        let mount = "33 31 0:29 /box/7 /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n";
        let files =
            [("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000"), ("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000")];
        assert_eq!(v1("/box/7", mount, &files), Some(2.0));
        assert_eq!(v1("/another", mount, &files), Some(2.0), "nearest thing to a group that is not mounted");
    }

    #[test]
    fn the_smaller_of_two_versions() {
        const MOUNTS: &str = concat!(
            "33 31 0:29 / /v1 rw - cgroup cgroup rw,cpu\n",
            "34 31 0:30 / /v1set rw - cgroup cgroup rw,cpuset\n",
            "41 31 0:38 / /v2 rw - cgroup2 cgroup2 rw\n",
        );
        for (one, two) in [("300000", "200000 100000"), ("200000", "300000 100000")] {
            let files = [
                ("/proc/self/cgroup", "2:cpu:/\n0::/\n"),
                ("/proc/self/mountinfo", MOUNTS),
                ("/v1/cpu.cfs_quota_us", one),
                ("/v1/cpu.cfs_period_us", "100000"),
                ("/v2/cpu.max", two),
            ];
            assert_eq!(with(&files), Some(2.0));
        }
    }

    #[test]
    fn a_group_outside_the_namespace_is_not_followed() {
        assert_eq!(v2("/../other", &[("/sys/fs/cgroup/../other/cpu.max", "1 100000")]), None);
    }

    #[test]
    fn mount_points_with_spaces() {
        let files = [
            ("/proc/self/cgroup", "0::/\n"),
            ("/proc/self/mountinfo", "41 31 0:38 / /my\\040groups rw - cgroup2 cgroup2 rw\n"),
            ("/my groups/cpu.max", "100000 100000"),
        ];
        assert_eq!(with(&files), Some(1.0));
    }

    #[test]
    fn nonsense_does_not_limit() {
        for text in ["", "0 100000", "100000", "100000 0", "-5 100000", "a b", "99999999999999999999999 1"] {
            assert_eq!(v2("/a", &[("/sys/fs/cgroup/a/cpu.max", text)]), None, "{text:?}");
        }
    }
}
