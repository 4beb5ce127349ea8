#!/usr/bin/env python3
"""Print the primes up to N, one a line; or, with --factor, the prime factors of N."""

import argparse

SIEVE_LIMIT = 10_000_000
FACTOR_LIMIT = 10**12


def primes(limit):
    """Return the primes up to and including limit, by the sieve of Eratosthenes."""
    if limit < 2:
        return []
    is_prime = bytearray([1]) * (limit + 1)
    is_prime[0:2] = b"\0\0"
    for i in range(2, int(limit**0.5) + 1):
        if is_prime[i]:
            is_prime[i * i :: i] = bytes(len(range(i * i, limit + 1, i)))
    return [i for i, flag in enumerate(is_prime) if flag]


def factors(n):
    """Yield the prime factors of n in rising order."""
    divisor = 2
    while divisor * divisor <= n:
        while n % divisor == 0:
            yield divisor
            n //= divisor
        divisor += 1 if divisor == 2 else 2
    if n > 1:
        yield n


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--factor", action="store_true", help="factor N")
    parser.add_argument("n", metavar="N", type=int)
    args = parser.parse_args()
    low, high = (1, FACTOR_LIMIT) if args.factor else (0, SIEVE_LIMIT)
    if not low <= args.n <= high:
        parser.error(f"N must be a number from {low} to {high}")
    if args.factor:
        print(f"{args.n}:", *factors(args.n))
    else:
        for prime in primes(args.n):
            print(prime)


if __name__ == "__main__":
    main()
