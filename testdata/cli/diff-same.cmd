diff --demo --current ../../src/demo/filters.yaml -f ../../src/demo/filters.yaml
