#!/bin/bash
# Stands for Docker's command line: writes down what it is asked, and runs commands here. A container is a file with the
# host's folder in $FAKE (a folder beside this script); /workspace in arguments stands for that folder.
set -u
FAKE="$(dirname "$0")/fake"
mkdir -p "$FAKE/containers"
printf '%q ' "$@" | tr '\n' ' ' >> "$FAKE/calls"
echo >> "$FAKE/calls"

missing() {
    echo "Error response from daemon: No such container: $1" >&2
    exit 1
}

case "$1" in
inspect)
    name="${*: -1}"
    test -f "$FAKE/containers/$name" || missing "$name"
    echo "true $(cat "$FAKE/containers/$name.setup")"
    ;;
run)
    if test -f "$FAKE/broken"; then
        echo "docker: Error response from daemon: no space left on device." >&2
        exit 125
    fi
    while test $# -gt 0; do
        case "$1" in
        --name) name="$2" ;;
        --label) setup="${2#wskill.setup=}" ;;
        --mount)
            case "$2" in
            *,target=/workspace) folder="${2#type=bind,source=}" && folder="${folder%,target=/workspace}" ;;
            esac
            ;;
        esac
        shift
    done
    echo "$setup" > "$FAKE/containers/$name.setup"
    echo "$folder" > "$FAKE/containers/$name"
    echo "$name-id"
    ;;
rm)
    name="$3"
    test -f "$FAKE/containers/$name" || missing "$name"
    rm "$FAKE/containers/$name" "$FAKE/containers/$name.setup"
    ;;
exec)
    shift
    cwd=/workspace
    # What an image has; nothing of this process's environment is passed on.
    env=(PATH=/usr/local/bin:/usr/bin:/bin)
    while true; do
        case "$1" in
        -i) shift ;;
        --workdir) cwd="$2"; shift 2 ;;
        --env) env+=("$2"); shift 2 ;;
        *) break ;;
        esac
    done
    name="$1"
    shift
    test -f "$FAKE/containers/$name" || missing "$name"
    folder="$(cat "$FAKE/containers/$name")"
    env=("${env[@]//\/workspace/$folder}")
    arguments=("${@//\/workspace/$folder}")
    cd "${cwd/#\/workspace/$folder}" || exit 126
    # As an engine does it, the command has a process group of its own, which outlives this client.
    set -m
    env -i "${env[@]}" "${arguments[@]}" <&0 &
    exec 2> /dev/null
    wait $!
    status=$?
    # What a link says is seen from within.
    find "$folder" -lname "$folder/*" | while IFS= read -r link; do
        target="$(readlink "$link")"
        ln -sfn "/workspace${target#"$folder"}" "$link"
    done
    exit $status
    ;;
*)
    echo "unknown command: $1" >&2
    exit 125
    ;;
esac
