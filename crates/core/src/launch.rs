//! The work-items of a kernel's launch.

use serde::{Deserialize, Serialize};
use std::fmt;
use tunesmith_space::{Expr, Parameter, Space, Value};

/// The class of a device, which decides how good configurations look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceClass {
    /// The processor of a machine.
    Processor,
    /// A GPU.
    Gpu,
}

/// The work-items of a launch on a GPU, as expressions over parameters and [`constants`](Self::constants).
/// Strategies know from it what a configuration asks of the device.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// The extents of a work-group. Their product is its number of work-items.
    pub local: Vec<Expr>,
    /// The numbers of work-groups. Their product is the number of all.
    pub groups: Vec<Expr>,
    /// The values of names that are no parameters: sizes, and limits of the device.
    pub constants: Vec<(String, Value)>,
    /// True if nothing states the launch but the names of parameters.
    pub is_by_names: bool,
}

impl fmt::Display for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extents: Vec<&str> = self.local.iter().map(Expr::text).collect();
        let origin = if self.is_by_names { ", by the names of parameters" } else { "" };
        write!(f, "work-groups of {}{origin}", extents.join(" x "))
    }
}

/// The combinations of the values of some parameters, counted so that the last parameter varies
/// fastest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Combinations {
    /// The position of each parameter in its space, and the distance of neighbouring values.
    strides: Vec<(usize, usize)>,
}

impl Combinations {
    /// Counts the combinations of parameters, each with its position in the space and the number of
    /// its values.
    pub fn new(parameters: &[(usize, usize)]) -> Self {
        let stride = |at: usize| parameters[at + 1..].iter().map(|(_, width)| width).product();
        Self { strides: parameters.iter().enumerate().map(|(at, (position, _))| (*position, stride(at))).collect() }
    }

    /// Returns the number of the combination of a configuration, whose values have these indices.
    pub fn place(&self, indices: &[u32]) -> usize {
        self.strides.iter().map(|&(position, stride)| indices[position] as usize * stride).sum()
    }
}

/// A number that depends on some parameters of a space, for all their values.
#[derive(Clone, Debug, PartialEq)]
pub struct Volume {
    /// The combinations of the parameters' values.
    pub combinations: Combinations,
    /// The number of every combination, 1 or more. A combination without a value has `None`: it is
    /// in no valid configuration, or the launch is empty.
    pub numbers: Vec<Option<f64>>,
}

/// Maximum number of combinations in a [`Volume`].
const MAX_COMBINATIONS: usize = 1 << 18;

/// The beginnings of names whose end is an axis, as in `block_size_x`, `LOCAL_1` or `blockDimX`. Those of one beginning
/// are the extents of a work-group.
const AXES_BEHIND: [&str; 13] = [
    "block_size",
    "block_dim",
    "blockdim",
    "local_size",
    "work_group_size",
    "workgroup_size",
    "wg_size",
    "thread_block",
    "threads",
    "local",
    "block",
    "wgs",
    "ls",
];
/// The axes of a work-group, as names end.
const AXES: [&str; 7] = ["x", "y", "z", "0", "1", "2", "3"];
/// Names that are the extents of a work-group together: those of kernels in CLBlast and CLTune, and single ones.
const GROUPS: [&[&str]; 13] = [
    &["mdimc", "ndimc"],
    &["mdimcd", "ndimcd"],
    &["tbx", "tby"],
    &["copy_dimx", "copy_dimy"],
    &["pad_dimx", "pad_dimy"],
    &["block_size"],
    &["local_size"],
    &["work_group_size"],
    &["workgroup_size"],
    &["wg_size"],
    &["wgs"],
    &["threads_per_block"],
    &["num_threads"],
];
/// Maximum extent of a work-group. A parameter with a larger value is something else.
const MOST_ITEMS: i64 = 1024;

