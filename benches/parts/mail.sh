# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures mail that comes in: letters of 10 KB taken durably on 16 connections, beside a bare loop that syncs the same
# bytes and commits as many rows.  On PostgreSQL too the loop writes into SQLite.

part_mail() {
	local round answer token agent count us ours=() theirs=() ratios=() ratio

	say "Measuring mail that comes in"
	make_store empty 1 0
	store_sql "$scratch/empty" 'update tenants set external_mail_enabled = 1' >/dev/null
	start_lodge "$scratch/empty" LODGE_BUCKET_BYTES_MAX=100g LODGE_MAIL_DOMAIN=mail.example.org "LODGE_LMTP_LISTEN=unix:$scratch/lmtp"
	answer=$(curl -fs -H 'Content-Type: application/json' -d '{"email":"bench@localhost","password":"a-long-password"}' \
		"http://127.0.0.1:$port/auth/login")
	token=$(field token <<<"$answer")
	[[ $answer =~ \"tenant_id\":\"([^\"]*)\" ]] || die "there is no tenant in $answer"
	agent=$(call POST "/tenant/${BASH_REMATCH[1]}/agents" "$token" '{"name":"Desk","slug":"mail-desk"}')
	[[ $agent =~ \"id\":\"([^\"]*)\" ]] || die "there is no agent in $agent"
	agent=${BASH_REMATCH[1]}
	call PATCH "/agents/$agent" "$token" '{"external_mail_enabled":true}' >/dev/null
	answer=$(call GET "/agents/$agent/mailboxes" "$token")
	[[ $answer =~ \"address\":\"([^\"]*@[^\"]*mail.example.org)\" ]] || die "there is no address in $answer"
	for ((round = 0; round < rounds; round++)); do
		read -r count us < <("$scratch/mail" send "$scratch/lmtp" "${BASH_REMATCH[1]}" 16 "$seconds")
		ours+=("$(calc "$count * 1000000 / $us")")
		mkdir "$scratch/letters"
		read -r count us < <("$scratch/mail" bare "$scratch/letters" 16 "$seconds")
		theirs+=("$(calc "$count * 1000000 / $us")")
		rm -r "$scratch/letters"
		ratios+=("$(calc "${ours[-1]} / ${theirs[-1]}")")
	done
	ratio=$(median "${ratios[@]}")
	row "mail: letters of 10 KB taken, 16 connections" "$(calc "$(median "${ours[@]}")" %.0f)/s" \
		"bare loop, bytes and rows: $(calc "$(median "${theirs[@]}")" %.0f)/s" "$(calc "$ratio" %.2f)" '>= 0.5' \
		"$(verdict "$ratio" '>=' 0.5)"
	stop "$pid"
}
