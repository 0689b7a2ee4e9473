# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures repositories: a clone of 50 MB beside git http-backend behind nginx, 15,000 refs, the provenance of a file in 20,000
# commits, and how many repositories are made in a second.

plain_git() {
	env -i PATH="$PATH" HOME=/nonexistent GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0 GIT_AUTHOR_NAME=B GIT_AUTHOR_EMAIL=b@localhost \
		GIT_COMMITTER_NAME=B GIT_COMMITTER_EMAIL=b@localhost git "$@"
}

# The folder of the repository that line N of the agents has: repo_folder N.
repo_folder() {
	local agent

	agent=$(sed -n "$1s|^/agents/\([^ ]*\) .*|\1|p" "$scratch/repos.reads")
	echo "$scratch/repos/repositories/$(store_sql "$scratch/repos" "select id from repositories where agent_id = '$agent'").git"
}

# Makes the repository of line N of the agents: repo_made N; sets place and token.
repo_made() {
	read -r place token < <(sed -n "$1p" "$scratch/repos.reads")
	call POST "${place/#/$tenant_path}/repo" "$token" >/dev/null
}

# Seconds that a clone takes: cloned URL
cloned() {
	local began=$EPOCHREALTIME

	plain_git clone -q --bare "$1" "$scratch/clone"
	calc "$EPOCHREALTIME - $began"
	rm -rf "$scratch/clone"
}

# CPU time so far of these processes, their children, and all that those have begun and seen the end of, in ticks: spent PID...
spent() {
	local process all=0 stat parents

	parents=$(IFS=, && echo "$*")
	for process in "$@" $(pgrep -P "$parents" || true); do
		stat=$(<"/proc/$process/stat")
		read -r -a stat <<<"${stat##*) }"
		all=$((all + stat[11] + stat[12] + stat[13] + stat[14]))
	done
	echo "$all"
}

# Starts git http-backend behind nginx over $scratch/rival; sets rival_port and rival_pids.
start_rival() {
	rival_port=$(free_port)
	mkdir -p "$scratch/temp"
	chmod 755 "$scratch" "$scratch/rival"
	PATH=$PATH:/usr/sbin fcgiwrap -c 4 -s "unix:$scratch/git.sock" >"$scratch/fcgi.out" 2>&1 &
	running+=("$!")
	rival_pids=("$!")
	sed "s|FOLDER|$scratch|g; s|PORT|$rival_port|g" "$here/git.conf" >"$scratch/git.conf"
	until [[ -S $scratch/git.sock ]]; do sleep 0.05; done
	chmod 777 "$scratch/git.sock"
	PATH=$PATH:/usr/sbin nginx -p "$scratch" -c "$scratch/git.conf" >"$scratch/git-nginx.out" 2>&1 &
	running+=("$!")
	rival_pids+=("$!")
	await "http://127.0.0.1:$rival_port/one.git/info/refs?service=git-upload-pack" "$scratch/git-nginx.log"
}

