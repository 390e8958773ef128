-- The load of wrk: `wrk ... -- DEPTH` keeps DEPTH requests in flight on each connection, written at once.
-- Prints one line of JSON, so that nobody has to read wrk's prose.

function init(arguments)
    local depth = tonumber(arguments[1])
    if depth > 1 then
        local batch = string.rep(wrk.format("GET"), depth)
        request = function() return batch end
    end
end

function done(summary, latency, requests)
    local failed = summary.errors
    io.write(string.format('{"requests": %d, "failures": %d, "microseconds": %d}\n', summary.requests,
        failed.connect + failed.read + failed.write + failed.status + failed.timeout, summary.duration))
end
