# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures agents at work.

# Makes agents that hold the calculator, and prints their ids: talkers HOW_MANY; uses tenant and token.
talkers() {
	local i tool agent

	tool=$(call GET "/tenant/$tenant/tools?q=calculator" "$token" | sed 's/.*"items":\[{"id":"\([^"]*\)".*/\1/')
	for ((i = 0; i < $1; i++)); do
		agent=$(call POST "/tenant/$tenant/agents" "$token" "{\"name\":\"Talker\",\"slug\":\"talker-$i\"}" |
			sed 's/^{"id":"\([^"]*\)".*/\1/')
		call POST "/agents/$agent/tools" "$token" "{\"tool_id\":\"$tool\"}" >"$scratch/ignored"
		echo "$agent"
	done
}

# Fills a session behind the service's back: fill_session ID MESSAGES; uses tenant.
fill_session() {
	store_sql "$folder" "with recursive n(i) as (select 1 union all select i + 1 from n where i < $2)
		insert into messages (tenant_id, session_id, id, role, status, prompt_tokens, completion_tokens, cache_read_tokens,
			cache_write_tokens, cost_pd, created_at, tool_calls, content)
		select '$tenant', '$1', 'c' || substr('000000000000000000000000', 1, 24 - length(cast(i as text))) || i, case i % 2 when 1 then 'user' else 'assistant' end, 'complete', 10, 20, 0, 0,
			1000, i, '[]', 'Message ' || i || ' of a conversation that has gone on for a while.' from n;
		update session_rows set message_count = $2 where id = '$1'"
}

# Ticks of each thread of a process: threads PID; lines of "ID TICKS".
threads() {
	local task stat

	for task in "/proc/$1/task/"*; do
		stat=$(cat "$task/stat" 2>/dev/null) || continue
		read -r -a stat <<<"${stat##*) }"
		echo "${task##*/} $((stat[11] + stat[12]))"
	done | sort
}

# Turns of 64 agents at once, and the last page of a long session beside a short one.
part_sessions() {
	local folder=$scratch/talking login tenant token round turns took half slow rates=() halves=() slows=() costs=() before
	local turns_target=- turns_judged=- busiest=() short=() long=() agent lengths=(10 10000) ids=()

	mkdir "$folder"
	chmod 700 "$folder"
	start_lodge "$folder"
	login=$(curl -fs -H 'Content-Type: application/json' "http://127.0.0.1:$port/auth/login" \
		-d '{"email":"bench@localhost","password":"a-long-password"}')
	tenant=$(field tenant_id <<<"$login")
	token=${login#*\"token\":\"}
	token=${token%%\"*}
	talkers 64 >"$scratch/talkers"
	say "Measuring turns of 64 agents"
	"$scratch/converse" "$port" "$token" 1 <"$scratch/talkers" >"$scratch/ignored"
	for ((round = 0; round < rounds; round++)); do
		before=$(ticks "$pid")
		threads "$pid" >"$scratch/threads"
		read -r turns took half slow < <("$scratch/converse" "$port" "$token" "$seconds" <"$scratch/talkers")
		rates+=("$(calc "$turns / $took")")
		halves+=("$half")
		slows+=("$slow")
		costs+=("$(calc "($(ticks "$pid") - $before) * 1000000 / $(getconf CLK_TCK) / $turns")")
		busiest+=("$(join "$scratch/threads" <(threads "$pid") | awk -v hz="$(getconf CLK_TCK)" -v s="$took" \
			'$3 - $2 > most { most = $3 - $2 } END { print most * 100 / hz / s }')")
	done
	if [[ $store == sqlite ]]; then
		turns_target='>= 2000/s'
		turns_judged=$(verdict "$(median "${rates[@]}")" '>=' 2000)
	fi
	row "sessions: its busiest thread" "$(calc "$(median "${busiest[@]}")" %.0f) % of a core" - - - -
	row "sessions: turns of 64 agents, a tool call each" "$(calc "$(median "${rates[@]}")" %.0f)/s" \
		"p50 $(calc "$(median "${halves[@]}") / 1000" %.1f) ms, p99 $(calc "$(median "${slows[@]}") / 1000" %.1f) ms, CPU $(calc "$(median "${costs[@]}")" %.0f) us a turn" \
		- "$turns_target" "$turns_judged"
	agent=$(head -n 1 "$scratch/talkers")
	for round in 0 1; do
		ids+=("$(call POST "/agents/$agent/sessions" "$token" '{}' | sed 's/^{"id":"\([^"]*\)".*/\1/')")
	done
	stop "$pid"
	for round in 0 1; do
		fill_session "${ids[round]}" "${lengths[round]}"
	done
	start_lodge "$folder"
	say "Measuring the last page of a long session"
	for round in 0 1; do
		echo "/sessions/${ids[round]}/messages?per_page=10 $token" >"$scratch/page.$round"
		load "http://127.0.0.1:$port/" 1 1 1 "BENCH_REQUESTS=$scratch/page.$round"
	done
	for ((round = 0; round < rounds; round++)); do
		load "http://127.0.0.1:$port/" 1 1 1 "BENCH_REQUESTS=$scratch/page.0"
		short+=("$p50")
		load "http://127.0.0.1:$port/" 1 1 1 "BENCH_REQUESTS=$scratch/page.1"
		long+=("$p50")
	done
	row "sessions: last page of 10,000 messages" "p50 $(calc "$(median "${long[@]}")" %.0f) us" \
		"of 10 messages: p50 $(calc "$(median "${short[@]}")" %.0f) us" \
		"$(calc "$(median "${long[@]}") / $(median "${short[@]}")" %.2f)" '<= 1.2' \
		"$(verdict "$(calc "$(median "${long[@]}") / $(median "${short[@]}")")" '<=' 1.2)"
	stop "$pid"
}
