# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures streams of events.

# One run of the streams: streams COUNT; sets events, cpu (us), before, after (kB).
streams() {
	read -r events cpu before after _ < <("$scratch/streams" "$port" "$pid" "$token" "$scratch/stream.ids" "$1" 4)
}

part_streams() {
	local folder=$scratch/streaming login token tenant agent model i round
	local events cpu before after none with without delivered costs=() sizes=()

	mkdir "$folder"
	chmod 700 "$folder"
	start_lodge "$folder"
	login=$(curl -fs -H 'Content-Type: application/json' "http://127.0.0.1:$port/auth/login" \
		-d '{"email":"bench@localhost","password":"a-long-password"}')
	tenant=$(field tenant_id <<<"$login")
	token=${login#*\"token\":\"}
	token=${token%%\"*}
	model=$(call POST /admin/models "$token" \
		'{"name":"Bench","slug":"bench","kind":"demo","available_to_all_tenants":true}' | sed 's/^{"id":"\([^"]*\)".*/\1/')
	agent=$(call POST "/tenant/$tenant/agents" "$token" '{"name":"Bench","slug":"bench"}' | sed 's/^{"id":"\([^"]*\)".*/\1/')
	call PUT "/agents/$agent/models" "$token" "{\"model_ids\":[\"$model\"]}" >"$scratch/ignored"
	for ((i = 0; i < stream_sessions; i++)); do
		call POST "/agents/$agent/sessions" "$token" '{"title":"Bench"}' | sed 's/^{"id":"\([^"]*\)".*/\1\n/'
	done >"$scratch/stream.ids"
	say "Measuring $stream_count streams over $stream_sessions sessions"
	streams 0
	none=$cpu
	for ((round = 0; round < rounds; round++)); do
		streams "$stream_count"
		with=$cpu
		delivered=$events
		sizes+=("$(calc "($after - $before) / $stream_count")")
		without=$none
		streams 0
		none=$cpu # a session costs more as it goes on: the mean of the runs before and after
		costs+=("$(calc "($with - ($without + $none) / 2) / $delivered")")
	done
	row "streams: CPU of an event delivered" "$(calc "$(median "${costs[@]}")" %.1f) us" \
		"$stream_count streams on $stream_sessions sessions at work" - '<= 6 us' \
		"$(verdict "$(median "${costs[@]}")" '<=' 6)"
	row "streams: memory of a stream" "$(calc "${sizes[0]}" %.1f) kB" "the first time they are open" - '<= 20 kB' \
		"$(verdict "${sizes[0]}" '<=' 20)"
	stop "$pid"
}
