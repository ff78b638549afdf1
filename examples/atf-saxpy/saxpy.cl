// The saxpy of ATF's documentation, y = a * x + y, with ATF's directives. `tunesmith tune saxpy.cl`
// tunes it.

#atf::var<int> N = 1048576

#atf::tp name       "WPT"                       // elements of a work-item
         range      interval<size_t>( 1,N )
         constraint divides( N )

#atf::tp name       "LS"                        // work-items of a work-group
         range      interval<size_t>( 1,N )
         constraint divides( N/WPT ) && less_than_or_eq( atf::ocl::max_wi_size_0 )

#atf::search_technique auc_bandit
#atf::abort_condition  evaluations( 50 )

#atf::ocl::kernel_name "saxpy"
#atf::ocl::input       atf::scalar<int>( N )    // N
#atf::ocl::input       atf::scalar<float>()     // a, a random number
#atf::ocl::input       atf::buffer<float>( N )  // x, random numbers
#atf::ocl::input       atf::buffer<float>( N )  // y, random numbers
#atf::ocl::global_size N/WPT
#atf::ocl::local_size  LS
#atf::ocl::check_result file "saxpy_reference.c" function "saxpy_reference"

__kernel void saxpy( const int N, const float a, const __global float* x, __global float* y )
{
    for( int w = 0 ; w < WPT ; ++w )
    {
        const int index = w * get_global_size(0) + get_global_id(0);
        y[ index ] += a * x[ index ];
    }
}
