-- wrk.lua - what wrk sends, and the one line of figures that ./bench reads.
--
-- BENCH_REQUESTS names a file of lines "PATH TOKEN": each request is one of them, at random, all
-- put together before the run.  BENCH_CREATE is one such line, and BENCH_LINE a
-- file of one: each request makes an agent there.
-- BENCH_PATCH is a body: the requests of the file are PATCH with it, NUMBER being another number each
-- time.  BENCH_HOOK is "PATH SIGNATURE RUN": each request is the event in BENCH_BODY with an id of its own,
-- also among those of other runs.
-- BENCH_ONCE is a file like the first: each line is POST, once, in turn.
-- BENCH_FIRST is where the numbers begin.  BENCH_PORTKEY has that gateway call this address.  With none of
-- these, wrk sends its address again and again.

local list, create = os.getenv("BENCH_REQUESTS"), os.getenv("BENCH_CREATE")
if os.getenv("BENCH_LINE") then
	create = io.open(os.getenv("BENCH_LINE")):read("*l")
end
local patch, first = os.getenv("BENCH_PATCH"), tonumber(os.getenv("BENCH_FIRST") or "0")
local hook = os.getenv("BENCH_HOOK")
local threads = 0

function setup(thread)
	thread:set("number", threads)
	threads = threads + 1
end

local portkey = os.getenv("BENCH_PORTKEY")

local function headers(token)
	return { ["x-portkey-provider"] = portkey and "openai" or nil, ["x-portkey-custom-host"] = portkey,
		 ["Authorization"] = "Bearer " .. token, ["Content-Type"] = (create or patch) and "application/json" or nil }
end

if list and patch then
	local lines, made = {}, first

	function init()
		math.randomseed(number + 1)
		for line in io.lines(list) do
			local path, token = line:match("^(%S+) (%S+)$")
			lines[#lines + 1] = { path, headers(token) }
		end
	end

	function request()
		local line = lines[math.random(#lines)]
		made = made + 1
		return wrk.format("PATCH", line[1], line[2], (patch:gsub("NUMBER", made)))
	end
elseif list then
	local ready = {}

	function init()
		math.randomseed(number + 1)
		for line in io.lines(list) do
			local path, token = line:match("^(%S+) (%S+)$")
			ready[#ready + 1] = wrk.format("GET", path, headers(token))
		end
	end

	function request()
		return ready[math.random(#ready)]
	end
elseif os.getenv("BENCH_ONCE") then
	local lines, at = {}, 0

	function init()
		for line in io.lines(os.getenv("BENCH_ONCE")) do
			lines[#lines + 1] = line
		end
	end

	function request()
		local path, token = lines[(2 * at + number) % #lines + 1]:match("^(%S+) (%S+)$")
		at = at + 1
		return wrk.format("POST", path, headers(token))
	end
elseif hook then
	local path, signature, run = hook:match("^(%S+) (%S+) (%S+)$")
	local text = io.open(os.getenv("BENCH_BODY")):read("*a")
	local made = first

	run = run .. io.open("/proc/sys/kernel/random/uuid"):read("*l")

	function request()
		made = made + 1
		return wrk.format("POST", path, { ["Content-Type"] = "application/json", ["X-GitHub-Event"] = "push",
			["User-Agent"] = "GitHub-Hookshot/044aadd", ["X-Hub-Signature-256"] = signature,
			["X-GitHub-Delivery"] = string.format("%s-%d-%d", run, number, made) }, text)
	end
elseif create then
	local path, token = create:match("^(%S+) (%S+)$")
	local text = io.open(os.getenv("BENCH_BODY")):read("*a")
	local before, after = text:match("^(.*)NUMBER(.*)$")
	local made = first

	function request()
		made = made + 1
		return wrk.format("POST", path, headers(token),
			before .. string.format("%d%09d", number, made) .. after)
	end
end

function done(summary, latency)
	local e = summary.errors

	io.write(string.format("figures %d %d %.1f %d %.1f\n", summary.requests, summary.duration,
		latency:percentile(50), e.connect + e.read + e.write + e.status + e.timeout,
		latency:percentile(99)))
end
