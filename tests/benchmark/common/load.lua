-- The load of wrk: `wrk ... -- DEPTH` keeps DEPTH requests in flight on each connection, written at once.
-- `wrk ... -- DEPTH FILE`: each request has another one of the file's lines as its Authorization, by chance.
-- Prints one line of JSON, so that nobody has to read wrk's prose.

function init(arguments)
    local depth = tonumber(arguments[1])
    if arguments[2] then
        local lines = {}
        for line in io.lines(arguments[2]) do lines[#lines + 1] = line end
        local before, after = wrk.format("GET", nil, {["User-Agent"] = "benchmark", ["Authorization"] = "@"}):match("^(.*)@(.*)$")
        request = function() return before .. lines[math.random(#lines)] .. after end
    elseif depth > 1 then
        local batch = string.rep(wrk.format("GET"), depth)
        request = function() return batch end
    end
end

function done(summary, latency, requests)
    local failed = summary.errors
    io.write(string.format('{"requests": %d, "failures": %d, "median": %d}\n', summary.requests,
        failed.connect + failed.read + failed.write + failed.status + failed.timeout, latency:percentile(50)))
end
