# Varnish before three replicas.
#
#     varnishd -F -f posenc.vcl -a :8000 -p http_gzip_support=off -s default,1g
#
# http_gzip_support=off: answers come coded, each coding with a tag of its own; Varnish keeps them as they are, and
# tells them apart by Vary.
vcl 4.1;
import directors;
import std;

include "posenc-backends.vcl";

sub vcl_recv {
    # A POST can be sent again where its body is kept until it is answered.
    if (req.method == "POST" && !std.cache_req_body(64MB)) {
        return (synth(413));
    }
    if (req.url ~ "^/(livez|readyz|healthz|version)$" || (req.method != "GET" && req.method != "HEAD")) {
        return (pass);
    }
    # It refuses several ranges at once; replicas answer them with all.
    if (req.http.Range ~ ",") {
        unset req.http.Range;
    }
    # Where a format is named, Accept says nothing more. Of codings one is asked for.
    if (req.url ~ "[?&]format=") {
        unset req.http.Accept;
    }
    if (req.http.Accept-Encoding !~ ";\s*q=") {
        if (req.http.Accept-Encoding ~ "\bzstd\b") {
            set req.http.Accept-Encoding = "zstd";
        } elsif (req.http.Accept-Encoding ~ "\bgzip\b") {
            set req.http.Accept-Encoding = "gzip";
        } else {
            unset req.http.Accept-Encoding;
        }
    }
    set req.grace = 7d;
    return (hash);
}

sub vcl_hash {
    # Answers name no host but in their text's links.
    hash_data(req.url);
    # What a POST asks for is in its body: any replica will do.
    if (req.method == "POST") {
        hash_data(req.xid);
    }
    return (lookup);
}

sub vcl_backend_fetch {
    # A second try goes to the next replica.
    set bereq.backend = replicas.backend(by = HASH, alt = bereq.retries, healthy = CHOSEN);
}

sub vcl_backend_response {
    set beresp.grace = 7d;
    set beresp.do_gzip = false;
    set beresp.do_gunzip = false;
    # What fits into memory is fetched whole, so that a replica that dies under it is not seen.
    if (beresp.http.Content-Length && std.integer(beresp.http.Content-Length, 0) <= 16777216) {
        set beresp.do_stream = false;
    }
}

sub vcl_backend_error {
    if (bereq.retries < 2) {
        return (retry);
    }
}

sub vcl_deliver {
    if (obj.hits > 0) {
        set resp.http.X-Cache = "HIT";
    } else {
        set resp.http.X-Cache = "MISS";
    }
}
