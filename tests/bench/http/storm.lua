-- storm.lua - requests that no cache has, by as many connections as wrk has; what is refused comes again after DELAY ms.
-- wrk ... -s storm.lua URL -- FIRST DELAY
local threads = {}

function setup(thread)
    thread:set("number", #threads)
    table.insert(threads, thread)
end

function init(arguments)
    at = tonumber(arguments[1]) + number * 100000000
    pause = tonumber(arguments[2])
    good, refused, others = 0, 0, 0
end

function delay()
    return pause
end

function request()
    at = at + 512
    return wrk.format("GET", string.format("/v1/rope/decay?head_dim=4096&offsets=%d:%d", at, at + 512))
end

function response(status)
    if status == 200 then
        good = good + 1
    elseif status == 503 then
        refused = refused + 1
    else
        others = others + 1
    end
end

function done(summary)
    local sum = {good = 0, refused = 0, others = 0}
    for _, thread in ipairs(threads) do
        for name, count in pairs(sum) do
            sum[name] = count + thread:get(name)
        end
    end
    io.write(string.format('\nREPORT {"good": %d, "refused": %d, "others": %d, "seconds": %.6f}\n', sum.good, sum.refused,
        sum.others, summary.duration / 1e6))
end
