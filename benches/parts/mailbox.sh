# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures a mailbox of a million messages beside one of a thousand.

# The agent whose mailbox it is: first_agent NAME.
first_agent() {
	local path

	read -r path _ <"$scratch/$1.reads"
	echo "${path##*/}"
}

# mailbox_requests NAME: its service is at $port; the last page is the oldest messages, a newest-first list's end.
mailbox_requests() {
	local name=$1 agent token

	read -r _ token <"$scratch/$name.lists"
	agent=$(first_agent "$name")
	echo "/agents/$agent/mail?total=false $token" >"$scratch/$name.first"
	echo "/agents/$agent/mail?total=false&after=$(printf 'c%024d' 50) $token" >"$scratch/$name.last"
	echo "/agents/$agent/mail/threads?total=false $token" >"$scratch/$name.threads"
	echo "/agents/$agent/mail/$(printf 'c%024d' 500) $token" >"$scratch/$name.one"
}

# fill_mailbox NAME MESSAGES
fill_mailbox() {
	make_store "$1" 1 1
	start_lodge "$scratch/$1"
	call POST /admin/mail/heal "$(curl -fs -H 'Content-Type: application/json' "http://127.0.0.1:$port/auth/login" \
		-d '{"email":"bench@localhost","password":"a-long-password"}' | field token)" '{}' >"$scratch/ignored"
	stop "$pid"
	sqlite3 "$scratch/$1/lodge.db" "pragma synchronous = off; create temp table how_many as select $2 as n, '$(first_agent "$1")' as agent_id; $(cat "$here/mailbox.sql")" >/dev/null
}

part_mailbox() {
	local few_pid smaller larger scale_seconds=$(((seconds + 1) / 2))

	fill_mailbox thousand 1000
	fill_mailbox million 1000000
	start_lodge "$scratch/thousand"
	few_pid=$pid
	smaller=(thousand "$port" "1,000 messages")
	mailbox_requests thousand
	start_lodge "$scratch/million"
	larger=(million "$port" "1,000,000")
	mailbox_requests million
	say "Measuring mailboxes"
	growth "mailbox: messages, first page" first 1 1.2
	growth "mailbox: messages, last page" last 1 1.2
	growth "mailbox: threads, first page" threads 1 1.2
	growth "mailbox: one message" one 1 1.2
	stop "$few_pid"
	stop "$pid"
}
