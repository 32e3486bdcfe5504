#!/usr/bin/env bash
# Writes PublicAPI.Shipped.txt of the packages, or of those named (packaging/public-api.sh Tango Corfu.Client), from what the code has.
# The difference is what a reviewer looks at: a line that goes is a breaking change.
set -eu -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
projects=("$@")
if [ $# -eq 0 ]; then
    for file in src/*/*/PublicAPI.Shipped.txt; do projects+=("$(basename "$(dirname "$file")")"); done
fi
folder() { printf '%s' src/*/"$1"; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# The analyzer names each line that a file lacks. It is asked with empty files, which are new, so that each project is compiled once.
for project in "${projects[@]}"; do
    echo '#nullable enable' >"$(folder "$project")/PublicAPI.Shipped.txt"
    echo '#nullable enable' >"$(folder "$project")/PublicAPI.Unshipped.txt"
done
for project in "${projects[@]}"; do
    dotnet build -c Release -v quiet -p:TreatWarningsAsErrors=false -p:RunAnalyzersDuringBuild=true "$(folder "$project")" >>"$log" || { cat "$log"; exit 1; }
done
for project in "${projects[@]}"; do
    sed -n "s/.*warning RS0016: Symbol '\(.*\)' is not part of the declared public API.*\[.*\/$project\.csproj\]$/\1/p" "$log" |
        LC_ALL=C sort -u >>"$(folder "$project")/PublicAPI.Shipped.txt"
    printf '%s: %d lines\n' "$project" "$(($(wc -l <"$(folder "$project")/PublicAPI.Shipped.txt") - 1))"
done
