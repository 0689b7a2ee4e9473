# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures the bare reply of a listener.

part_bare() {
	make_store empty 1 0
	start_nginx
	start_lodge "$scratch/empty"
	curl -fso "$scratch/files/healthz" "http://127.0.0.1:$port/healthz"
	versus "bare: GET /healthz" "nginx, a file" 1.3 \
		"http://127.0.0.1:$port/healthz" "$pid" BENCH=none \
		"http://127.0.0.1:$nginx_port/healthz" "$nginx_pid" BENCH=none
	stop "$pid"
}
