//! The instructions of NVIDIA's machine code since Volta, counted by class.
//!
//! An instruction has 16 bytes. Its lowest nine bits are the operation, the next three the form of
//! its operands. The operations were compared with what NVIDIA's `nvdisasm` 13.2 shows, from sm_75
//! to sm_120.

use crate::backends::Resources;

/// The size of an instruction in bytes.
const INSTRUCTION: usize = 16;

/// The bits of an instruction that name its operation.
const OPERATION: u16 = 0x1FF;

/// The bits of an instruction with the form of its operands, and the form with a constant.
const FORM: u16 = 0xE00;
const CONSTANT: u16 = 0x400;

/// The register that is always zero, in the byte of the first operand.
const ZERO: u8 = 0xFF;

/// The first architecture of the generation that gave an operation another meaning.
const BLACKWELL: u32 = 100;

/// The work of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Half,
    Single,
    Double,
    /// Products of small matrices.
    Tensor,
    /// Arithmetic, logic and comparisons of integers, addresses included.
    Integer,
    /// Roots, reciprocals, exponentials, logarithms, sines.
    Special,
    /// Branches, barriers and calls.
    Control,
    GlobalLoad,
    GlobalStore,
    SharedLoad,
    SharedStore,
    LocalLoad,
    LocalStore,
    Atomic,
    Texture,
    /// Moves, conversions, constants, shuffles, and what is not known.
    Other,
    /// Fills the code up to a multiple of some size. Not counted.
    Padding,
}

/// The classes that are counted, with their names as resources.
const NAMES: [(Class, &str); 16] = [
    (Class::Half, "fp16_instructions"),
    (Class::Single, "fp32_instructions"),
    (Class::Double, "fp64_instructions"),
    (Class::Tensor, "tensor_instructions"),
    (Class::Integer, "integer_instructions"),
    (Class::Special, "special_instructions"),
    (Class::Control, "control_instructions"),
    (Class::GlobalLoad, "global_loads"),
    (Class::GlobalStore, "global_stores"),
    (Class::SharedLoad, "shared_loads"),
    (Class::SharedStore, "shared_stores"),
    (Class::LocalLoad, "local_loads"),
    (Class::LocalStore, "local_stores"),
    (Class::Atomic, "atomics"),
    (Class::Texture, "texture_loads"),
    (Class::Other, "other_instructions"),
];

impl Class {
    /// Returns the class of an instruction for an architecture.
    fn of(instruction: &[u8], architecture: u32) -> Self {
        let code = u16::from_le_bytes([instruction[0], instruction[1]]);
        let class = Self::of_operation(code & OPERATION, architecture);
        // A half-precision sum of zero and a constant is how the compiler sets a register.
        let sets_constant = code & FORM == CONSTANT && instruction[3] == ZERO;
        if class == Self::Half && sets_constant { Self::Other } else { class }
    }

    fn of_operation(operation: u16, architecture: u32) -> Self {
        match operation {
            // Once HFMA2, now IADD.
            0x035 if architecture >= BLACKWELL => Self::Integer,
            // FSEL, FMNMX, FSET, FSETP, FSWZADD, FMUL, FADD, FFMA, FCHK.
            0x008..=0x00B | 0x020..=0x023 | 0x102 => Self::Single,
            // DMUL, DADD, DSETP, DFMA.
            0x028..=0x02B => Self::Double,
            // HADD2, HFMA2, HMUL2, HSET2, HSETP2, HFMA2 with a constant, HMNMX2.
            0x030..=0x035 | 0x040 => Self::Half,
            // IMMA, HMMA, BMMA, DMMA, and Hopper's of a group of warps.
            0x037 | 0x03C | 0x03D | 0x03F | 0x1F0..=0x1F3 => Self::Tensor,
            // ISETP, IADD3, LEA, LOP3, IABS, VABSDIFF, PRMT, IMNMX, SHF, BMSK, SGXT, PLOP3, IMAD,
            // IDP.
            0x00C..=0x014 | 0x016 | 0x017 | 0x019..=0x01C | 0x024..=0x027 => Self::Integer,
            // VIADD, VIADDMNMX, VIMNMX, and the uniform ones, which a warp computes once.
            0x036 | 0x046..=0x04A | 0x08C..=0x09F | 0x0A4..=0x0A7 => Self::Integer,
            // FLO, BREV, POPC.
            0x100 | 0x101 | 0x109 => Self::Integer,
            0x108 => Self::Special,
            0x118 => Self::Padding,
            // DEPBAR, BAR, BREAK, BSYNC, CALL, BSSY, YIELD, BRA, WARPSYNC, BRX, JMP, EXIT, RET,
            // BPT, LDGDEPBAR.
            0x11A | 0x11D | 0x141..=0x15D | 0x1AF => Self::Control,
            // TEX, TLD, TLD4, TMML, TXD, TXQ, SULD.
            0x160..=0x16F | 0x199 => Self::Texture,
            // LD, LDG, and LDGSTS, which also stores into shared memory.
            0x180 | 0x181 | 0x1AE => Self::GlobalLoad,
            // ST, STG, SUST.
            0x185 | 0x186 | 0x19D => Self::GlobalStore,
            // LDS, and LDSM, which loads matrices.
            0x184 | 0x03B => Self::SharedLoad,
            0x188 => Self::SharedStore,
            0x183 => Self::LocalLoad,
            0x187 => Self::LocalStore,
            // ATOM, ATOMS, RED, ATOMG, and their forms that compare.
            0x18A..=0x18E | 0x1A3 | 0x1A8..=0x1AA => Self::Atomic,
            _ => Self::Other,
        }
    }
}

