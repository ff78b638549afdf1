/*
 * Copies of 16 bytes from global to shared memory that go on while the thread computes (compute capability 8.0 on; elsewhere
 * they are done at once). Copies are counted in batches: end_of_copies() ends one, wait_for_copies<n>() waits until at most the
 * n last batches of the thread are on their way.
 */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800

__device__ __forceinline__ void copy_async(float *to_shared, const float *from)
{
    const unsigned to = (unsigned)__cvta_generic_to_shared(to_shared);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

__device__ __forceinline__ void end_of_copies()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int n> __device__ __forceinline__ void wait_for_copies()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
}

#else

__device__ __forceinline__ void copy_async(float *to_shared, const float *from)
{
    *(float4 *)to_shared = *(const float4 *)from;
}

__device__ __forceinline__ void end_of_copies()
{
}

template <int n> __device__ __forceinline__ void wait_for_copies()
{
}

#endif
