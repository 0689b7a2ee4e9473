# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures a sweep over repositories of another host that have not moved.

part_mirrors() {
	local used took count=10000

	if [[ $store != sqlite ]]; then
		return
	fi
	say "Measuring mirrors"
	if ((seconds < 4)); then
		count=2000
	fi
	mkdir -p "$scratch/mirrors"
	read -r used took < <(node "$here/mirrors.mjs" "$lodge" "$scratch/mirrors" "$count")
	row "mirrors: a sweep over $count that have not moved" "$used ms of processor in $(calc "$took / 1000" %.0f) s" - - \
		'< 2 s for 10,000' "$(verdict "$used * 10000 / $count" '<' 2000)"
}
