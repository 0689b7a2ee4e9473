-- wrk.lua - what wrk sends, and the one line of figures that ./bench reads.
--
-- BENCH_REQUESTS names a file of lines "PATH TOKEN": each request is one of them, at random, all
-- put together before the run.  BENCH_CREATE is one such line: each request makes an agent there.
-- With neither, wrk sends its address again and again.

local list, create = os.getenv("BENCH_REQUESTS"), os.getenv("BENCH_CREATE")
local threads = 0

function setup(thread)
	thread:set("number", threads)
	threads = threads + 1
end

local function headers(token)
	return { ["Authorization"] = "Bearer " .. token, ["Content-Type"] = create and "application/json" or nil }
end

if list then
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
	local made = 0

	function request()
		made = made + 1
		return wrk.format("POST", path, headers(token),
			before .. string.format("%d%09d", number, made) .. after)
	end
end

function done(summary, latency)
	local e = summary.errors

	io.write(string.format("figures %d %d %.1f %d\n", summary.requests, summary.duration,
		latency:percentile(50), e.connect + e.read + e.write + e.status + e.timeout))
end
