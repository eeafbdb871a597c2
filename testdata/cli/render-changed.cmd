render --demo -f timeout.yaml --only changed