/// The number of instructions by class: each place of the code once, however often it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mix([u64; NAMES.len()]);

impl Mix {
    /// Counts the instructions of a kernel's code.
    pub(super) fn of(code: &[u8], architecture: u32) -> Self {
        let mut counts = [0; NAMES.len()];
        for instruction in code.chunks_exact(INSTRUCTION) {
            let class = Class::of(instruction, architecture);
            if let Some(place) = NAMES.iter().position(|(counted, _)| *counted == class) {
                counts[place] += 1;
            }
        }
        Self(counts)
    }

    /// Returns the numbers by name, with the total as `instructions`.
    pub(super) fn resources(&self) -> Resources {
        let named = NAMES.iter().zip(self.0).map(|((_, name), count)| ((*name).to_owned(), count as f64));
        let total = self.0.iter().sum::<u64>() as f64;
        named.chain([("instructions".to_owned(), total)]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(operations: &[u16]) -> Vec<u8> {
        operations.iter().flat_map(|operation| [&operation.to_le_bytes()[..], &[0, 0xFF], &[0; 12]].concat()).collect()
    }

    #[test]
    fn operations_count_in_their_class_whatever_the_form_of_their_operands() {
        // FFMA with registers, a constant and an immediate; LDG, STG, LDS, STS, LDL, STL, BRA,
        // EXIT, IADD3.
        let operations =
            [0x223, 0xA23, 0x823, 0x981, 0x986, 0x984, 0x388, 0x983, 0x387, 0x947, 0x94D, 0x210, 0x918, 0x918];
        let mix = Mix::of(&code(&operations), 90);
        let resources = mix.resources();
        let expected = [
            ("instructions", 12.0),
            ("fp32_instructions", 3.0),
            ("fp64_instructions", 0.0),
            ("integer_instructions", 1.0),
            ("control_instructions", 2.0),
            ("global_loads", 1.0),
            ("global_stores", 1.0),
            ("shared_loads", 1.0),
            ("shared_stores", 1.0),
            ("local_loads", 1.0),
            ("local_stores", 1.0),
        ];
        for (name, count) in expected {
            assert_eq!(resources[name], count, "{name}");
        }
    }

    #[test]
    fn a_constant_is_no_arithmetic_and_operations_may_change_with_the_architecture() {
        let count = |operation: u16, architecture: u32, name: &str| {
            Mix::of(&code(&[operation]), architecture).resources()[name]
        };
        assert_eq!(count(0x235, 90, "fp16_instructions"), 1.0);
        assert_eq!(count(0x435, 90, "fp16_instructions"), 0.0);
        assert_eq!(count(0x431, 120, "other_instructions"), 1.0);
        assert_eq!(count(0x235, 120, "integer_instructions"), 1.0);
    }

    #[test]
    fn metrics_and_limits_know_every_class() {
        let unknown: Vec<&str> = NAMES
            .iter()
            .map(|(_, name)| *name)
            .filter(|name| !tunesmith_kernel::RESOURCE_NAMES.contains(name))
            .collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    #[test]
    fn a_part_of_an_instruction_is_none() {
        assert_eq!(Mix::of(&code(&[0x223])[..15], 90), Mix::of(&[], 90));
    }
}
