# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures memory over many minutes of calls.

# Memory that is the process's own while calls go on, whole and streamed, with a budget and a ledger.
part_endurance() {
	local mock_port key folder=$scratch/endurance line="$scratch/chat.line" body="$scratch/chat-endurance.json"
	local before after sent=0 quarter=$((endurance_seconds / 4)) turn figures=()

	mkdir "$folder"
	chmod 700 "$folder"
	start_role mock
	mock_port=$port
	start_lodge "$folder" LODGE_ALLOW_PRIVATE_ADDRESSES=true
	gateway_ready "$mock_port"
	echo "/v1/chat/completions $key" >"$line"
	sed "s|MODEL|agent:bench|" "$here/chat.json" >"$body"
	say "Measuring endurance, for $endurance_seconds seconds"
	for ((turn = 0; turn < 4; turn++)); do
		load "http://127.0.0.1:$port/" 2 64 "$quarter" "BENCH_LINE=$line" "BENCH_BODY=$body"
		sent=$((sent + requests))
		figures+=("$(memory "$pid" Anonymous)")
	done
	before=${figures[0]}
	after=${figures[3]}
	row "endurance: $endurance_seconds s of calls" "$(calc "$after / 1024" %.1f) MB of its own behind $sent calls" \
		"$(calc "$before / 1024" %.1f) MB behind the first quarter" "$(calc "$after / $before" %.2f)" \
		"<= 1.05" "$(verdict "$after" '<=' "1.05 * $before")"
	stop "$pid"
}
