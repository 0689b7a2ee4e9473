# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures autocomplete.

# Changes rows behind the service's back; it makes its index anew at the next start.
change_rows() {
	stop "$pid"
	store_sql "$scratch/one" "$1; delete from meta where key = 'search_version'"
	start_lodge "$scratch/one"
}

# completions WHO TOKEN: a row for each query, inside the service and over HTTP.
completions() {
	local q clock99 clock50 cpu50 cpu99

	for q in "" a su support+d zzzz support+x; do
		echo "/tenant/$tenant/autocomplete?q=$q $2" >"$scratch/complete.lines"
		read -r clock50 clock99 cpu50 cpu99 _ < <("$scratch/latency" "$(store_url "$scratch/one")" "$scratch/complete.lines" 2000)
		load "http://127.0.0.1:$port/" 1 1 1 "BENCH_REQUESTS=$scratch/complete.lines"
		row "autocomplete: $1, q=$q" "p50 $clock50 us, p99 $clock99 us inside; CPU p50 $cpu50 us, p99 $cpu99 us" \
			"p50 $(calc "$p50" %.0f) us, p99 $(calc "$p99" %.0f) us over HTTP" - \
			'p99 < 2 ms' "$(verdict "$p99" '<' 2000)"
	done
}

part_autocomplete() {
	local tenant owner invited member user group agents i

	make_store one 1 100000
	compile_inside latency
	read -r tenant owner < <(sed 's|/tenant/\([^/]*\)/agents|\1|' "$scratch/one.lists" | head -n 1)
	start_lodge "$scratch/one"
	change_rows "update agent_rows set name = 'Accounts auditor ' || substr(slug, length(slug) - 6), name_folded =
		'accounts auditor ' || substr(slug, length(slug) - 6), slug = 'auditor' || substr(slug, length(slug) - 6) where substr(slug, length(slug)) in ('3', '7')"
	invited=$(call POST "/tenant/$tenant/members" "$owner" '{"email":"member@example.org"}')
	member=$(call POST /auth/accept-invite "$owner" \
		"{\"token\":\"$(field invite_token <<<"$invited")\",\"name\":\"Ann\",\"password\":\"a-long-password\"}" | field token)
	user=$(call GET "/tenant/$tenant/members" "$owner" | sed 's/.*"user_id":"\([^"]*\)","email":"member@example.org".*/\1/')
	group=$(call POST "/tenant/$tenant/groups" "$owner" '{"name":"few"}' | field id)
	call PUT "/tenant/$tenant/groups/$group/members/$user" "$owner" >"$scratch/ignored"
	mapfile -t agents < <(cut -d' ' -f1 "$scratch/one.reads" | sort -u | head -n 5)
	for i in 0 1 2; do
		call PUT "${agents[i]}/roles/$user" "$owner" '{"role":"VIEWER"}' >"$scratch/ignored"
	done
	for i in 3 4; do
		call PUT "${agents[i]}/group-roles/$group" "$owner" '{"role":"VIEWER"}' >"$scratch/ignored"
	done
	say "Measuring autocomplete"
	completions OWNER "$owner"
	completions "MEMBER, all agents open" "$member"
	change_rows "update agent_rows set default_role_enabled = 0"
	completions "MEMBER, 5 agents of 100,000" "$member"
	stop "$pid"
}
