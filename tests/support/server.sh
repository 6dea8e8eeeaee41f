# server.sh - start the program on a free port, for scripts that source this.
# shellcheck shell=bash

# server_start BINARY LOG [FLAG...]: sets server_url and server_pid; returns once it listens.
server_start() {
    local binary=$1 log=$2 line port=
    shift 2
    : >"$log"
    exec {server_stderr}< <(exec "$binary" serve --host 127.0.0.1 --port 0 --admin-listen= "$@" 2>&1 >/dev/null </dev/null)
    server_pid=$!
    while IFS= read -r -t 60 line <&"$server_stderr"; do
        printf '%s\n' "$line" >>"$log"
        if [[ $line =~ '"event":"listening"' && $line =~ \"port\":([0-9]+) ]]; then
            port=${BASH_REMATCH[1]}
            break
        fi
    done
    if [[ -z $port ]]; then
        echo "the server did not start:" >&2
        cat "$log" >&2
        return 1
    fi
    cat <&"$server_stderr" >>"$log" &
    # shellcheck disable=SC2034  # for the caller
    server_url=http://127.0.0.1:$port
}

# server_stop: ask it to end and return its exit status.
server_stop() {
    kill -TERM "$server_pid"
    wait "$server_pid"
}
