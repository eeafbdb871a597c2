audit --from 1.30 --to 1.31 -f refused.yaml
