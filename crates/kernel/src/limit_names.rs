//! The names of limits on any device.

/// Every name that the limits of some device have, whether this machine has such a device or not.
/// A constraint may use any of them as `device.NAME`: it is left out on devices without the limit.
/// Any other name is a mistake.
pub const LIMIT_NAMES: [&str; 28] = [
    "cache",
    "cache_line",
    "clock_mhz",
    "compute_capability",
    "compute_units",
    "constant_memory",
    "global_memory",
    "l1_cache",
    "l2_cache",
    "l3_cache",
    "l4_cache",
    "local_memory",
    "local_memory_per_multiprocessor",
    "max_allocation",
    "max_blocks_per_multiprocessor",
    "max_groups_0",
    "max_threads_per_multiprocessor",
    "max_work_group_size",
    "max_work_item_size_0",
    "max_work_item_size_1",
    "max_work_item_size_2",
    "memory_bus_bits",
    "memory_clock_mhz",
    "registers",
    "registers_per_multiprocessor",
    "static_local_memory",
    "threads",
    "warp_size",
];
