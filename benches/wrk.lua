-- wrk.lua - what wrk sends, and the one line of figures that ./bench reads.
--
-- BENCH_REQUESTS names a file of lines "PATH TOKEN": each request is one of them, at random, all
-- put together before the run.  BENCH_CREATE is one such line, and BENCH_LINE a
-- file of one: each request makes an agent there.
-- BENCH_PATCH is a body: the requests of the file are PATCH with it, NUMBER being another number each
-- time.  BENCH_FIRST is where the numbers begin.  With none of these, wrk sends its address again and again.

local list, create = os.getenv("BENCH_REQUESTS"), os.getenv("BENCH_CREATE")
if os.getenv("BENCH_LINE") then
	create = io.open(os.getenv("BENCH_LINE")):read("*l")
end
local patch, first = os.getenv("BENCH_PATCH"), tonumber(os.getenv("BENCH_FIRST") or "0")
local threads = 0

function setup(thread)
	thread:set("number", threads)
	threads = threads + 1
end

local function headers(token)
	return { ["Authorization"] = "Bearer " .. token, ["Content-Type"] = (create or patch) and "application/json" or nil }
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
