# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures reports over the ledger.

# report WHAT QUERY TARGET_MS: one connection, and the CPU of each request.
report() {
	local round p50s=() costs=() before judged=- target=$3

	echo "${tenant}/billing/$2 $token" >"$scratch/report"
	load "http://127.0.0.1:$port/" 1 1 1 "BENCH_REQUESTS=$scratch/report" # the pages are in memory
	for ((round = 0; round < rounds; round++)); do
		before=$(ticks "$pid")
		load "http://127.0.0.1:$port/" 1 1 "$seconds" "BENCH_REQUESTS=$scratch/report"
		p50s+=("$p50")
		costs+=("$(calc "($(ticks "$pid") - $before) * 1000 / $(getconf CLK_TCK) / $requests")")
	done
	p50=$(median "${p50s[@]}")
	if [[ $target != - ]]; then
		judged=$(verdict "$p50" '<' "${target}000")
		target="< $target ms"
	fi
	row "billing: $1" "$(calc "$p50 / 1000" %.1f) ms" "$(calc "$(median "${costs[@]}")" %.1f) ms CPU" - "$target" "$judged"
}

part_billing() {
	local path token tenant from to

	make_store ledger-store 1 100
	say "Entering $ledger_rows calls"
	"$scratch/ledger" "$scratch/ledger-store/lodge.db" "$ledger_rows" 60
	start_lodge "$scratch/ledger-store"
	read -r path token <"$scratch/ledger-store.lists"
	tenant=${path%/agents}
	from=$(date -u -d '-25 days' +%Y-%m-%dT05:17:00Z)
	to=$(date -u -d '-2 days' +%Y-%m-%dT19:43:00Z)
	say "Measuring reports over $ledger_rows calls"
	report "agent-costs, 30 days" "agent-costs?period=30d" 50
	report "agent-costs, 24 hours" "agent-costs?period=24h" -
	report "agent-costs, cut within hours" "agent-costs?from=$from&to=$to" -
	report "series, days by agent" "timeseries?period=30d&bucket=day&by=agent" -
	report "series, days by model" "timeseries?period=30d&bucket=day&by=model" -
	report "series, hours of a week by agent" "timeseries?period=7d&bucket=hour&by=agent" -
	report "series, hours by model" "timeseries?period=30d&bucket=hour&by=model" -
	stop "$pid"
	store_gone "$scratch/ledger-store"
}
