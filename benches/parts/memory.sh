# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures memory.

part_memory() {
	local before after path token each idle_pid

	make_store some 100 100000
	say "Measuring memory"
	start_lodge "$scratch/some"
	sleep 1
	before=$(memory "$pid" Rss)
	row "memory: idle after start" "$(calc "$before / 1024" %.1f) MB RSS" \
		"$(calc "$(memory "$pid" Pss) / 1024" %.1f) MB PSS" - '< 15 MB' "$(verdict "$before" '<' 15360)"
	read -r path token <"$scratch/some.reads"
	load "http://127.0.0.1:$port/" 2 64 1 "BENCH_REQUESTS=$scratch/some.reads"
	sleep 1
	before=$(memory "$pid" Pss)
	mkfifo "$scratch/hold"
	"$scratch/idle" "$port" "$idle_connections" "$path" "$token" <"$scratch/hold" >"$scratch/idle.out" &
	idle_pid=$!
	exec 9>"$scratch/hold"
	while ! grep -q resting "$scratch/idle.out"; do
		kill -0 "$idle_pid" 2>/dev/null || die "the idle connections could not be made"
		sleep 0.1
	done
	after=$(memory "$pid" Pss)
	exec 9>&-
	wait "$idle_pid" || die "idle connections were closed"
	each=$(calc "($after - $before) / $idle_connections")
	row "memory: an idle connection" "$(calc "$each" %.2f) kB of $idle_connections" \
		- - '< 4 kB' "$(verdict "$each" '<' 4)"
	stop "$pid"
}
