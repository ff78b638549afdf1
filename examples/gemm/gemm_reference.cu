/*
 * C = alpha * A^T * B + beta * C, as the formula says: a thread per element, its sum in double precision, so that any difference
 * found belongs to the kernel. A is K x M, B is K x N, C is M x N, row-major.
 */
extern "C" __global__ void gemm_reference(const float *a, const float *b, float *c, float alpha, float beta)
{
    const size_t n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y * blockDim.y + threadIdx.y;
    double sum = 0.0;

    if (m >= M || n >= N)
        return;
    for (size_t k = 0; k < K; k++)
        sum += (double)a[k * M + m] * (double)b[k * N + n];
    c[m * N + n] = (float)(alpha * sum + beta * c[m * N + n]);
}
