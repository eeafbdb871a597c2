explain pod cart --demo -f troubles.yaml
