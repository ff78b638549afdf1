//! Images in the driver API's terms: arrays, textures and copies.

use crate::backends::Pixels;
use crate::backends::gpu::native::{Address, DeviceImage};
use cudarc::driver::sys::{
    CUDA_ARRAY3D_DESCRIPTOR, CUDA_MEMCPY3D, CUDA_RESOURCE_DESC, CUDA_RESOURCE_DESC_st__bindgen_ty_1,
    CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_1, CUDA_TEXTURE_DESC, CUaddress_mode, CUarray, CUarray_format,
    CUfilter_mode, CUmemorytype, CUresourcetype,
};
use std::ptr;
use tunesmith_kernel::{Address as Outside, Filter, Sampler, ScalarType};

/// `CUDA_ARRAY3D_SURFACE_LDST`: kernels write the array.
const WRITTEN: u32 = 2;

/// `CU_TRSF_READ_AS_INTEGER` and `CU_TRSF_NORMALIZED_COORDINATES`.
const READ_AS_INTEGER: u32 = 1;
const NORMALIZED_COORDINATES: u32 = 2;

/// Returns the description of an image's memory, if there are such pixels.
pub(super) fn array(pixels: &Pixels) -> Option<CUDA_ARRAY3D_DESCRIPTOR> {
    let format = match pixels.element.scalar() {
        ScalarType::I8 => CUarray_format::CU_AD_FORMAT_SIGNED_INT8,
        ScalarType::U8 => CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8,
        ScalarType::I16 => CUarray_format::CU_AD_FORMAT_SIGNED_INT16,
        ScalarType::U16 => CUarray_format::CU_AD_FORMAT_UNSIGNED_INT16,
        ScalarType::I32 => CUarray_format::CU_AD_FORMAT_SIGNED_INT32,
        ScalarType::U32 => CUarray_format::CU_AD_FORMAT_UNSIGNED_INT32,
        ScalarType::F16 => CUarray_format::CU_AD_FORMAT_HALF,
        ScalarType::F32 => CUarray_format::CU_AD_FORMAT_FLOAT,
        ScalarType::I64 | ScalarType::U64 | ScalarType::F64 | ScalarType::Byte => return None,
    };
    Some(CUDA_ARRAY3D_DESCRIPTOR {
        Width: pixels.width,
        // The driver tells the dimensions by the extents that are not zero.
        Height: pixels.height.unwrap_or(0),
        Depth: pixels.depth.unwrap_or(0),
        Format: format,
        NumChannels: u32::try_from(pixels.element.lanes()).ok()?,
        Flags: if pixels.is_written { WRITTEN } else { 0 },
    })
}

/// Returns the description of an array that an object refers to.
pub(super) fn resource(array: CUarray) -> CUDA_RESOURCE_DESC {
    CUDA_RESOURCE_DESC {
        resType: CUresourcetype::CU_RESOURCE_TYPE_ARRAY,
        res: CUDA_RESOURCE_DESC_st__bindgen_ty_1 {
            array: CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_1 { hArray: array },
        },
        flags: 0,
    }
}

/// Returns the way in which kernels read an image.
pub(super) fn texture(pixels: &Pixels) -> CUDA_TEXTURE_DESC {
    let Sampler { filter, address, normalized_coordinates } = pixels.image.sampler;
    let mode = match address {
        Outside::Clamp => CUaddress_mode::CU_TR_ADDRESS_MODE_CLAMP,
        Outside::Border => CUaddress_mode::CU_TR_ADDRESS_MODE_BORDER,
        Outside::Wrap => CUaddress_mode::CU_TR_ADDRESS_MODE_WRAP,
        Outside::Mirror => CUaddress_mode::CU_TR_ADDRESS_MODE_MIRROR,
    };
    let filter = match filter {
        Filter::Nearest => CUfilter_mode::CU_TR_FILTER_MODE_POINT,
        Filter::Linear => CUfilter_mode::CU_TR_FILTER_MODE_LINEAR,
    };
    let is_integer = !pixels.element.scalar().is_float() && !pixels.image.normalized;
    CUDA_TEXTURE_DESC {
        addressMode: [mode; 3],
        filterMode: filter,
        flags: if is_integer { READ_AS_INTEGER } else { 0 }
            | if normalized_coordinates { NORMALIZED_COORDINATES } else { 0 },
        maxAnisotropy: 0,
        mipmapFilterMode: CUfilter_mode::CU_TR_FILTER_MODE_POINT,
        mipmapLevelBias: 0.0,
        minMipmapLevelClamp: 0.0,
        maxMipmapLevelClamp: 0.0,
        borderColor: [0.0; 4],
        reserved: [0; 12],
    }
}

