lint --ignore EF301 lint/filters.yaml
