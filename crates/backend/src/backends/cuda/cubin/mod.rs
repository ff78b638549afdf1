//! A kernel's use of its device, read from the cubin that the compiler made. No GPU is needed.
//!
//! A cubin is an ELF file. NVIDIA documents neither the sections' contents nor the machine code,
//! but both have kept their form since Volta: tables of attributes ([`info`]), and instructions of
//! 16 bytes whose lowest bits are the operation ([`sass`]). Whatever is not understood is left out,
//! never guessed.
//!
//! The compiler's own report ([`ptxas`]) adds the bytes that it had to spill.

mod info;
mod ptxas;
mod sass;

pub(crate) use ptxas::Spills;

use crate::backends::Resources;
use object::elf::EM_CUDA;
use object::read::elf::ElfFile64;
use object::{Endianness, FileFlags, Object, ObjectSection, ObjectSymbol};

/// The version of the ABI from which on the flags of a file hold the architecture in their second
/// byte. In earlier ones it is the first byte.
const SECOND_BYTE: u8 = 8;

/// The bytes of a block's shared memory that belong to the system, in files that have a section for
/// them.
const OF_SYSTEM: u64 = 1 << 10;

/// The first architecture with instructions of 16 bytes.
const VOLTA: u32 = 70;

/// Returns the resources that the kernel `function` of a cubin uses, by name. Empty if `image` is
/// no cubin, such as PTX.
pub(crate) fn resources(image: &[u8], function: &str) -> Resources {
    let mut resources = Resources::new();
    let Ok(file) = ElfFile64::<Endianness>::parse(image) else { return resources };
    if file.elf_header().e_machine.get(file.endian()) != EM_CUDA {
        return resources;
    }
    if let Some(index) = symbol(&file, function) {
        let infos = section(&file, ".nv.info").unwrap_or_default();
        let attribute = |wanted| info::of_symbol(infos, wanted, index);
        for (name, value) in [("registers", info::REGISTERS), ("local_bytes", info::FRAME_SIZE)] {
            let value = attribute(value);
            resources.extend(value.map(|value| (name.to_owned(), f64::from(value))));
        }
        let shared = file.section_by_name(&format!(".nv.shared.{function}")).map_or(0, |section| section.size());
        let kept = file.section_by_name(".nv.shared.reserved.0").map_or(0, |_| OF_SYSTEM);
        resources.insert("shared_bytes".to_owned(), shared.saturating_sub(kept) as f64);
    }
    if let Some(architecture) = architecture(&file).filter(|architecture| *architecture >= VOLTA)
        && let Some(code) = section(&file, &format!(".text.{function}"))
    {
        resources.extend(sass::Mix::of(code, architecture).resources());
    }
    resources
}

/// Returns the architecture that a file is for: 90 is sm_90.
fn architecture(file: &ElfFile64<'_>) -> Option<u32> {
    let FileFlags::Elf { abi_version, e_flags, .. } = file.flags() else { return None };
    let byte = if abi_version >= SECOND_BYTE { 1 } else { 0 };
    Some(u32::from(e_flags.0.to_le_bytes()[byte]))
}

/// Returns the number of the symbol called `name`.
fn symbol(file: &ElfFile64<'_>, name: &str) -> Option<u32> {
    let found = file.symbols().find(|symbol| symbol.name() == Ok(name))?;
    u32::try_from(found.index().0).ok()
}