impl Launch {
    /// Returns the launch that the names of parameters tell, as they are usual for kernels on GPUs: `block_size_x`,
    /// `MDIMC`, `LOCAL_1`. Returns `None` if no names are. The number of work-groups stays unknown.
    pub fn by_names(parameters: &[Parameter]) -> Option<Self> {
        let names: Vec<(String, &Parameter)> =
            parameters.iter().map(|parameter| (parameter.name().to_ascii_lowercase(), parameter)).collect();
        let behind = |first: &&str| {
            let is_extent = |name: &str| {
                let axis = name.strip_prefix(*first).map(|rest| rest.strip_prefix('_').unwrap_or(rest));
                axis.is_some_and(|axis| AXES.contains(&axis))
            };
            names.iter().filter(|(name, _)| is_extent(name)).map(|(_, parameter)| *parameter).collect::<Vec<_>>()
        };
        let together = |group: &&[&str]| {
            let named = |wanted: &&str| names.iter().find(|(name, _)| name == wanted).map(|(_, parameter)| *parameter);
            group.iter().map(named).collect::<Option<Vec<_>>>().unwrap_or_default()
        };
        let all = AXES_BEHIND.iter().map(behind).chain(GROUPS.iter().map(together));
        let own = all.into_iter().find(|found| !found.is_empty() && found.iter().all(|one| is_extent(one)))?;
        let local = own.iter().map(|parameter| Expr::parse(parameter.name())).collect::<Result<_, _>>().ok()?;
        Some(Self { local, is_by_names: true, ..Self::default() })
    }

    /// Returns the number of work-items of a work-group, or `None` as [`items`](Self::items) does.
    pub fn group_items(&self, space: &Space) -> Option<Volume> {
        self.volume(space, &self.local.iter().collect::<Vec<_>>())
    }

    /// Returns each extent of a work-group that is known as [`items`](Self::items) says.
    pub fn extents(&self, space: &Space) -> Vec<Volume> {
        self.local.iter().filter_map(|extent| self.volume(space, &[extent])).collect()
    }

    /// Returns the number of work-items of a launch. Returns `None` if there are no extents, if a
    /// name is unknown, or if the parameters have more than 2^18 combinations.
    pub fn items(&self, space: &Space) -> Option<Volume> {
        self.volume(space, &self.groups.iter().chain(&self.local).collect::<Vec<_>>())
    }

    /// Returns the product of `factors`. Costs an evaluation for each combination of the values of
    /// the parameters that they name.
    fn volume(&self, space: &Space, factors: &[&Expr]) -> Option<Volume> {
        let constant = |name: &str| self.constants.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        let names = || factors.iter().flat_map(|factor| factor.names()).map(|name| name.text.as_str());
        let parameters = || space.parameters().iter().enumerate();
        let own: Vec<(usize, &Parameter)> =
            parameters().filter(|(_, parameter)| names().any(|name| name == parameter.name())).collect();
        let is_known =
            |name: &str| own.iter().any(|(_, parameter)| parameter.name() == name) || constant(name).is_some();
        let count = own.iter().try_fold(1_usize, |all, (_, parameter)| all.checked_mul(parameter.values().len()))?;
        if factors.is_empty() || !names().all(is_known) || count > MAX_COMBINATIONS {
            return None;
        }
        let widths: Vec<(usize, usize)> = own.iter().map(|(at, parameter)| (*at, parameter.values().len())).collect();
        let combinations = Combinations::new(&widths);
        let number = |combination: usize| {
            let scope = |name: &str| {
                let known = own.iter().zip(&combinations.strides).find(|((_, parameter), _)| parameter.name() == name);
                let value = |values: &[Value], stride: usize| values[combination / stride % values.len()].clone();
                known
                    .map(|((_, parameter), (_, stride))| value(parameter.values(), *stride))
                    .or_else(|| constant(name).cloned())
            };
            let factor = |expr: &&Expr| expr.evaluate(&scope).ok()?.as_float();
            let product = factors.iter().try_fold(1.0, |product, expr| Some(product * factor(expr)?))?;
            (product >= 1.0 && product.is_finite()).then_some(product)
        };
        let numbers = (0..count).map(number).collect();
        Some(Volume { combinations, numbers })
    }
}

