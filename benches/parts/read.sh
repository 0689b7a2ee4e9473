# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures reading one agent.

part_read() {
	local path token

	make_store some 100 100000
	start_nginx
	start_lodge "$scratch/some"
	read -r path token <"$scratch/some.reads"
	curl -fso "$scratch/files/agent" -H "Authorization: Bearer $token" "http://127.0.0.1:$port$path"
	say "An agent is $(stat -c %s "$scratch/files/agent") bytes"
	sed 's|^[^ ]*|/agent|' "$scratch/some.reads" >"$scratch/nginx.reads"
	versus "read: GET /agents/{id}" "nginx, a file" 0.45 \
		"http://127.0.0.1:$port/" "$pid" "BENCH_REQUESTS=$scratch/some.reads" \
		"http://127.0.0.1:$nginx_port/" "$nginx_pid" "BENCH_REQUESTS=$scratch/nginx.reads"
	stop "$pid"
}