fn section<'data>(file: &ElfFile64<'data>, name: &str) -> Option<&'data [u8]> {
    file.section_by_name(name)?.data().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A cubin as NVRTC 13 writes it, as far as it is read here: a kernel `k` with 40 registers, 24
    /// bytes of stack, 512 bytes of shared memory, and three instructions.
    fn cubin() -> Vec<u8> {
        let names = "\0.shstrtab\0.strtab\0.symtab\0.nv.info\0.text.k\0.nv.shared.k\0";
        let name = |wanted: &str| names.find(&format!("\0{wanted}\0")).unwrap() as u32 + 1;
        let strings = b"\0k\0".to_vec();
        let mut symbols = vec![0; 24];
        // Its name, a global function in section 5, and its address and size.
        symbols.extend([1, 0, 0, 0, 0x12, 0, 5, 0]);
        symbols.extend([0_u64, 48].iter().flat_map(|number| number.to_le_bytes()));
        let entry = |attribute: u8, value: u32| {
            let mut entry = vec![4, attribute, 8, 0, 1, 0, 0, 0];
            entry.extend(value.to_le_bytes());
            entry
        };
        let infos = [entry(info::REGISTERS, 40), entry(info::FRAME_SIZE, 24)].concat();
        let instruction = |operation: u64| [operation.to_le_bytes(), [0; 8]].concat();
        // FFMA, LDG.E and the padding behind them.
        let code = [instruction(0x223), instruction(0x981), instruction(0x918)].concat();
        // Name, kind, link and info, with data and size.
        let sections = [
            ((".shstrtab", 3, 0_u32, 0_u32), names.as_bytes(), names.len() as u64),
            ((".strtab", 3, 0, 0), &strings[..], strings.len() as u64),
            ((".symtab", 2, 2, 1), &symbols[..], symbols.len() as u64),
            ((".nv.info", 0x7000_0000, 3, 0), &infos[..], infos.len() as u64),
            ((".text.k", 1, 3, 0), &code[..], code.len() as u64),
            ((".nv.shared.k", 8, 0, 5), &[][..], 512),
        ];
        let mut file = b"\x7fELF\x02\x01\x01\x41\x08\0\0\0\0\0\0\0\x02\0\xbe\0\x01\0\0\0".to_vec();
        let mut headers = vec![0; 64];
        let mut body: Vec<u8> = Vec::new();
        for ((section, kind, link, info), data, size) in sections {
            let mut header = Vec::new();
            header.extend([name(section), kind].iter().flat_map(|number| number.to_le_bytes()));
            header.extend([0, 0, 64 + body.len() as u64, size].iter().flat_map(|number: &u64| number.to_le_bytes()));
            header.extend([link, info].iter().flat_map(|number| number.to_le_bytes()));
            let entry_size: u64 = if kind == 2 { 24 } else { 0 };
            header.extend([1, entry_size].iter().flat_map(|number: &u64| number.to_le_bytes()));
            headers.extend(header);
            body.extend(data);
            body.resize(body.len().next_multiple_of(8), 0);
        }
        let place = 64 + body.len() as u64;
        file.extend([0, 0, place].iter().flat_map(|number: &u64| number.to_le_bytes()));
        file.extend(0x0a00_5a04_u32.to_le_bytes());
        file.extend([64_u16, 0, 0, 64, 7, 1].iter().flat_map(|number| number.to_le_bytes()));
        [file, body, headers].concat()
    }

    #[test]
    fn a_cubin_tells_registers_memories_and_instructions() {
        let resources = resources(&cubin(), "k");
        let expected = [
            ("registers", 40.0),
            ("local_bytes", 24.0),
            ("shared_bytes", 512.0),
            ("instructions", 2.0),
            ("fp32_instructions", 1.0),
            ("global_loads", 1.0),
            ("global_stores", 0.0),
        ];
        for (name, value) in expected {
            assert_eq!(resources.get(name), Some(&value), "{name} in {resources:?}");
        }
    }

    #[test]
    fn what_is_no_cubin_or_lacks_the_kernel_tells_nothing() {
        for image in [&b""[..], b".version 9.0\n.target sm_90\n", b"{\"function\": \"k\"}"] {
            assert!(resources(image, "k").is_empty());
        }
        assert!(resources(&cubin(), "other").is_empty());
        let mut of_another_machine = cubin();
        of_another_machine[18] = 62;
        assert!(resources(&of_another_machine, "k").is_empty());
    }

    #[test]
    fn a_cubin_cut_off_anywhere_is_read_without_panic() {
        let whole = cubin();
        for length in 0..whole.len() {
            resources(&whole[..length], "k");
        }
    }

    proptest! {
        #[test]
        fn a_damaged_cubin_is_read_without_panic(
            damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        ) {
            let mut image = cubin();
            for (place, byte) in damage {
                let place = place.index(image.len());
                image[place] = byte;
            }
            resources(&image, "k");
        }
    }
}
