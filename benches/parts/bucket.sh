# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures the bucket: reading an object beside nginx with the same file, putting one beside cp and fsync, and what many
# uploads at once hold.

bucket_object() {
	echo "http://127.0.0.1:$port/tenant/$bucket_tenant/bucket/object?key=$1"
}

bucket_put() {
	curl -fso /dev/null -T "$1" -H "Authorization: Bearer $bucket_token" "$(bucket_object "$2")"
}

part_bucket() {
	local answer

	make_store empty 1 0
	start_nginx
	start_lodge "$scratch/empty" LODGE_BUCKET_BYTES_MAX=100g
	answer=$(curl -fs -H 'Content-Type: application/json' -d '{"email":"bench@localhost","password":"a-long-password"}' \
		"http://127.0.0.1:$port/auth/login")
	[[ $answer =~ \"token\":\"([^\"]*)\" ]] || die "there is no token in $answer"
	bucket_token=${BASH_REMATCH[1]}
	[[ $answer =~ \"tenant_id\":\"([^\"]*)\" ]] || die "there is no tenant in $answer"
	bucket_tenant=${BASH_REMATCH[1]}
	head -c 1048576 /dev/urandom >"$scratch/files/object"
	bucket_put "$scratch/files/object" object
	echo "/tenant/$bucket_tenant/bucket/object?key=object $bucket_token" >"$scratch/bucket.reads"
	versus "bucket: GET of 1 MiB" "nginx, a file" 0.5 \
		"http://127.0.0.1:$port/" "$pid" "BENCH_REQUESTS=$scratch/bucket.reads" \
		"http://127.0.0.1:$nginx_port/object" "$nginx_pid" BENCH=none
	bucket_puts
	bucket_uploads
	stop "$pid"
}

# One after the other: 64 MiB, over one connection each, beside a copy that is synced, and beside that with the digest
# which every object has.
bucket_puts() {
	local round began ours=() theirs=() proven=() ratios=() proven_ratios=() ratio size=67108864

	say "Measuring PUT of 64 MiB"
	head -c "$size" /dev/urandom >"$scratch/large"
	for ((round = 0; round < rounds; round++)); do
		began=$EPOCHREALTIME
		bucket_put "$scratch/large" large
		ours+=("$(calc "$size / 1000000 / ($EPOCHREALTIME - $began)")")
		began=$EPOCHREALTIME
		dd "if=$scratch/large" "of=$scratch/empty/copy" bs=256K conv=fsync status=none
		theirs+=("$(calc "$size / 1000000 / ($EPOCHREALTIME - $began)")")
		ratios+=("$(calc "${ours[-1]} / ${theirs[-1]}")")
		openssl dgst -sha256 "$scratch/empty/copy" >/dev/null
		proven+=("$(calc "$size / 1000000 / ($EPOCHREALTIME - $began)")")
		proven_ratios+=("$(calc "${ours[-1]} / ${proven[-1]}")")
		rm "$scratch/empty/copy"
	done
	ratio=$(median "${ratios[@]}")
	row "bucket: PUT of 64 MiB" "$(calc "$(median "${ours[@]}")" %.0f) MB/s" \
		"a copy with fsync: $(calc "$(median "${theirs[@]}")" %.0f) MB/s" "$(calc "$ratio" %.2f)" '>= 0.5' \
		"$(verdict "$ratio" '>=' 0.5)"
	ratio=$(median "${proven_ratios[@]}")
	row "bucket: PUT of 64 MiB, with its digest" "$(calc "$(median "${ours[@]}")" %.0f) MB/s" \
		"a copy with fsync and openssl dgst: $(calc "$(median "${proven[@]}")" %.0f) MB/s" "$(calc "$ratio" %.2f)" '>= 0.5' \
		"$(verdict "$ratio" '>=' 0.5)"
}

# 64 at once, of 64 MiB each: what the process has more than before, at its peak.
bucket_uploads() {
	local before after i jobs=()

	say "Measuring 64 uploads at once"
	before=$(awk '/^VmRSS/ { print $2 }' "/proc/$pid/status")
	echo 5 >"/proc/$pid/clear_refs"
	for ((i = 0; i < 64; i++)); do
		bucket_put "$scratch/large" "many$((i % 4))" &
		jobs+=("$!")
	done
	wait "${jobs[@]}"
	after=$(awk '/^VmHWM/ { print $2 }' "/proc/$pid/status")
	row "bucket: 64 uploads of 64 MiB at once" "$(calc "($after - $before) / 1024" %.0f) MiB more" - - '<= 64 MiB' \
		"$(verdict "$(calc "($after - $before) / 1024")" '<=' 64)"
}
