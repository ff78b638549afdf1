void copy(const float *from, float *to, int n) {
    for (int i = 0; i < n; i++) {
        to[i] = from[i];
    }
}
