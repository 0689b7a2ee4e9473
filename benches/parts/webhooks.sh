# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures events from outside.

# A text of a reply: the first of this name.
text_of() {
	sed "s/^.*\"$1\":\"\([^\"]*\)\".*/\1/"
}

hook_ask() {
	curl -fsS -H "Authorization: Bearer $hook_token" -H 'Content-Type: application/json' "$@"
}

# Makes a store with an integration whose agent is not at work now, so that what is accepted waits; sets
# hook_path and hook_signature.
make_hooks() {
	local base tenant agent made secret hour

	make_store empty 1 0
	store_twin "$scratch/empty" "$scratch/hooks"
	start_lodge "$scratch/hooks"
	base=http://127.0.0.1:$port
	hook_token=$(curl -fsS -H 'Content-Type: application/json' "$base/auth/login" \
		-d '{"email":"bench@localhost","password":"a-long-password"}' | text_of token)
	tenant=$(store_sql "$scratch/hooks" "select id from tenants where slug = 'demo'")
	agent=$(hook_ask "$base/tenant/$tenant/agents" -d '{"name":"Hooked","slug":"hooked"}' | text_of id)
	hour=$(((10#$(date -u +%H) + 12) % 24))
	hook_ask -X PUT "$base/agents/$agent/chat-config" -o "$scratch/hours" -d "$(printf \
		'{"working_hours_enabled":%s,"working_hours_start":"%02d:00","working_hours_end":"%02d:30","working_hours_tz":"UTC"}' \
		"$1" "$hour" "$hour")"
	made=$(hook_ask "$base/tenant/$tenant/integrations" \
		-d "{\"provider\":\"github\",\"label\":\"Bench\",\"agent_id\":\"$agent\"}")
	secret=$(text_of signing_secret <<<"$made")
	hook_path=/hooks/$(text_of id <<<"$made")
	hook_signature=sha256=$(openssl dgst -sha256 -hmac "$secret" -hex "$here/push.json" | sed 's/.* //')
	stop "$pid"
}

# What accepted events leave, by a plain loop: bare_events FOLDER HOW_MANY VARIABLE=VALUE.
bare_events() {
	if [[ $store == sqlite ]]; then
		env "$3" "$scratch/hook_rows" "$1/lodge.db" "$here/push.json" "$2"
	else
		"$scratch/pg_rows" "$(store_url "$1")" events "$2" "$here/push.json"
	fi
}

# accept WHAT TARGET VARIABLE=VALUE: events a second beside the same rows in a bare loop, and their times.
accept() {
	local round rows us ours=() theirs=() costs=() ratios=() spreads=() mids=() ratio at=0 given=$3 floor=0.5

	[[ $store == sqlite ]] || floor=0.4
	say "Measuring $1"
	for ((round = 0; round < rounds; round++)); do
		store_twin "$scratch/hooks" "$scratch/taking"
		start_lodge "$scratch/taking" "$given"
		side "http://127.0.0.1:$port/" "$pid" "$seconds" "BENCH_HOOK=$hook_path $hook_signature run$round"
		stop "$pid"
		ours+=("$rate")
		costs+=("$cost")
		mids+=("$p50")
		spreads+=("$(calc "$p99 / $p50")")
		rows=$(store_sql "$scratch/taking" 'select count(*) from deliveries')
		if ((rows < requests)); then
			die "$requests events were acknowledged and $rows are there"
		fi
		store_twin "$scratch/hooks" "$scratch/taking"
		read -r rows us < <(bare_events "$scratch/taking" "$rows" "$given")
		theirs+=("$(calc "$rows * 1000000 / $us")")
		ratios+=("$(calc "${ours[-1]} / ${theirs[-1]}")")
	done
	ratio=$(median "${ratios[@]}")
	at=$(median "${ours[@]}")
	row "$1" "$(calc "$at" %.0f)/s" "bare loop: $(calc "$(median "${theirs[@]}")" %.0f)/s" \
		"$(calc "$ratio" %.2f)" ">= $floor" "$(verdict "$ratio" '>=' "$floor")"
	if [[ $2 != - ]]; then
		row "$1, 64 connections" "$(calc "$at" %.0f)/s" - - ">= $2/s" "$(verdict "$at" '>=' "$2")"
	fi
	row "$1: p99 beside p50" "$(calc "$(median "${mids[@]}")" %.0f) us" - "$(calc "$(median "${spreads[@]}")" %.1f)" \
		'<= 5' "$(verdict "$(median "${spreads[@]}")" '<=' 5)"
	row "$1: CPU an event" "$(calc "$(median "${costs[@]}")" %.1f) us" - - - -
}

# With 100,000 jobs waiting already, beside none.
accept_beside_jobs() {
	local round ours=() theirs=() ratios=() ratio made=0

	say "Measuring webhooks while jobs wait"
	store_twin "$scratch/hooks" "$scratch/waiting"
	bare_events "$scratch/waiting" 100000 BENCH=none >"$scratch/waiting.out"
	for ((round = 0; round < rounds; round++)); do
		store_twin "$scratch/hooks" "$scratch/taking"
		start_lodge "$scratch/taking"
		side "http://127.0.0.1:$port/" "$pid" "$seconds" "BENCH_HOOK=$hook_path $hook_signature with$round"
		stop "$pid"
		store_gone "$scratch/taking"
		theirs+=("$rate")
		start_lodge "$scratch/waiting"
		side "http://127.0.0.1:$port/" "$pid" "$seconds" "BENCH_HOOK=$hook_path $hook_signature with$round"
		stop "$pid"
		made=$((made + requests))
		ours+=("$rate")
		ratios+=("$(calc "$rate / ${theirs[-1]}")")
	done
	ratio=$(median "${ratios[@]}")
	row "webhooks while 100,000 jobs wait" "$(calc "$(median "${ours[@]}")" %.0f)/s" \
		"while none does: $(calc "$(median "${theirs[@]}")" %.0f)/s" "$(calc "$ratio" %.2f)" '>= 0.9' \
		"$(verdict "$ratio" '>=' 0.9)"
}

part_webhooks() {
	local t

	export BENCH_BODY=$here/push.json
	make_hooks true
	accept "webhooks: a push of 10 KB" - BENCH=none
	if [[ $store == sqlite ]]; then
		accept "webhooks, fsync + 1 ms" 10000 "LD_PRELOAD=$scratch/slowsync.so"
	fi
	accept_beside_jobs
	start_nginx
	start_lodge "$scratch/hooks"
	versus "webhooks beside nginx" "nginx, return 200" - \
		"http://127.0.0.1:$port/" "$pid" "BENCH_HOOK=$hook_path $hook_signature nginx" \
		"http://127.0.0.1:$nginx_port/" "$nginx_pid" "BENCH_HOOK=/hooks/x $hook_signature nginx"
	stop "$pid"
	compile_inside hook_time
	t=$("$scratch/hook_time")
	row "webhooks: the compare by the place of the first wrong byte" "t = $t" - - '|t| < 4.5' \
		"$(verdict "${t#-}" '<' 4.5)"
	unset BENCH_BODY
}
