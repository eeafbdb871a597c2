explain pod cart --demo -f positions.yaml
