# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures deciding a permission.

part_permission() {
	local round remembered=() afresh=() one two times=20

	make_store some 100 100000
	if [[ $store == postgres ]]; then # each of them asks the server
		times=2
	fi
	say "Measuring permission"
	compile_inside permit
	store_load "$scratch/some"
	for ((round = 0; round < rounds; round++)); do
		read -r one two < <("$scratch/permit" "$(store_url "$scratch/some")" "$scratch/some.reads" "$times")
		remembered+=("$one")
		afresh+=("$two")
	done
	one=$(median "${remembered[@]}")
	two=$(median "${afresh[@]}")
	row "permission: a decision" "$(calc "$one" %.2f) us" - - '< 5 us' "$(verdict "$one" '<' 5)"
	row "permission: nothing remembered" "$(calc "$two" %.2f) us" - - - -
}
