# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures creating agents.

part_create() {
	make_store empty 1 0
	create "create: POST .../agents" BENCH=none
	if [[ $store == sqlite ]]; then # elsewhere it is the server that syncs
		create "create, fsync + 1 ms" "LD_PRELOAD=$scratch/slowsync.so"
	fi
}
