# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures the list of tools that a client of the Model Context Protocol is given: as many agents as a page holds.

part_mcp() {
	local owner body clock cpu before i times=()

	make_store thousand 1 1000
	start_lodge "$scratch/thousand"
	read -r _ owner <"$scratch/thousand.lists"
	body='{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
	for ((i = 0; i < 110; i++)); do
		((i != 10)) || before=$(ticks "$pid")
		clock=$(curl -fso "$scratch/tools" -w '%{time_total}' -H "Authorization: Bearer $owner" \
			-H 'Content-Type: application/json' -d "$body" "http://127.0.0.1:$port/mcp")
		((i < 10)) || times+=("$(calc "$clock * 1000" %.3f)")
	done
	cpu=$(calc "($(ticks "$pid") - $before) * 1000 / $(getconf CLK_TCK) / ${#times[@]}" %.2f)
	clock=$(median "${times[@]}")
	row "mcp: tools/list of $(grep -o '"ask_' "$scratch/tools" | wc -l) agents" "$clock ms over HTTP, $cpu ms of CPU" \
		"$(stat -c %s "$scratch/tools") bytes" - '< 5 ms' "$(verdict "$clock" '<' 5)"
	stop "$pid"
}
