# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures reading one agent.

part_read() {
	local path token

	make_store some 100 100000
	start_nginx
	start_lodge "$scratch/some"
	read -r path token <"$scratch/some.reads"
	curl -fso "$scratch/files/agent" -H "Authorization: Bearer $token" "http://127.0.0.1:$port$path"
	say "An agent is $(stat -c %s "$scratch/files/agent") bytes"
	sed 's|^[^ ]*|/agent|' "$scratch/some.reads" >"$scratch/nginx.reads"
	versus "read: GET /agents/{id}" "nginx, a file" "$([[ $store == sqlite ]] && echo 0.45 || echo -)" \
		"http://127.0.0.1:$port/" "$pid" "BENCH_REQUESTS=$scratch/some.reads" \
		"http://127.0.0.1:$nginx_port/" "$nginx_pid" "BENCH_REQUESTS=$scratch/nginx.reads"
	if [[ $store == postgres ]]; then
		read_beside_pgbench
	fi
	stop "$pid"
}

# One row by its key, prepared, each in a transaction of its own: what the server can do with nobody before it.
read_beside_pgbench() {
	local round connections ours theirs ratios out our_p50s their_p50s ratio bin
	local database=${cluster_url%/*}/pgbench

	bin=$(find /usr/lib/postgresql -mindepth 2 -maxdepth 2 -name bin | sort -V | tail -n 1)
	psql -Xq "$cluster_url" -c 'create database pgbench'
	"$bin/pgbench" -q -i -s 10 "$database" >"$scratch/pgbench.out" 2>&1
	for connections in 64 2; do
		say "Measuring reads beside pgbench, $connections connections"
		ours=() theirs=() ratios=() our_p50s=() their_p50s=()
		for ((round = 0; round < rounds; round++)); do
			load "http://127.0.0.1:$port/" 2 "$connections" "$seconds" "BENCH_REQUESTS=$scratch/some.reads"
			ours+=("$(calc "$requests * 1000000 / $took")")
			our_p50s+=("$p50")
			out=$("$bin/pgbench" -n -S -M prepared -c "$connections" -j 2 -T "$seconds" "$database" 2>&1)
			theirs+=("$(sed -n 's/^tps = \([0-9.]*\).*/\1/p' <<<"$out")")
			their_p50s+=("$(sed -n 's/^latency average = \([0-9.]*\) ms/\1/p' <<<"$out" | awk '{ print $1 * 1000 }')")
			ratios+=("$(calc "${ours[-1]} / ${theirs[-1]}")")
		done
		ratio=$(median "${ratios[@]}")
		row "read: GET /agents/{id}, $connections connections" "$(calc "$(median "${ours[@]}")" %.0f)/s" \
			"pgbench -S -M prepared: $(calc "$(median "${theirs[@]}")" %.0f)/s" "$(calc "$ratio" %.2f)" \
			"$([[ $connections == 64 ]] && echo '>= 0.5' || echo -)" \
			"$([[ $connections == 64 ]] && verdict "$ratio" '>=' 0.5 || echo -)"
		ratio=$(calc "$(median "${our_p50s[@]}") / $(median "${their_p50s[@]}")")
		row "read: p50, $connections connections" "$(calc "$(median "${our_p50s[@]}")" %.0f) us" \
			"pgbench, on average: $(calc "$(median "${their_p50s[@]}")" %.0f) us" "$(calc "$ratio" %.2f)" \
			"$([[ $connections == 2 ]] && echo '<= 4' || echo -)" \
			"$([[ $connections == 2 ]] && verdict "$ratio" '<=' 4 || echo -)"
	done
}
