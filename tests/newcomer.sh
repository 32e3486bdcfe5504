#!/usr/bin/env bash
# What a newcomer does, outside the repository and with an empty package cache: install the packages, the templates
# and the tool from one folder, make the tutorial's programs, and run them on an embedded cluster and on processes.
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

# Built once: later steps have another package cache.
newcomer() { dotnet "$root/tests/hosts/Corfu.Newcomer/bin/Release/net10.0/Corfu.Newcomer.dll" "$@"; }

build_newcomer() { dotnet build -c Release -v quiet tests/hosts/Corfu.Newcomer; }

# A user's own publish leaves machine code in the output folder, and none of it belongs into a package for any machine.
publish() { dotnet publish -c Release "${no_build[@]}" -v quiet src/hosts/Corfu.Cli; }

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
        echo '      <package pattern="Craq.*" /><package pattern="Salus.*" />'
        echo '    </packageSource>'
        echo '  </packageSourceMapping>'
        echo '</configuration>'
    } >"$work/nuget.config"
}

install_tool() {
    dotnet tool install Corfu.Cli --version "$version" --tool-path "$work/tools" --configfile "$work/nuget.config"
}

# A place of its own for templates: what the machine has installed stays as it is.
new() { dotnet new "$@" --debug:custom-hive "$work/hive"; }

build() { dotnet build -c Release -warnaserror -v quiet "$work/$1"; }

# The template's program as it is, then with what the pages show.
run_template() {
    local output
    output=$(cd "$work/Shop" && dotnet run -c Release --no-build) || return 1
    printf '%s\n' "$output"
    grep -qx 'run 1: 1 users have said hello' <<<"$output"
}

# What was built and what a cluster inside the program wrote is not committed.
ignores_data() {
    local path
    git -C "$work/$1" init -q || return 1
    for path in cluster/node bin/Release obj/project.assets.json; do
        git -C "$work/$1" check-ignore -q "$path" || { echo "$path is not ignored"; return 1; }
    done
}

# The tutorial says what it prints.
run_console() { # [CONNECTION]
    local output expected
    expected=$(sed -n '/^The program prints:$/,/^##/s/^    //p' "$root/docs/tutorial.md")
    output=$(cd "$work/Shop" && dotnet run -c Release --no-build -- "$@") || return 1
    diff <(printf '%s\n' "$expected") <(printf '%s\n' "$output")
}

run_web() { # [CONNECTION]
    local url server status=1
    dotnet "$work/Store/Store/bin/Release/net10.0/Store.dll" --urls http://127.0.0.1:0 \
        ${1:+--ConnectionStrings:Corfu "$1"} >"$work/web.log" 2>&1 &
    server=$!
    for _ in $(seq 300); do
        url=$(sed -n 's/.*Now listening on: //p' "$work/web.log")
        if [ -n "$url" ] || ! kill -0 "$server" 2>/dev/null; then break; fi
        sleep 0.1
    done
    if [ -n "$url" ] && newcomer call "$url"; then status=0; fi
    kill -TERM "$server" 2>/dev/null
    wait "$server" || { echo "the service ended with $?"; status=1; }
    [ "$status" -eq 0 ] || cat "$work/web.log"
    return "$status"
}

run_tests() { (cd "$work/Store" && dotnet test -c Release --no-build); }

start_processes() {
    "$work/tools/corfu" cluster up --dir "$work/processes" --units 3 --replicas 2 >"$work/up.log" 2>&1 ||
        { cat "$work/up.log"; return 1; }
    connection=$(grep -o 'corfu://[^ ]*' "$work/up.log" | head -n 1)
    [ -n "$connection" ]
}

step publish publish || finish
step pack pack || finish
[ ${#no_build[@]} -gt 0 ] || step 'build checks' build_newcomer || finish
step packages newcomer packages "$packages" || finish
version=$(tail -n 1 "$work/step.log")

write_sources
export NUGET_PACKAGES=$work/cache
cd "$work" || finish
step 'corfu tool' install_tool || finish
step templates new install "$packages/Corfu.Templates.$version.nupkg" || finish
step 'new tango-console' new tango-console -n Shop --skipRestore || finish
step 'build tango-console' build Shop && step 'run tango-console' run_template
step 'data stays out of git' ignores_data Shop
step 'new tango-service' new tango-service -n Store --skipRestore || finish
step 'build tango-service' build Store
step 'template tests' run_tests && step 'data stays out of git' ignores_data Store
step pages newcomer extract "$work" "$root/docs/tutorial.md" "$root/docs/comparison.md" || finish
step 'build console' build Shop && programs=$((programs + 1))
step 'build web, tests' build Store && programs=$((programs + 2))
[ "$failed" -eq 0 ] || finish

step tests run_tests
step 'embedded: console' run_console && step 'embedded: web' run_web && clusters=$((clusters + 1))
step 'processes: up' start_processes && step 'processes: console' run_console "$connection" &&
    step 'processes: web' run_web "$connection" && clusters=$((clusters + 1))
finish
