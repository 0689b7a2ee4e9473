# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures the list of tools that a client of the Model Context Protocol is given: as many agents as a page holds.

part_mcp() {
	local owner round times=() costs=() size line=$scratch/mcp.line body=$scratch/mcp.json

	make_store thousand 1 1000
	start_lodge "$scratch/thousand"
	read -r _ owner <"$scratch/thousand.lists"
	echo "/mcp $owner" >"$line"
	echo '{"jsonrpc":"2.0","id":"NUMBER","method":"tools/list"}' >"$body"
	size=$(curl -fsS -H "Authorization: Bearer $owner" -H 'Content-Type: application/json' -d "@$body" \
		"http://127.0.0.1:$port/mcp" | tee "$scratch/tools" | wc -c)
	for ((round = 0; round < rounds; round++)); do
		one_connection "http://127.0.0.1:$port/" "$pid" "BENCH_LINE=$line" "BENCH_BODY=$body"
		times+=("$p50")
		costs+=("$cost")
	done
	row "mcp: tools/list of $(grep -o '"ask_' "$scratch/tools" | wc -l) agents" \
		"p50 $(calc "$(median "${times[@]}") / 1000" %.2f) ms, $(calc "$(median "${costs[@]}") / 1000" %.2f) ms of CPU" \
		"$size bytes" - '< 5 ms' "$(verdict "$(median "${times[@]}")" '<' 5000)"
	stop "$pid"
}

# one_connection URL PID [VARIABLE=VALUE...]: sets p50 and cost (us).
one_connection() {
	local url=$1 process=$2 before
	shift 2

	before=$(ticks "$process")
	load "$url" 1 1 "$seconds" "$@"
	cost=$(calc "($(ticks "$process") - $before) * 1000000 / $(getconf CLK_TCK) / $requests")
}
