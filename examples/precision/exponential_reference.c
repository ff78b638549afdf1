#include <math.h>

void exponential_reference(const float *x, float *y)
{
    for (int i = 0; i < N; i++)
        y[i] = (float)exp(x[i]);
}
