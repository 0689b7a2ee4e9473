# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures a million agents.

part_scale() {
	local small_pid connections kind smaller larger scale_seconds=$(((seconds + 1) / 2))

	make_store small 1 1000
	make_store large 1000 1000000
	start_lodge "$scratch/small"
	smaller=(small "$port" "1,000")
	small_pid=$pid
	start_lodge "$scratch/large"
	larger=(large "$port" "1,000,000")
	say "Measuring scale"
	for kind in reads lists; do # both files are in memory, and every key's last use is noted
		load "http://127.0.0.1:${smaller[1]}/" 1 4 1 "BENCH_REQUESTS=$scratch/small.$kind"
		load "http://127.0.0.1:$port/" 1 4 3 "BENCH_REQUESTS=$scratch/large.$kind"
	done
	for connections in 1 4; do
		growth "scale: read" reads "$connections" 1.2
		growth "scale: list of 50" lists "$connections" 1.2
	done
	stop "$small_pid"
	stop "$pid"
}
