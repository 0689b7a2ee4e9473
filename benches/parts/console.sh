# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures the console: in a browser, and what it costs the program.

# Starting and idle memory with the console and without it, in turn.
console_program() {
	local round way at all with=() without=() big=() small=() us kb

	make_store empty 1 0
	for ((round = 0; round < rounds; round++)); do
		for way in on off; do
			at=$(free_port)
			mapfile -t all < <("$scratch/start" 5 "$at" /healthz "$lodge" serve "--listen=127.0.0.1:$at" \
				"--data=$scratch/empty" --no-access-log "--console=$way")
			us=$(median "${all[@]}")
			start_lodge "$scratch/empty" "LODGE_CONSOLE=$way"
			sleep 1
			kb=$(memory "$pid" Rss)
			stop "$pid"
			if [[ $way == on ]]; then
				with+=("$us") big+=("$kb")
			else
				without+=("$us") small+=("$kb")
			fi
		done
	done
	us=$(calc "$(median "${with[@]}") - $(median "${without[@]}")")
	row "console: exec to first 200" "$(calc "$(median "${with[@]}") / 1000" %.2f) ms" \
		"--console=off: $(calc "$(median "${without[@]}") / 1000" %.2f) ms" - '<= 1 ms more' "$(verdict "$us" '<=' 1000)"
	kb=$(calc "$(median "${big[@]}") - $(median "${small[@]}")")
	row "console: idle after start" "$(calc "$(median "${big[@]}") / 1024" %.2f) MB RSS" \
		"--console=off: $(calc "$(median "${small[@]}") / 1024" %.2f) MB" - '<= 1 MB more' "$(verdict "$kb" '<=' 1024)"
}

# One line of what look.mjs said: said NAME; its numbers go into the array `n`.
said() {
	read -ra n < <(awk -v name="$1" '$1 == name { $1 = ""; print }' "$scratch/looked") || true
	[[ ${#n[@]} -gt 0 ]] || die "the browser did not say $1"
}

console_rows() {
	local n page

	said open
	row "console: opening a session of 2,000 messages" "${n[0]} ms; ${n[1]} ms from the list" \
		"${n[2]} ms in a browser that was never here" - '< 500 ms' "$(verdict "${n[0]}" '<' 500)"
	said keys
	row "console: a key there, all messages read" "p50 ${n[0]} ms, p95 ${n[1]} ms" "worst ${n[2]} ms" - '< 50 ms' "$(verdict "${n[1]}" '<' 50)"
	said task
	row "console: longest task at 100 tokens a second" "${n[0]} ms, ${n[1]} ms of its own" "worst of all rounds ${n[2]} ms" - '<= 50 ms' "$(verdict "${n[0]}" '<=' 50)"
	said heap
	row "console: heap after 10,000 pieces" "${n[1]} MB; ${n[2]} MB at the end" "${n[0]} MB after 1,000; the text has ${n[3]} kB" \
		- '<= 150 bytes a piece' "$(verdict "${n[1]} - ${n[0]}" '<=' "9000 * 150 / 1000000")"
	said tabs
	row "console: 8 tabs" "$(calc "${n[0]}" %.0f) stream of events" "all show a change after ${n[1]} ms" - 1 "$(verdict "${n[0]}" '==' 1)"
	for page in sign-in chat costs; do
		said "lighthouse-$page"
		row "console: Lighthouse, $page" "performance $(calc "${n[0]}" %.0f), accessibility $(calc "${n[1]}" %.0f)" - - \
			'>= 95, 100' "$(verdict "${n[0]} >= 95 && ${n[1]}" '==' 100)"
	done
}

part_console() {
	local folder=$scratch/console-store login tenant token agent session slug

	tools/setup console blackbox
	cp -r "$here/console" "$scratch/look"
	say "Installing what looks at the console"
	(cd "$scratch/look" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2)
	say "Measuring what the console costs the program"
	console_program
	mkdir "$folder"
	chmod 700 "$folder"
	start_lodge "$folder" LODGE_ALLOW_PRIVATE_ADDRESSES=true
	login=$(curl -fs -H 'Content-Type: application/json' "http://127.0.0.1:$port/auth/login" \
		-d '{"email":"bench@localhost","password":"a-long-password"}')
	tenant=$(field tenant_id <<<"$login")
	slug=$(field tenant_slug <<<"$login")
	token=${login#*\"token\":\"}
	token=${token%%\"*}
	agent=$(call POST "/tenant/$tenant/agents" "$token" '{"name":"Bench","slug":"bench"}' | sed 's/^{"id":"\([^"]*\)".*/\1/')
	session=$(call POST "/agents/$agent/sessions" "$token" "{\"title\":\"Long\"}" | sed 's/^{"id":"\([^"]*\)".*/\1/')
	fill_session "$session" 2000
	say "Measuring in a browser"
	node "$scratch/look/look.mjs" "http://127.0.0.1:$port" bench@localhost a-long-password "$session" "$agent" "$tenant" "$slug" "$rounds" >"$scratch/looked"
	node "$scratch/look/look.mjs" "http://127.0.0.1:$port" bench@localhost a-long-password "$session" "$agent" "$tenant" "$slug" 3 lighthouse >>"$scratch/looked"
	console_rows
	stop "$pid"
}
