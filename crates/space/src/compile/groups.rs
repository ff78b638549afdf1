//! Groups of interdependent parameters.

/// Returns the connected components of `count` parameters. Each of `links` joins its members. These
/// are ATF's groups (ATF paper, section 3.2, optimisation 1), found from the constraints alone.
/// Groups come in the order of their first parameter, and parameters ascend within them.
pub(crate) fn groups<'a>(count: usize, links: impl IntoIterator<Item = &'a [usize]>) -> Vec<Vec<usize>> {
    let mut parent: Vec<usize> = (0..count).collect();
    for link in links {
        for pair in link.windows(2) {
            let (a, b) = (root(&mut parent, pair[0]), root(&mut parent, pair[1]));
            // The smaller index is the root, so a root comes before its members.
            parent[a.max(b)] = a.min(b);
        }
    }
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut group_of_root = vec![usize::MAX; count];
    for parameter in 0..count {
        let root = root(&mut parent, parameter);
        if group_of_root[root] == usize::MAX {
            group_of_root[root] = groups.len();
            groups.push(Vec::new());
        }
        groups[group_of_root[root]].push(parameter);
    }
    groups
}

fn root(parent: &mut [usize], mut of: usize) -> usize {
    while parent[of] != of {
        parent[of] = parent[parent[of]];
        of = parent[of];
    }
    of
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_that_share_a_constraint_share_a_group() {
        let links: [&[usize]; 3] = [&[4, 1], &[1, 2], &[3]];
        assert_eq!(groups(6, links), [vec![0], vec![1, 2, 4], vec![3], vec![5]]);
    }
}
