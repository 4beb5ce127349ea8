#!/usr/bin/env python3
"""Print the first N Fibonacci numbers, from 0, one a line."""

import argparse

LIMIT = 10_000


def fibonacci(n):
    """Yield the first n Fibonacci numbers."""
    a, b = 0, 1
    for _ in range(n):
        yield a
        a, b = b, a + b


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n", metavar="N", type=int, help="how many numbers")
    n = parser.parse_args().n
    if not 0 <= n <= LIMIT:
        # Prints the usage and the message to standard error and exits with 2.
        parser.error(f"N must be a number from 0 to {LIMIT}")
    for number in fibonacci(n):
        print(number)


if __name__ == "__main__":
    main()
