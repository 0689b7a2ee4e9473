# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures the queue.

part_queue() {
	local round raw=() add=() run=() add_deep=() run_deep=() first=() figures ratio=() deep=()

	compile_inside queue
	say "Measuring the queue"
	for ((round = 0; round < rounds; round++)); do
		mkdir "$scratch/queue-$round"
		store_load "$scratch/queue-$round"
		read -r -a figures < <("$scratch/queue" "$(store_url "$scratch/queue-$round")" "$queue_jobs" 100000)
		store_gone "$scratch/queue-$round"
		raw+=("${figures[0]}")
		add+=("${figures[1]}")
		run+=("${figures[2]}")
		add_deep+=("${figures[3]}")
		run_deep+=("${figures[4]}")
		first+=("${figures[5]}")
		ratio+=("$(calc "${figures[1]} / ${figures[0]}")")
		deep+=("$(calc "${figures[3]} / ${figures[0]}")")
	done
	row "queue: jobs added" "$(median "${add[@]}") a second" \
		"raw inserts of the row: $(median "${raw[@]}")" "$(calc "$(median "${ratio[@]}")" %.2f)" - -
	row "queue: added, 100,000 waiting" "$(median "${add_deep[@]}") a second" \
		"raw inserts of the row: $(median "${raw[@]}")" "$(calc "$(median "${deep[@]}")" %.2f)" \
		'> 10000' "$(verdict "$(median "${add_deep[@]}")" '>' 10000)"
	row "queue: taken and finished" "$(median "${run[@]}") a second" - - \
		'> 2000' "$(verdict "$(median "${run[@]}")" '>' 2000)"
	row "queue: the same, 100,000 waiting" "$(median "${run_deep[@]}") a second" - - \
		'> 2000' "$(verdict "$(median "${run_deep[@]}")" '>' 2000)"
	row "queue: another tenant's first job among them" "$(median "${first[@]}") ms" - - - -
}
