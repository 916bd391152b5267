#!/bin/sh
# Runs every test. A test is a file tests/*.test.sh; it passes when it ends with exit code 0.
cd "$(dirname "$0")/.." || exit 1
passed=0
for test in tests/*.test.sh; do
    if sh "$test"; then
        passed=$((passed + 1))
    else
        echo "FAILED: $test" >&2
        exit 1
    fi
done
echo "$passed tests passed"
