explain dump x.json --demo
