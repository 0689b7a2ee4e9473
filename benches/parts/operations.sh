# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures what the commonest operations cost.

# operation WHAT FILE [VARIABLE=VALUE...]: one row of the cost table.  FILE is what make_requests wrote.
operation() {
	local what=$1 kind=$2 round size p50s rates costs figures=() medians=() setting=("${@:3}")

	for size in small large; do
		p50s=() rates=() costs=()
		for ((round = 0; round < 3; round++)); do
			firsts=$((firsts + 1000000))
			side "http://127.0.0.1:${ports[$size]}/" "${pids[$size]}" "$scale_seconds" \
				"${kind/SIZE/$size}" "BENCH_FIRST=$firsts" "${setting[@]}"
			rates+=("$rate")
			costs+=("$cost")
			firsts=$((firsts + 1000000))
			load "http://127.0.0.1:${ports[$size]}/" 1 1 "$scale_seconds" \
				"${kind/SIZE/$size}" "BENCH_FIRST=$firsts" "${setting[@]}"
			p50s+=("$p50")
		done
		medians+=("$(median "${p50s[@]}")")
		figures+=("$(calc "${medians[-1]}" %.0f) us, $(calc "$(median "${costs[@]}")" %.1f) us CPU, $(calc "$(median "${rates[@]}")" %.0f)/s")
	done
	row "operations: $what" "${figures[1]} at 1,000,000" "${figures[0]} at 1,000" \
		"$(calc "${medians[1]} / ${medians[0]}" %.2f)" - -
}

# The lines of requests that are made from those of the seed: make_requests SIZE.
make_requests() {
	local base=$scratch/$1

	sed 's| |/default-role |' "$base.reads" >"$base.defaults"
	sed 's| |?q=desk+000 |' "$base.lists" >"$base.searches"
	sed 's|/agents |/autocomplete?q=su |' "$base.lists" >"$base.completions"
	sed 's|/agents |/members |' "$base.lists" >"$base.members"
	sed 's|/agents |/audit-logs |' "$base.lists" >"$base.audits"
	sed 's|^[^ ]*|/me|' "$base.lists" >"$base.mes"
	head -n 1 "$base.lists" >"$base.first"
}

part_operations() {
	local scale_seconds=$(((seconds + 1) / 2)) size kind firsts=0
	local -A ports=() pids=()

	make_store small 1 1000
	make_store large 1000 1000000
	for size in small large; do
		store_twin "$scratch/$size" "$scratch/$size-copy" # it is written to
		start_lodge "$scratch/$size-copy"
		ports[$size]=$port
		pids[$size]=$pid
		make_requests "$size"
	done
	say "Measuring operations"
	for size in small large; do
		for kind in reads lists; do # the files are in memory, and every key's last use is noted
			load "http://127.0.0.1:${ports[$size]}/" 1 4 2 "BENCH_REQUESTS=$scratch/$size.$kind"
		done
	done
	operation "read an agent" "BENCH_REQUESTS=$scratch/SIZE.reads"
	operation "list 50 agents" "BENCH_REQUESTS=$scratch/SIZE.lists"
	operation "search agents" "BENCH_REQUESTS=$scratch/SIZE.searches"
	operation "autocomplete" "BENCH_REQUESTS=$scratch/SIZE.completions"
	operation "read me" "BENCH_REQUESTS=$scratch/SIZE.mes"
	operation "list members" "BENCH_REQUESTS=$scratch/SIZE.members"
	operation "read a default role" "BENCH_REQUESTS=$scratch/SIZE.defaults"
	operation "update an agent" "BENCH_REQUESTS=$scratch/SIZE.reads" 'BENCH_PATCH={"voice":"NUMBER"}'
	operation "list 50 of the audit log" "BENCH_REQUESTS=$scratch/SIZE.audits"
	operation "create an agent" "BENCH_LINE=$scratch/SIZE.first" "BENCH_BODY=$here/agent.json"
	for size in small large; do
		stop "${pids[$size]}"
		store_gone "$scratch/$size-copy"
	done
}
