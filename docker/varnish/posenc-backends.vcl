# The replicas. One request always goes to the same one.
probe ready {
    .url = "/readyz";
    .interval = 1s;
    .timeout = 1s;
    .window = 3;
    .threshold = 2;
    .initial = 2;
}
backend posenc1 { .host = "posenc-1"; .port = "8080"; .probe = ready; }
backend posenc2 { .host = "posenc-2"; .port = "8080"; .probe = ready; }
backend posenc3 { .host = "posenc-3"; .port = "8080"; .probe = ready; }

sub vcl_init {
    new replicas = directors.shard();
    replicas.add_backend(posenc1);
    replicas.add_backend(posenc2);
    replicas.add_backend(posenc3);
    replicas.reconfigure();
}
