__kernel void copy(__global const float *from, __global float *to, int n) {
    int i = get_global_id(0);
    if (i < n) {
        to[i] = from[i];
    }
}
