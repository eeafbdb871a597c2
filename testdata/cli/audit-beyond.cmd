audit --to 1.99 -f timeout.yaml
