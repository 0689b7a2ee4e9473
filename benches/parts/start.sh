# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures starting.

part_start() {
	local all us at

	make_store some 100 100000
	store_load "$scratch/some"
	say "Measuring start"
	at=$(free_port)
	mapfile -t all < <("$scratch/start" "$starts" "$at" /healthz "$lodge" serve "--listen=127.0.0.1:$at" \
		"--data=$scratch/some" "--store=$(store_url "$scratch/some")" --no-access-log)
	if ((${#all[@]} != starts)); then
		die "Lodge did not start $starts times"
	fi
	us=$(median "${all[@]}")
	row "start: exec to first 200" "$(calc "$us / 1000" %.1f) ms" - - '< 20 ms' "$(verdict "$us" '<' 20000)"
}
