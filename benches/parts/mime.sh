# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures lodge-mime: messages of 10 KB one after the other, a process each, and one with an attachment of 25 MB; and what a
# process of them holds in memory at most.

part_mime() {
	local round us small=() large=() held_small=() held_large=() one two three four

	say "Measuring mime"
	compile_inside mime
	for ((round = 0; round < rounds; round++)); do
		read -r one two three four < <("$scratch/mime" "$lodge-mime" 100)
		small+=("$one")
		held_small+=("$two")
		large+=("$three")
		held_large+=("$four")
	done
	us=$(median "${small[@]}")
	row "mime: messages of 10 KB, one process each" "$(calc "1000000 / $us" %.0f)/s" - - - -
	row "mime: the most a process holds for one" "$(calc "$(median "${held_small[@]}") / 1024" %.1f) MiB" - - - -
	us=$(median "${large[@]}")
	row "mime: a message with an attachment of 25 MB" "$(calc "$us / 1000" %.0f) ms" - - - -
	row "mime: the most a process holds for it" "$(calc "$(median "${held_large[@]}") / 1024" %.0f) MiB" - - - -
}
