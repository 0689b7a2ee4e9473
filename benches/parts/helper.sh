# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures lodge-helper.

part_helper() {
	local round heads=() archives=() one two

	say "Measuring helper"
	compile_inside helper
	for ((round = 0; round < rounds; round++)); do
		read -r one two < <("$scratch/helper" "$lodge-helper" 50)
		heads+=("$one")
		archives+=("$two")
	done
	one=$(median "${heads[@]}")
	two=$(median "${archives[@]}")
	row "helper: start, a head, end" "$(calc "$one / 1000" %.2f) ms" - - '< 5 ms' "$(verdict "$one" '<' 5000)"
	row "helper: an archive of 8 MiB" "$(calc "$two / 1000" %.1f) ms" - - - -
}
