# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./bench
# Measures the super administrator's rosters.

# What the super administrator asks of a store: roster_requests NAME; its service is at $port.
roster_requests() {
	local name=$1 token pages table

	token=$(curl -fs -H 'Content-Type: application/json' "http://127.0.0.1:$port/auth/login" \
		-d '{"email":"bench@localhost","password":"a-long-password"}' | sed 's/^{"token":"\([^"]*\)".*/\1/')
	for table in tenants users; do # of those with a whole page after them
		store_sql "$scratch/$name" "select id from (select id from $table order by id desc
			limit (select count(*) - 51 from $table)) x order by random() limit 1000" >"$scratch/$name.$table"
	done
	pages=$(store_sql "$scratch/$name" 'select count(*) / 50 + 1 from tenants')
	echo "/admin/tenants?total=false $token" >"$scratch/$name.first"
	echo "/admin/tenants $token" >"$scratch/$name.total"
	echo "/admin/tenants?total=false&page=$pages $token" >"$scratch/$name.page"
	sed "s|.*|/admin/tenants?total=false\&after=& $token|" "$scratch/$name.tenants" >"$scratch/$name.deep"
	sed "s|.*|/admin/tenants/& $token|" "$scratch/$name.tenants" >"$scratch/$name.detail"
	echo "/admin/users?total=false $token" >"$scratch/$name.users_first"
	echo "/admin/users $token" >"$scratch/$name.users_total"
	sed "s|.*|/admin/users?total=false\&after=& $token|" "$scratch/$name.users" >"$scratch/$name.users_deep"
}

part_rosters() {
	local name few_pid smaller larger scale_seconds=$(((seconds + 1) / 2))

	make_store few 100 300
	make_store many 10000 30000
	for name in few many; do
		sqlite3 "$scratch/$name/lodge.db" <"$here/rosters.sql" >/dev/null
	done
	start_lodge "$scratch/few"
	few_pid=$pid
	smaller=(few "$port" "100 tenants")
	roster_requests few
	start_lodge "$scratch/many"
	larger=(many "$port" "10,000")
	roster_requests many
	say "Measuring rosters"
	growth "rosters: tenants, first page" first 1 1.2
	growth "rosters: tenants, after an id" deep 1 1.2
	growth "rosters: tenants, first page and total" total 1 -
	growth "rosters: tenants, last page by number" page 1 -
	growth "rosters: a tenant, 30 days" detail 1 1.2
	growth "rosters: users, first page" users_first 1 1.2
	growth "rosters: users, after an id" users_deep 1 1.2
	growth "rosters: users, first page and total" users_total 1 -
	stop "$few_pid"
	stop "$pid"
}
