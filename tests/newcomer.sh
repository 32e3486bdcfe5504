#!/usr/bin/env bash
# What a newcomer does, outside the repository and with an empty package cache: install the packages, the templates and the tool from
# one folder, make the tutorial's programs, and run them on an embedded cluster and on one of processes.
# --no-build takes what is built. The last line says what ran; exit code 1 if anything of it failed.
set -u -o pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1

export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 DOTNET_SKIP_FIRST_TIME_EXPERIENCE=1 DOTNET_CLI_UI_LANGUAGE=en
export MSBUILDTERMINALLOGGER=off
no_build=(${1:+"$1"})
packages=$root/artifacts/packages
work=$(mktemp -d)
programs=0 clusters=0 failed=0

step() { # NAME COMMAND...: its output is shown only when it fails
    local name=$1 began=$SECONDS
    shift
    if "$@" >"$work/step.log" 2>&1; then
        printf '== %s: ok, %d s\n' "$name" $((SECONDS - began))
        return 0
    fi
    printf '== %s: FAILED, %d s\n' "$name" $((SECONDS - began))
    sed 's/^/   /' "$work/step.log"
    failed=$((failed + 1))
    return 1
}

finish() {
    if [ -d "$work/processes" ]; then "$work/tools/corfu" cluster down --dir "$work/processes" >/dev/null 2>&1; fi
    rm -rf "$work"
    printf 'programs=%d clusters=%d failed=%d\n' "$programs" "$clusters" "$failed"
    [ "$failed" -eq 0 ]
    exit
}

newcomer() { dotnet run -c Release "${no_build[@]}" --project tests/Corfu.Newcomer -- "$@"; }

pack() {
    rm -rf "$packages"
    dotnet pack -c Release "${no_build[@]}" -o "$packages" -v quiet
}

# The folder beside the machine's own sources; the project's packages come from the folder alone.
write_sources() {
    local key
    {
        echo '<configuration>'
        echo "  <packageSources><add key=\"corfu-folder\" value=\"$packages\" /></packageSources>"
        echo '  <packageSourceMapping>'
        while IFS= read -r key; do
            echo "    <packageSource key=\"$key\"><package pattern=\"*\" /></packageSource>"
        done < <(dotnet nuget list source | sed -n 's/^ *[0-9]*\. *\(.*\) \[Enabled\]$/\1/p')
        echo '    <packageSource key="corfu-folder">'
        echo '      <package pattern="Corfu.*" /><package pattern="Tango" /><package pattern="Tango.*" />'
        echo '    </packageSource>'
        echo '  </packageSourceMapping>'
        echo '</configuration>'
    } >"$work/nuget.config"
}

install_tool() { dotnet tool install Corfu.Cli --version "$version" --tool-path "$work/tools" --configfile "$work/nuget.config"; }

# A place of its own for templates: what the machine has installed stays as it is.
new() { dotnet new "$@" --debug:custom-hive "$work/hive"; }

build() { dotnet build -c Release -warnaserror -v quiet "$work/$1"; }

run_console() { # on CLUSTER
    local output
    output=$(cd "$work/Shop" && dotnet run -c Release --no-build -- "$@") || return 1
    printf '%s\n' "$output"
    grep -q '^run 1: 1 users have said hello$' <<<"$output"
}

start_processes() {
    "$work/tools/corfu" cluster up --dir "$work/processes" --units 3 --replicas 2 >"$work/up.log" 2>&1 || { cat "$work/up.log"; return 1; }
    connection=$(grep -o 'corfu://[^ ]*' "$work/up.log" | head -n 1)
    [ -n "$connection" ]
}

step pack pack || finish
step packages newcomer packages "$packages" || finish
version=$(tail -n 1 "$work/step.log")

write_sources
export NUGET_PACKAGES=$work/cache
cd "$work" || finish
step 'corfu tool' install_tool || finish
step templates new install "$packages/Corfu.Templates.$version.nupkg" || finish
step 'tango-console' new tango-console -n Shop --skipRestore && step 'build Shop' build Shop && programs=$((programs + 1))

step 'embedded: Shop' run_console && clusters=$((clusters + 1))
step 'processes: up' start_processes && step 'processes: Shop' run_console "$connection" && clusters=$((clusters + 1))
finish