measure_clone() {
	local round i folder url ours=() theirs=() ratios=() ratio began costs

	say "Measuring a clone of 50 MB"
	repo_made 1
	folder=$(repo_folder 1)
	url=$(call GET "$tenant_path$place" "$token" | field repo_url)
	plain_git init -q --initial-branch=main "$scratch/work"
	for ((i = 0; i < 200; i++)); do
		head -c 250000 /dev/urandom >"$scratch/work/file-$i"
	done
	plain_git -C "$scratch/work" add -A
	plain_git -C "$scratch/work" commit -qm many
	plain_git -C "$scratch/work" push -q "http://b:$token@127.0.0.1:$port/git/${url##*/git/}" main:many
	mkdir "$scratch/rival"
	cp -r "$folder" "$scratch/rival/one.git"
	touch "$scratch/rival/one.git/git-daemon-export-ok"
	start_rival
	cloned "http://b:$token@127.0.0.1:$port/git/${url##*/git/}" >/dev/null
	cloned "http://127.0.0.1:$rival_port/one.git" >/dev/null
	began=("$(spent "$pid")" "$(spent "${rival_pids[@]}")")
	for ((round = 0; round < rounds; round++)); do
		ours+=("$(cloned "http://b:$token@127.0.0.1:$port/git/${url##*/git/}")")
		theirs+=("$(cloned "http://127.0.0.1:$rival_port/one.git")")
		ratios+=("$(calc "${theirs[-1]} / ${ours[-1]}")")
	done
	ratio=$(median "${ratios[@]}")
	row "git: clone of 50 MB" "$(calc "50 / $(median "${ours[@]}")" %.0f) MB/s" \
		"git http-backend behind nginx: $(calc "50 / $(median "${theirs[@]}")" %.0f) MB/s" "$(calc "$ratio" %.2f)" '>= 0.8' \
		"$(verdict "$ratio" '>=' 0.8)"
	costs=("$(calc "($(spent "$pid") - ${began[0]}) * 1000 / $(getconf CLK_TCK) / $rounds")"
		"$(calc "($(spent "${rival_pids[@]}") - ${began[1]}) * 1000 / $(getconf CLK_TCK) / $rounds")")
	row "git: clone of 50 MB: CPU of the server" "$(calc "${costs[0]}" %.0f) ms" "${costs[1]%.*} ms" \
		"$(calc "${costs[0]} / ${costs[1]}" %.2f)" - -
}

# One request again and again on one connection: answered PATH TOKEN; sets p50 (us).
answered() {
	echo "$1 $2" >"$scratch/one.request"
	load "http://127.0.0.1:$port/" 1 1 "$seconds" "BENCH_REQUESTS=$scratch/one.request"
}

measure_refs() {
	local folder tip

	say "Measuring 15,000 refs"
	repo_made 2
	folder=$(repo_folder 2)
	tip=$(plain_git -C "$folder" rev-parse main)
	seq 15000 | sed "s|.*|create refs/heads/topic/& $tip|" | plain_git -C "$folder" update-ref --stdin
	answered "$tenant_path$place/repo/refs" "$token"
	row 'git: 15,000 refs, as pushed, p50' "$(calc "$p50 / 1000" %.1f) ms" - - '< 100 ms' "$(verdict "$p50" '<' 100000)"
	plain_git -C "$folder" pack-refs --all
	answered "$tenant_path$place/repo/refs" "$token"
	row 'git: 15,000 refs, packed, p50' "$(calc "$p50 / 1000" %.1f) ms" - - '< 100 ms' "$(verdict "$p50" '<' 100000)"
}

measure_provenance() {
	local folder i times=()

	say "Measuring the provenance of a file in 20,000 commits"
	repo_made 3
	folder=$(repo_folder 3)
	awk 'BEGIN {
		for (i = 1; i <= 20000; i++) {
			printf "commit refs/heads/main\ncommitter B <b@localhost> %d +0000\ndata 2\nx\n", 1700000000 + i
			if (i == 1) print "from refs/heads/main^0"
			prompt = i % 150 == 1
			text = "text " i
			printf "M 100644 inline %s\ndata %d\n%s\n", prompt ? "prompts/description_prompt.md" : "src/file-" i % 500, length(text), text
		}
	}' | plain_git -C "$folder" fast-import --quiet
	plain_git -C "$folder" repack -adq
	plain_git -C "$folder" commit-graph write --reachable --changed-paths
	# After a commit nothing of the history is in memory.
	for ((i = 0; i < rounds; i++)); do
		printf 'commit refs/heads/main\ncommitter B <b@localhost> %d +0000\ndata 2\nx\nfrom refs/heads/main^0\nM 100644 inline src/file\ndata 1\n%d\n' \
			"$((1700100000 + i))" "$((i % 10))" | plain_git -C "$folder" fast-import --quiet
		times+=("$(curl -fsS -o /dev/null -w '%{time_total}' -H "Authorization: Bearer $token" "http://127.0.0.1:$port$tenant_path$place/prompt-provenance")")
	done
	row 'git: provenance in 20,000 commits, after a commit' "$(calc "$(median "${times[@]}") * 1000" %.0f) ms" - - '< 50 ms' \
		"$(verdict "$(median "${times[@]}")" '<' 0.05)"
	answered "$tenant_path$place/prompt-provenance" "$token"
	row 'git: provenance in 20,000 commits, p50' "$(calc "$p50 / 1000" %.1f) ms" - - '< 50 ms' "$(verdict "$p50" '<' 50000)"
}

# Each agent once: what is asked for twice is 409, and an error of the bench.
measure_making() {
	local rate

	say "Measuring how repositories are made"
	sed "1,10!d; s| .*||" "$scratch/repos.reads" >"$scratch/repos.had"
	sort -u "$scratch/repos.reads" | grep -vFf "$scratch/repos.had" | sed "s|^|$tenant_path|; s| |/repo |" >"$scratch/repos.made"
	load "http://127.0.0.1:$port/" 2 16 "$seconds" "BENCH_ONCE=$scratch/repos.made"
	rate=$(calc "$requests * 1000000 / $took" %.0f)
	row 'git: repositories made, 16 connections' "$rate/s" "p50 $(calc "$p50 / 1000" %.0f) ms, p99 $(calc "$p99 / 1000" %.0f) ms" - '>= 100/s' \
		"$(verdict "$rate" '>=' 100)"
}

part_git() {
	local place token tenant_path rival_port rival_pids

	make_store repos 1 5000
	start_lodge "$scratch/repos"
	read -r tenant_path _ <"$scratch/repos.lists"
	tenant_path=${tenant_path%/agents}
	measure_clone
	measure_refs
	measure_provenance
	measure_making
	stop "$pid"
}
