-- report.lua - wrk's figures as one line of JSON.
function done(summary, latency)
    local errors = summary.errors
    io.write(string.format(
        '\nREPORT {"requests": %d, "bytes": %d, "seconds": %.6f, "p50_us": %.1f, "p99_us": %.1f, "errors": %d}\n',
        summary.requests, summary.bytes, summary.duration / 1e6, latency:percentile(50), latency:percentile(99),
        errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
