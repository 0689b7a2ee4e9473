# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures streamed tokens through the gateway.

# A provider that streams: start_tokens TOKENS PACE_MS; sets provider_port and provider_pid.
start_tokens() {
	provider_port=$(free_port)
	"$scratch/tokens" provider "$provider_port" "$1" "$2" &
	provider_pid=$!
	running+=("$provider_pid")
	until (exec 3<>"/dev/tcp/127.0.0.1/$provider_port") 2>/dev/null; do
		sleep 0.05
	done
}

# How long the first token takes, straight, through nginx and through Lodge at $port: first_token WHAT
first_token() {
	local round direct=() ours=() theirs=() d o t body=$scratch/stream.json

	for ((round = 0; round < rounds; round++)); do
		read -r d _ < <("$scratch/tokens" first "$provider_port" k "$body" 2000)
		read -r o _ < <("$scratch/tokens" first "$port" "$key" "$body" 2000)
		read -r t _ < <("$scratch/tokens" first "$proxy_port" k "$body" 2000)
		direct+=("$d")
		ours+=("$((o - d))")
		theirs+=("$((t - d))")
	done
	o=$(median "${ours[@]}")
	row "tokens: $1: first token, added p50" "$o us (of $(median "${direct[@]}") us)" \
		"nginx proxy_pass: $(median "${theirs[@]}") us" - '< 150 us' "$(verdict "$o" '<' 150)"
}

part_tokens() {
	local provider_port provider_pid proxy_port proxy_pid key folder=$scratch/tokens-store before
	local tokens p50 p99 longest early late expected judged

	mkdir "$folder"
	chmod 700 "$folder"
	sed 's|{"model": "MODEL"|{"stream": true, "model": "agent:bench"|' "$here/chat.json" >"$scratch/stream.json"
	start_tokens 5 0
	start_role proxy "$provider_port"
	proxy_port=$port
	proxy_pid=$pid
	start_lodge "$folder" LODGE_ALLOW_PRIVATE_ADDRESSES=true LODGE_ACCOUNTING=false
	gateway_ready "$provider_port"
	say "Measuring streams"
	first_token "accounting off"
	stop "$pid"
	start_lodge "$folder" LODGE_ALLOW_PRIVATE_ADDRESSES=true
	first_token "key, permission, budget, ledger"
	stop "$pid"
	stop "$proxy_pid"
	stop "$provider_pid"
	store_gone "$folder"
	mkdir "$folder"
	chmod 700 "$folder"
	start_tokens 100000 50
	start_lodge "$folder" LODGE_ALLOW_PRIVATE_ADDRESSES=true
	gateway_ready "$provider_port"
	before=$(ticks "$pid")
	read -r tokens p50 p99 longest early late < <("$scratch/tokens" many "$port" "$key" "$scratch/stream.json" \
		"$token_streams" "$token_seconds")
	# 20 a second for each, less what those that began within the first second lack
	expected=$(calc "$token_streams * 20 * ($token_seconds - 0.5)" %.0f)
	judged=$(verdict "$tokens >= 0.99 * $expected && $p99" '<' 50000)
	row "tokens: $token_streams at 20 tokens a second" "$tokens tokens of $expected; $(calc "($(ticks "$pid") - $before) * 1000000 / $(getconf CLK_TCK) / $tokens" %.1f) us CPU each" \
		"under way p50 $p50 us, p99 $p99 us, longest $longest us; first third $early us, last $late us" - \
		"all, p99 < 50 ms" "$judged"
	stop "$pid"
	stop "$provider_pid"
}