/// Returns true if every value can be the extent of a work-group.
fn is_extent(parameter: &Parameter) -> bool {
    parameter.values().iter().all(|value| value.as_int().is_some_and(|value| (1..=MOST_ITEMS).contains(&value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_names_tell_the_extents_of_a_work_group() {
        let told = |names: &[&str], most: i64| {
            let parameter = |name: &&str| Parameter::new(*name, [Value::Int(1), Value::Int(most)]).unwrap();
            let parameters: Vec<Parameter> = names.iter().map(parameter).collect();
            let launch = Launch::by_names(&parameters);
            launch.map(|launch| launch.local.iter().map(|expr| expr.text().to_string()).collect::<Vec<_>>().join(" "))
        };
        let cases: [(&[&str], Option<&str>); 9] = [
            (&["block_size_x", "tile_x", "block_size_y"], Some("block_size_x block_size_y")),
            (&["NWG", "MDIMC", "NDIMC", "VWM"], Some("MDIMC NDIMC")),
            (&["blockDimX", "unroll"], Some("blockDimX")),
            (&["LS_1", "LS_2", "WPT"], Some("LS_1 LS_2")),
            (&["LOCAL_X", "LOCAL_MEMORY"], Some("LOCAL_X")),
            (&["WGS"], Some("WGS")),
            (&["MDIMC"], None),
            (&["BLOCK_M", "BLOCK_K", "LOCAL"], None),
            (&[], None),
        ];
        for (names, expected) in cases {
            assert_eq!(told(names, 128).as_deref(), expected, "{names:?}");
        }
        assert_eq!(told(&["block_x"], 4096), None, "no work-group is so large");
    }

    fn exprs(texts: &[&str]) -> Vec<Expr> {
        texts.iter().map(|text| Expr::parse(text).unwrap()).collect()
    }

    fn space() -> Space {
        let list = |name: &str, values: &[i64]| Parameter::new(name, values.iter().copied().map(Value::Int)).unwrap();
        let builder = Space::builder().parameter(list("X", &[8, 16, 32])).parameter(list("UNROLL", &[1, 2]));
        builder.parameter(list("Y", &[1, 4])).parameter(list("TILE", &[0, 3])).build().unwrap()
    }

    fn launch(local: &[&str], groups: &[&str]) -> Launch {
        Launch {
            local: exprs(local),
            groups: exprs(groups),
            constants: vec![("N".to_string(), Value::Int(100))],
            ..Launch::default()
        }
    }

    #[test]
    fn volumes_are_those_of_every_configuration() {
        let space = space();
        let launch = launch(&["X", "Y"], &["ceildiv(N, X * TILE)"]);
        let (group, all) = (launch.group_items(&space).unwrap(), launch.items(&space).unwrap());
        assert_eq!((group.numbers.len(), all.numbers.len()), (6, 12));
        for id in space.iter() {
            let configuration = space.unrank(id);
            let value = |name| configuration_value(&space, &configuration, name);
            let mut indices = Vec::new();
            space.unrank_into(id, &mut indices);
            let of = |volume: &Volume| volume.numbers[volume.combinations.place(&indices)];
            assert_eq!(of(&group), Some((value("X") * value("Y")) as f64));
            let tile = value("X") * value("TILE");
            let groups = (tile > 0).then(|| (100 + tile - 1) / tile);
            assert_eq!(of(&all), groups.map(|groups| (groups * value("X") * value("Y")) as f64));
        }
    }

    fn configuration_value(space: &Space, configuration: &tunesmith_space::Configuration, name: &str) -> i64 {
        let found = space.values(configuration).find(|(known, _)| *known == name).and_then(|(_, value)| value.as_int());
        found.expect("the space has the parameter")
    }

    #[test]
    fn what_cannot_be_known_is_none() {
        let space = space();
        assert_eq!(launch(&[], &[]).group_items(&space), None);
        assert_eq!(launch(&["X * M"], &[]).group_items(&space), None, "M is unknown");
        let long = |name: &str| Parameter::new(name, (1..=600).map(Value::Int)).unwrap();
        let large = Space::builder().parameter(long("X")).parameter(long("Y")).build().unwrap();
        assert_eq!(launch(&["X", "Y"], &[]).group_items(&large), None);
        assert!(launch(&["X"], &[]).group_items(&large).is_some());
    }
}