/// Returns the copy of pixels from memory to an image.
pub(super) fn filling(from: Address, to: DeviceImage, pixels: &Pixels) -> CUDA_MEMCPY3D {
    CUDA_MEMCPY3D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcDevice: from.0,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_ARRAY,
        dstArray: to.array as CUarray,
        ..copy(pixels)
    }
}

/// Returns the copy of an image's pixels to memory.
pub(super) fn reading(from: DeviceImage, to: Address, pixels: &Pixels) -> CUDA_MEMCPY3D {
    CUDA_MEMCPY3D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_ARRAY,
        srcArray: from.array as CUarray,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstDevice: to.0,
        ..copy(pixels)
    }
}

/// Returns a copy of all pixels between two places that are yet to be named. Rows lie without gaps.
fn copy(pixels: &Pixels) -> CUDA_MEMCPY3D {
    let [width, height, depth] = pixels.region();
    let row = width.saturating_mul(pixels.element.size());
    CUDA_MEMCPY3D {
        srcXInBytes: 0,
        srcY: 0,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcHost: ptr::null(),
        srcDevice: 0,
        srcArray: ptr::null_mut(),
        reserved0: ptr::null_mut(),
        srcPitch: row,
        srcHeight: height,
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstHost: ptr::null_mut(),
        dstDevice: 0,
        dstArray: ptr::null_mut(),
        reserved1: ptr::null_mut(),
        dstPitch: row,
        dstHeight: height,
        WidthInBytes: row,
        Height: height,
        Depth: depth,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_kernel::{ElementType, Image};

    fn pixels(element: &str, height: Option<usize>, depth: Option<usize>) -> Pixels {
        let element = ElementType::parse(element).unwrap();
        Pixels { image: Image::default(), element, width: 6, height, depth, is_written: false }
    }

    #[test]
    fn the_driver_learns_the_dimensions_and_the_rows() {
        let one = array(&pixels("f32", None, None)).unwrap();
        assert_eq!((one.Width, one.Height, one.Depth, one.NumChannels), (6, 0, 0, 1));
        let three = array(&pixels("u8x4", Some(5), Some(4))).unwrap();
        assert_eq!((three.Height, three.Depth, three.NumChannels, three.Flags), (5, 4, 4, 0));
        let copied = filling(Address(64), DeviceImage { array: 8, object: 9 }, &pixels("u8x4", Some(5), None));
        assert_eq!((copied.WidthInBytes, copied.Height, copied.Depth, copied.srcPitch), (24, 5, 1, 24));
        assert_eq!((copied.srcDevice, copied.dstArray as u64), (64, 8));
        assert!(array(&pixels("f64", None, None)).is_none());
    }

    #[test]
    fn integers_stay_integers_unless_they_are_normalised() {
        let plain = pixels("u8", Some(5), None);
        let scaled = Pixels { image: Image { normalized: true, ..Image::default() }, ..plain.clone() };
        assert_eq!([texture(&plain).flags, texture(&scaled).flags], [READ_AS_INTEGER, 0]);
        assert_eq!(texture(&pixels("f32", None, None)).flags, 0);
    }
}
