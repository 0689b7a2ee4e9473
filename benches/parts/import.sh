# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures imports of agents.

part_import() {
	local raw import ratio

	compile_inside import
	say "Measuring imports"
	mkdir "$scratch/imported"
	store_load "$scratch/imported"
	read -r raw import < <("$scratch/import" "$(store_url "$scratch/imported")" 10000 "$rounds")
	store_gone "$scratch/imported"
	ratio=$(calc "$import / $raw")
	row "import: messages of a bundle of 10,000" "$import a second" "raw inserts of the rows: $raw" \
		"$(calc "$ratio" %.2f)" '>= 0.3' "$(verdict "$ratio" '>=' 0.3)"
}
