//! Divisors and multiples of integers.

/// Returns the greatest common divisor of two numbers. Neither may be negative.
pub(crate) fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Returns the least common multiple of positive numbers.
pub(crate) fn lcm(a: i128, b: i128) -> i128 {
    a / gcd(a, b) * b
}
