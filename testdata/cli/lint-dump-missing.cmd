lint timeout.yaml --dump nothere.json --stat
