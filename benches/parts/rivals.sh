# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures other gateways.

part_rivals() {
	local folder=$scratch/rivals at

	tools/setup rivals
	cp -r "$here/rivals" "$folder"
	say "Installing the rivals"
	(cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2)
	make_store empty 1 0
	start_lodge "$scratch/empty"
	at=$(free_port)
	node --require "$folder/loopback.cjs" "$folder/node_modules/@portkey-ai/gateway/build/start-server.js" \
		--headless "--port=$at" >"$folder/log" 2>&1 &
	running+=("$!")
	await "http://127.0.0.1:$at/" "$folder/log"
	versus "rivals: a sign of life" "Portkey gateway" - \
		"http://127.0.0.1:$port/healthz" "$pid" BENCH=none \
		"http://127.0.0.1:$at/" "${running[-1]}" BENCH=none
	rival_gateway "$at" "${running[-1]}"
	stop "${running[-1]}"
	stop "$pid"
}

# A call through the other gateway, beside ours without accounting: rival_gateway PORT PID
rival_gateway() {
	local at=$1 rival=$2 mock_port key folder=$scratch/rival-store line="$scratch/chat.line" kept=$pid
	local body="$scratch/chat-rival.json" direct=() theirs=() ours=() our_costs=() their_costs=() round

	mkdir "$folder"
	chmod 700 "$folder"
	start_role mock
	mock_port=$port
	start_lodge "$folder" LODGE_ALLOW_PRIVATE_ADDRESSES=true LODGE_ACCOUNTING=false
	gateway_ready "$mock_port"
	echo "/v1/chat/completions $key" >"$line"
	sed "s|MODEL|agent:bench|" "$here/chat.json" >"$body"
	say "Measuring a call through the Portkey gateway"
	for ((round = 0; round < rounds; round++)); do
		side "http://127.0.0.1:$port/" "$pid" "$seconds" "BENCH_LINE=$line" "BENCH_BODY=$body"
		our_costs+=("$cost")
		side "http://127.0.0.1:$at/" "$rival" "$seconds" "BENCH_LINE=$line" "BENCH_BODY=$body" "BENCH_PORTKEY=http://127.0.0.1:$mock_port/v1"
		their_costs+=("$cost")
		load "http://127.0.0.1:$mock_port/" 1 1 1 "BENCH_LINE=$line" "BENCH_BODY=$body"
		direct+=("$p50")
		load "http://127.0.0.1:$port/" 1 1 1 "BENCH_LINE=$line" "BENCH_BODY=$body"
		ours+=("$p50 $p99")
		load "http://127.0.0.1:$at/" 1 1 1 "BENCH_LINE=$line" "BENCH_BODY=$body" "BENCH_PORTKEY=http://127.0.0.1:$mock_port/v1"
		theirs+=("$p50 $p99")
	done
	row "rivals: a call: CPU" "$(calc "$(median "${our_costs[@]}")" %.1f) us" \
		"Portkey gateway: $(calc "$(median "${their_costs[@]}")" %.1f) us" \
		"$(calc "$(median "${our_costs[@]}") / $(median "${their_costs[@]}")" %.2f)" - -
	row "rivals: a call: added at 1 connection" \
		"p50 $(calc "$(median "${ours[@]%% *}") - $(median "${direct[@]}")" %.0f) us, p99 $(calc "$(median "${ours[@]##* }") - $(median "${direct[@]}")" %.0f) us" \
		"Portkey gateway: p50 $(calc "$(median "${theirs[@]%% *}") - $(median "${direct[@]}")" %.0f) us, p99 $(calc "$(median "${theirs[@]##* }") - $(median "${direct[@]}")" %.0f) us" - - -
	stop "$pid"
	pid=$kept
}
