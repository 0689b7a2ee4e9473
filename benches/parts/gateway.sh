# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures a call to a model through the gateway.

# One way through the gateway, beside nginx's: gateway_way WHAT TARGET MODEL [P50 P99]; Lodge is at $port, of
# $pid.  Sets added50.
gateway_way() {
	local what=$1 target=$2 round ours=() theirs=() rates=() their_rates=() ratio added99 judged=- limits=-
	local line="$scratch/chat.line" body="$scratch/chat-$3.json" direct=() added=() proxied=()

	echo "/v1/chat/completions $key" >"$line"
	sed "s|MODEL|$3|" "$here/chat.json" >"$body"
	side "http://127.0.0.1:$port/" "$pid" 1 "BENCH_LINE=$line" "BENCH_BODY=$body"
	for ((round = 0; round < rounds; round++)); do
		side "http://127.0.0.1:$port/" "$pid" "$seconds" "BENCH_LINE=$line" "BENCH_BODY=$body"
		ours+=("$cost")
		rates+=("$rate")
		side "http://127.0.0.1:$proxy_port/" "$proxy_pid" "$seconds" "BENCH_LINE=$line" "BENCH_BODY=$body"
		theirs+=("$cost")
		their_rates+=("$rate")
		load "http://127.0.0.1:$mock_port/" 1 1 1 "BENCH_LINE=$line" "BENCH_BODY=$body"
		direct+=("$p50")
		load "http://127.0.0.1:$port/" 1 1 1 "BENCH_LINE=$line" "BENCH_BODY=$body"
		added+=("$p50 $p99")
		load "http://127.0.0.1:$proxy_port/" 1 1 1 "BENCH_LINE=$line" "BENCH_BODY=$body"
		proxied+=("$p50 $p99")
	done
	ratio=$(calc "$(median "${ours[@]}") / $(median "${theirs[@]}")" %.2f)
	row "gateway: $what: CPU a call" "$(calc "$(median "${ours[@]}")" %.1f) us, $(calc "$(median "${rates[@]}")" %.0f)/s" \
		"nginx proxy_pass: $(calc "$(median "${theirs[@]}")" %.1f) us, $(calc "$(median "${their_rates[@]}")" %.0f)/s" \
		"$ratio" "<= $target" "$(verdict "$ratio" '<=' "$target")"
	added50=$(calc "$(median "${added[@]%% *}") - $(median "${direct[@]}")" %.0f)
	added99=$(calc "$(median "${added[@]##* }") - $(median "${direct[@]}")" %.0f)
	if [[ -n ${4:-} ]]; then
		limits="< $4, < $5 us"
		judged=$(verdict "$added50 < $4 && $added99" '<' "$5")
	fi
	row "gateway: $what: added at 1 connection" "p50 $added50 us, p99 $added99 us" \
		"nginx: p50 $(calc "$(median "${proxied[@]%% *}") - $(median "${direct[@]}")" %.0f) us, p99 $(calc "$(median "${proxied[@]##* }") - $(median "${direct[@]}")" %.0f) us" - "$limits" "$judged"
}

# The same question by Anthropic's Messages API, beside chat completions in the same run: gateway_messages WHAT MODEL.
gateway_messages() {
	local what=$1 round ours=() theirs=() direct=() added=() ratio
	local chat=("BENCH_LINE=$scratch/chat.line" "BENCH_BODY=$scratch/chat-$2.json")
	local messages=("BENCH_LINE=$scratch/messages.line" "BENCH_BODY=$scratch/messages-$2.json")

	echo "/v1/messages $key" >"$scratch/messages.line"
	sed "s|MODEL|$2|" "$here/messages.json" >"$scratch/messages-$2.json"
	side "http://127.0.0.1:$port/" "$pid" 1 "${messages[@]}"
	for ((round = 0; round < rounds; round++)); do
		side "http://127.0.0.1:$port/" "$pid" "$seconds" "${messages[@]}"
		ours+=("$cost")
		side "http://127.0.0.1:$port/" "$pid" "$seconds" "${chat[@]}"
		theirs+=("$cost")
		load "http://127.0.0.1:$mock_port/" 1 1 1 "${messages[@]}"
		direct+=("$p50")
		load "http://127.0.0.1:$port/" 1 1 1 "${messages[@]}"
		added+=("$p50")
	done
	ratio=$(calc "$(median "${ours[@]}") / $(median "${theirs[@]}")" %.2f)
	row "gateway: messages, $what: CPU a call" "$(calc "$(median "${ours[@]}")" %.1f) us" \
		"chat completions: $(calc "$(median "${theirs[@]}")" %.1f) us" "$ratio" "<= 1.15" "$(verdict "$ratio" '<=' 1.15)"
	row "gateway: messages, $what: added at 1 connection" \
		"p50 $(calc "$(median "${added[@]}") - $(median "${direct[@]}")" %.0f) us" - - - -
}

# What a long prompt costs beside copying it, inside the process.
gateway_prompt() {
	local copied fresh spliced

	compile_inside prompt
	read -r copied fresh spliced < <("$scratch/prompt" 1048576 101 | awk '/^memcpy/ { m = $(NF - 1) }
		/^copy into/ { f = $(NF - 1) } /^read and splice/ { s = $(NF - 1) } END { print m, f, s }')
	row "gateway: a prompt of 1 MiB, read and passed on" "$spliced us" "memcpy: $copied us; into a fresh buffer: $fresh us" \
		"$(calc "$spliced / $fresh" %.2f)" - -
}

# The same 1 MiB through the whole gateway: CPU a call, beside nginx.
gateway_large() {
	local line="$scratch/chat.line" body="$scratch/large.json" round ours=() theirs=()

	{
		printf '{"model": "agent:bench", "messages": [{"role": "user", "content": "NUMBER '
		head -c 786432 /dev/urandom | base64 -w 0
		printf '"}]}'
	} >"$body"
	for ((round = 0; round < rounds; round++)); do
		side "http://127.0.0.1:$port/" "$pid" "$seconds" "BENCH_LINE=$line" "BENCH_BODY=$body"
		ours+=("$cost")
		side "http://127.0.0.1:$proxy_port/" "$proxy_pid" "$seconds" "BENCH_LINE=$line" "BENCH_BODY=$body"
		theirs+=("$cost")
	done
	row "gateway: a prompt of 1 MiB: CPU a call" "$(calc "$(median "${ours[@]}")" %.0f) us" \
		"nginx proxy_pass: $(calc "$(median "${theirs[@]}")" %.0f) us" \
		"$(calc "$(median "${ours[@]}") / $(median "${theirs[@]}")" %.2f)" - -
}

part_gateway() {
	local mock_port proxy_port proxy_pid key folder=$scratch/gateway added50 synced

	start_role mock
	mock_port=$port
	start_role proxy "$mock_port"
	proxy_port=$port
	proxy_pid=$pid
	mkdir "$folder"
	chmod 700 "$folder"
	start_lodge "$folder" LODGE_ALLOW_PRIVATE_ADDRESSES=true LODGE_ACCOUNTING=false
	gateway_ready "$mock_port"
	say "Measuring the gateway"
	gateway_way "accounting off" 4 agent:bench 120 300
	gateway_messages "accounting off" agent:bench
	gateway_large
	gateway_prompt
	stop "$pid"
	start_lodge "$folder" LODGE_ALLOW_PRIVATE_ADDRESSES=true
	gateway_way "key, permission, budget, ledger" 6 agent:bench
	synced=$added50
	gateway_messages "key, permission, budget, ledger" agent:bench
	stop "$pid"
	start_lodge "$folder" LODGE_ALLOW_PRIVATE_ADDRESSES=true "LD_PRELOAD=$scratch/nosync.so"
	gateway_way "the same on a disk that does not sync" 6 agent:bench
	row "gateway: the store's sync before a call" "$((synced - added50)) us of p50" - - - -
	stop "$pid"
	stop "$proxy_pid"
}
