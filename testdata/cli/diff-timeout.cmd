diff --demo -f timeout.yaml
