explain filter late --demo -f taken.yaml
