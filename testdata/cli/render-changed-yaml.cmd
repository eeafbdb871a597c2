render --demo -f timeout.yaml --only changed -o yaml
